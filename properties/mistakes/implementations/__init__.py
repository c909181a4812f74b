"""Mutants: deliberately broken implementations, each with the one rule that must catch it."""

from broker_tck.properties.mistakes.implementations.ack_timeout import wheels
from broker_tck.properties.mistakes.implementations.active_cursors import containers
from broker_tck.properties.mistakes.implementations.bucket_delivery import trackers as buckets
from broker_tck.properties.mistakes.implementations.delayed_delivery import parts as delayed_parts
from broker_tck.properties.mistakes.implementations.delayed_delivery import trackers as delayed_trackers
from broker_tck.properties.mistakes.implementations.entry_cache import caches, interleavings
from broker_tck.properties.mistakes.implementations.mutant import Mutant, declared_in
from broker_tck.properties.mistakes.implementations.negative_acks import trackers
from broker_tck.properties.mistakes.implementations.topic_delivery import managers

MUTANTS: dict[str, Mutant] = declared_in(
    delayed_trackers, delayed_parts, trackers, containers, caches, interleavings, buckets, managers, wheels
)
