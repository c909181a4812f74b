"""Mutants of the contract ``topic-delivery``."""
