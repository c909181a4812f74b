"""Mutants of the broker's bucket tracker of 5.0.1."""
