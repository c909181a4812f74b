"""Subjects of contract ``ack-timeout``."""
