"""Contract ``entry-cache``, put together."""

from __future__ import annotations

from broker_tck.implementations.interface import EntryCaches
from broker_tck.model.entry_cache import PROFILES
from broker_tck.model.entry_cache.overlapping import overlapping
from broker_tck.properties.contracts.entry_cache import overlap, threads
from broker_tck.properties.contracts.entry_cache.abstract import abstract
from broker_tck.properties.contracts.entry_cache.edges import EDGES
from broker_tck.properties.contracts.entry_cache.laws import LAWS, STEP_LAWS, VARIATIONS
from broker_tck.properties.contracts.entry_cache.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.contracts.entry_cache.reading_laws import READING_LAWS
from broker_tck.properties.contracts.entry_cache.scenarios import SCENARIOS
from broker_tck.properties.contracts.entry_cache.shorter_calls import rewrites
from broker_tck.properties.contracts.entry_cache.stepped_rig import rig
from broker_tck.properties.engine.contract import Blame, Contract

BLAME = (
    *overlap.BLAME,
    Blame("EC-12", shows="references"),
    Blame("EC-04", "put fill"),
    Blame("EC-18", "late reopen"),
    Blame("EC-06", "misput"),
    Blame("EC-09", "get"),
    Blame("EC-13", "hold free"),
    Blame("EC-12", "spoil"),
    Blame("EC-10", "range"),
    Blame("RC-08", "read expect"),
    Blame("EC-14", "remove invalidate"),
    Blame("EC-15", "trim"),
    Blame("EC-16", "clear"),
    Blame("EC-21", "ttl"),
    Blame("EC-32", "size"),
    Blame("RC-02", "pinned"),
    Blame("EC-30", "background"),
    Blame("EC-38", "run"),
    Blame("EC-01", "total"),
    Blame("EC-40", "counters"),
    Blame("EC-19", "resize watermark"),
    Blame("RC-03", "append"),
    Blame("EC-57", "cursor uncursor crowd"),
    Blame("EC-45", "fetch fetches"),
    Blame("EC-49", "single"),
    Blame("EC-47", "complete"),
    Blame("EC-54", "fail"),
    Blame("RC-06", "done share"),
    Blame("RC-09", "replay"),
    Blame("EC-55", "timeouts permits"),
    Blame("EC-46", "hits"),
    Blame("EC-24"),
)

ENTRY_CACHE = Contract(
    name="entry-cache",
    profiles=overlapping(PROFILES),
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=EntryCaches,
    call="Factory(config, clock, execute)",
    rig=rig,
    draw_config=threads.draw_config,
    makers=threads.makers,
    drain=threads.drain,
    edges=EDGES,
    ebb=threads.ebb,
    abstract=abstract,
    observables={
        "caches": "The number of entries and of bytes of each cache.",
        "references": "How many values are referenced, by a cache or by a reader.",
    },
    units={"caches": ("entries", "bytes"), "references": "values"},
    thing="cache",
    laws=(*map(overlap.without_overlap, (*LAWS, *READING_LAWS)), *STEP_LAWS),
    variations=tuple(map(overlap.unless_overlapping, VARIATIONS)),
    blame_table=BLAME,
    rewrites=rewrites,
    scenarios=SCENARIOS,
)
