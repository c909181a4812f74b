"""Mutants: deliberately broken implementations, each with the one rule that has to catch it."""

from broker_tck.implementations.mutants import (
    adding,
    cache,
    cursors,
    handing_out,
    index,
    interleavings,
    nacks,
    reads,
    timer,
)
from broker_tck.implementations.mutants.mutant import Mutant, declared_in

MUTANTS: dict[str, Mutant] = declared_in(adding, handing_out, timer, index, nacks, cursors, cache, reads, interleavings)
