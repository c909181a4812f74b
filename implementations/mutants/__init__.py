"""Mutants: deliberately broken implementations, each with the one rule that has to catch it."""

from broker_tck.implementations.mutants.active_cursors import containers
from broker_tck.implementations.mutants.bucket_delivery import trackers as buckets
from broker_tck.implementations.mutants.delayed_delivery import adding, handing_out, index
from broker_tck.implementations.mutants.delayed_delivery import amounts as delayed_amounts
from broker_tck.implementations.mutants.delayed_delivery import edges as delayed_edges
from broker_tck.implementations.mutants.entry_cache import amounts as cache_amounts
from broker_tck.implementations.mutants.entry_cache import caches, interleavings, passes, reads
from broker_tck.implementations.mutants.entry_cache import edges as cache_edges
from broker_tck.implementations.mutants.mutant import Mutant, declared_in
from broker_tck.implementations.mutants.negative_acks import trackers
from broker_tck.implementations.mutants.topic_delivery import amounts as topic_amounts
from broker_tck.implementations.mutants.topic_delivery import edges as topic_edges
from broker_tck.implementations.mutants.topic_delivery import views

MUTANTS: dict[str, Mutant] = declared_in(
    *(adding, handing_out, index, delayed_amounts, delayed_edges),
    trackers,
    containers,
    *(passes, caches, reads, interleavings, cache_amounts, cache_edges),
    buckets,
    *(views, topic_amounts, topic_edges),
)
