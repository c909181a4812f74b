"""Subjects of contract ``negative-acks`` that are Java."""
