"""Subjects of the contract ``delayed-delivery``."""
