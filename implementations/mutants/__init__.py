"""Mutants: deliberately broken implementations, each with the one rule that has to catch it."""

from broker_tck.implementations.mutants.active_cursors import amounts as cursor_amounts
from broker_tck.implementations.mutants.active_cursors import containers
from broker_tck.implementations.mutants.active_cursors import edges as cursor_edges
from broker_tck.implementations.mutants.bucket_delivery import trackers as buckets
from broker_tck.implementations.mutants.delayed_delivery import parts as delayed_parts
from broker_tck.implementations.mutants.delayed_delivery import trackers as delayed_trackers
from broker_tck.implementations.mutants.entry_cache import amounts as cache_amounts
from broker_tck.implementations.mutants.entry_cache import caches, interleavings, passes, reads
from broker_tck.implementations.mutants.entry_cache import edges as cache_edges
from broker_tck.implementations.mutants.mutant import Mutant, declared_in
from broker_tck.implementations.mutants.negative_acks import amounts as nack_amounts
from broker_tck.implementations.mutants.negative_acks import edges as nack_edges
from broker_tck.implementations.mutants.negative_acks import trackers
from broker_tck.implementations.mutants.topic_delivery import managers

MUTANTS: dict[str, Mutant] = declared_in(
    *(delayed_trackers, delayed_parts),
    *(trackers, nack_amounts, nack_edges),
    *(containers, cursor_amounts, cursor_edges),
    *(passes, caches, reads, interleavings, cache_amounts, cache_edges),
    buckets,
    managers,
)
