"""Contract ``entry-cache``, put together."""

from __future__ import annotations

from broker_tck.implementations.interface import EntryCaches
from broker_tck.model.entry_cache import PROFILES
from broker_tck.properties.contracts.entry_cache import generator
from broker_tck.properties.contracts.entry_cache.abstract import abstract
from broker_tck.properties.contracts.entry_cache.concurrent import CONCURRENT
from broker_tck.properties.contracts.entry_cache.configs import draw_config
from broker_tck.properties.contracts.entry_cache.edges import EDGES
from broker_tck.properties.contracts.entry_cache.fallback import FALLBACKS
from broker_tck.properties.contracts.entry_cache.invariants import INVARIANTS, RELATIONS
from broker_tck.properties.contracts.entry_cache.limiter import LIMITER
from broker_tck.properties.contracts.entry_cache.managing import MANAGING
from broker_tck.properties.contracts.entry_cache.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.contracts.entry_cache.overlapping_reads import ALIGNED, READS
from broker_tck.properties.contracts.entry_cache.scenarios import SCENARIOS
from broker_tck.properties.contracts.entry_cache.shorter_calls import rewrites
from broker_tck.properties.contracts.entry_cache.stepped_adapter import adapter
from broker_tck.properties.engine.contract import Contract

ENTRY_CACHE = Contract(
    name="entry-cache",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=EntryCaches,
    call="Factory(config, clock, execute)",
    adapter=adapter,
    draw_config=draw_config,
    makers=generator.makers,
    drain=generator.drain,
    edges=EDGES,
    ebb=generator.ebb,
    abstract=abstract,
    observables={
        "caches": "The number of entries and of bytes of each cache.",
        "references": "How many values are referenced, by a cache or by a reader.",
    },
    units={"caches": ("entries", "bytes"), "references": "values"},
    thing="cache",
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    rewrites=rewrites,
    scenarios=SCENARIOS,
    concurrent=CONCURRENT,
    concurrent_parts={
        "reads-limiter": LIMITER,
        "pending-reads": READS,
        "aligned-reads": ALIGNED,
        "cache-manager": MANAGING,
    },
    wordy=True,
)
