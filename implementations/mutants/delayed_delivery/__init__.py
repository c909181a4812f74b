"""Mutants of contract ``delayed-delivery``."""
