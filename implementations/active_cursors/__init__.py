"""Subjects of the contract ``active-cursors``."""
