"""Mutants: deliberately broken implementations, each with the one rule that has to catch it."""

from broker_tck.implementations.mutants import active_cursors, negative_acks
from broker_tck.implementations.mutants.bucket_delivery import reading, sealing
from broker_tck.implementations.mutants.delayed_delivery import adding, handing_out, index, timer
from broker_tck.implementations.mutants.entry_cache import caches, interleavings, reads
from broker_tck.implementations.mutants.mutant import Mutant, declared_in
from broker_tck.implementations.mutants.topic_delivery import coming, firing, holding, pruning, seeing

MUTANTS: dict[str, Mutant] = declared_in(
    *(adding, handing_out, timer, index),
    negative_acks,
    active_cursors,
    *(caches, reads, interleavings),
    *(sealing, reading),
    *(seeing, holding, pruning, coming, firing),
)
