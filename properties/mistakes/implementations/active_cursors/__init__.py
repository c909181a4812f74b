"""Mutants of contract ``active-cursors``."""
