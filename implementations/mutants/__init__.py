"""Mutants: deliberately broken implementations, each with the one rule that has to catch it."""

from broker_tck.implementations.mutants.mutant import Mutant

MUTANTS: dict[str, Mutant] = {}
