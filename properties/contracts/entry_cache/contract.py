"""Contract ``entry-cache``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from broker_tck.implementations.interface import EntryCaches
from broker_tck.model.entry_cache import PROFILES
from broker_tck.model.entry_cache.overlapping import overlapping
from broker_tck.properties.contracts.entry_cache import overlap, threads
from broker_tck.properties.contracts.entry_cache.abstract import abstract
from broker_tck.properties.contracts.entry_cache.laws import LAWS, STEP_LAWS, VARIATIONS
from broker_tck.properties.contracts.entry_cache.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.contracts.entry_cache.reading import ReadingOperation
from broker_tck.properties.contracts.entry_cache.reading_laws import READING_LAWS
from broker_tck.properties.contracts.entry_cache.scenarios import SCENARIOS
from broker_tck.properties.contracts.entry_cache.shorter_calls import ORDINARY, rewrites
from broker_tck.properties.contracts.entry_cache.stepped_rig import rig
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation

RULES = {
    "put": "EC-04",
    "late": "EC-18",
    "misput": "EC-06",
    "get": "EC-09",
    "hold": "EC-13",
    "free": "EC-13",
    "spoil": "EC-12",
    "range": "EC-10",
    "read": "RC-08",
    "expect": "RC-08",
    "remove": "EC-14",
    "invalidate": "EC-14",
    "trim": "EC-15",
    "clear": "EC-16",
    "reopen": "EC-18",
    "ttl": "EC-21",
    "size": "EC-32",
    "pinned": "RC-02",
    "background": "EC-30",
    "run": "EC-38",
    "total": "EC-01",
    "counters": "EC-40",
    "resize": "EC-19",
    "watermark": "EC-19",
    "append": "RC-03",
    "cursor": "EC-57",
    "uncursor": "EC-57",
    "fetch": "EC-45",
    "single": "EC-49",
    "complete": "EC-47",
    "fail": "EC-54",
    "done": "RC-06",
    "replay": "RC-09",
    "share": "RC-06",
    "timeouts": "EC-55",
    "permits": "EC-55",
    "hits": "EC-46",
}


READING = {kind.__struct_config__.tag: "reads" for kind in get_args(ReadingOperation)}
LACKED = {
    "pinned": "pinned",
    **dict.fromkeys(("requeues", "extend"), "settings"),
    **dict.fromkeys(("background", "run", "total", "counters", "resize", "watermark"), "manager"),
    **READING,
    **{kind.__struct_config__.tag: "steps" for kind in ORDINARY},
    "step": "steps",
}
"""The capability that an operation needs."""


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Of each operation, whether a subject can be asked for it."""
    return (o.tag not in LACKED or bool(getattr(capabilities, LACKED[o.tag])) for o in operations)


def blame(operations: Sequence[Operation], observed: str) -> str:
    """The rule to name for a difference that no wrong way explains."""
    if overlap.overlap(operations):
        return overlap.blame(operations)
    return "EC-12" if observed == "references" else RULES.get(operations[-1].tag, "EC-24")


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
    abstract=abstract,
    observables=("caches", "references"),
    laws=(*map(overlap.without_overlap, (*LAWS, *READING_LAWS)), *STEP_LAWS),
    variations=tuple(map(overlap.unless_overlapping, VARIATIONS)),
    needs={
        "manager": "EC-19 EC-30 EC-31 EC-38 EC-40",
        "settings": "",
        "pinned": "EC-26",
        "reads": (
            "EC-45 EC-46 EC-47 EC-48 EC-49 EC-50 EC-51 EC-52 EC-53 EC-54 EC-55 EC-56 EC-57 EC-58 EC-P17 "
            "RC-03 RC-04 RC-05 RC-06 RC-07 RC-09 RC-10 RC-11 RC-12 RC-13 RC-14"
        ),
        "steps": "EC-17 IL-1 IL-2 IL-3 IL-4 IL-5 IL-11",
    },
    blame=blame,
    asks=asks,
    rewrites=rewrites,
    scenarios=SCENARIOS,
)
