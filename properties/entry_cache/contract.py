"""Contract ``entry-cache``, put together."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.interface import EntryCaches
from broker_tck.model.cache_reads import Reads
from broker_tck.model.entry_cache import PROFILES
from broker_tck.model.rules import rules_of
from broker_tck.properties.contract import Contract
from broker_tck.properties.entry_cache.abstract import abstract
from broker_tck.properties.entry_cache.generator import drain, draw_config, makers
from broker_tck.properties.entry_cache.laws import LAWS, VARIATIONS
from broker_tck.properties.entry_cache.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.entry_cache.reading_laws import READING_LAWS
from broker_tck.properties.entry_cache.rig import Rig
from broker_tck.properties.operation import Operation

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


def blame(operations: Sequence[Operation], observed: str) -> str:
    """The rule to name for a difference that no wrong way explains."""
    return "EC-12" if observed == "references" else RULES.get(operations[-1].tag, "EC-24")


ENTRY_CACHE = Contract(
    name="entry-cache",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=EntryCaches,
    call="Factory(config, clock, execute)",
    rig=Rig,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    abstract=abstract,
    observables=("caches", "references"),
    laws=(*LAWS, *READING_LAWS),
    variations=VARIATIONS,
    needs={"manager": "", "settings": "", "pinned": "", "reads": " ".join(r.number for r in rules_of(Reads))},
    blame=blame,
)
