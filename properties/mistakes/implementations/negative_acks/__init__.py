"""Mutants of contract ``negative-acks``."""
