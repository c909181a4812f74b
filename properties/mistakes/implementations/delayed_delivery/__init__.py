"""Mutants of the contract ``delayed-delivery``."""
