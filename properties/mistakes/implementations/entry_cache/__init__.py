"""Mutants of contract ``entry-cache``."""
