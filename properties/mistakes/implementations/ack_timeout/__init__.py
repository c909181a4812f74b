"""Mutants of contract ``ack-timeout``."""
