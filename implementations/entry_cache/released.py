"""Which releases have a RangeEntryCacheImpl that is a subject, and how threads call a RangeCache."""

from __future__ import annotations

from broker_tck.implementations.entry_cache.released_alone import CachesAlone
from broker_tck.implementations.entry_cache.released_caches import COUNT, QUEUE, RangeCaches
from broker_tck.implementations.entry_cache.released_values import LEDGER
from broker_tck.implementations.jvm.loader import Loader
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.subject import Boxed, Kind, Line

IN_JAVA = LEDGER.replace("/", ".")
VALUES = (f"{IN_JAVA}impl.EntryImpl", f"{IN_JAVA}util.AbstractCASReferenceCounted")
"""What a broker caches."""
WITHOUT = {"manager": False, "steps": False}
ALONE = {**WITHOUT, "reads": False, "pinned": False, "settings": False}
"""What a cache of its own has, before there was one queue of removal."""


def range_caches(loader: Loader, _release: Release) -> RangeCaches:
    """Makes the caches of a broker of a release."""
    return RangeCaches(loader) if loader.has(QUEUE) else CachesAlone(loader)


BOXES = (
    Boxed(
        (3,),
        "broker_tck.boxes.EarlierRangeCaches",
        (f"{IN_JAVA}util.RangeCache", *VALUES),
        line=Line((3,), "legacy", ALONE),
    ),
    Boxed(
        (4, 2), "broker_tck.boxes.RangeCaches", (f"{IN_JAVA}impl.cache.RangeCache", COUNT.replace("/", "."), *VALUES)
    ),
)
KINDS = (
    Kind(
        "range-cache",
        "entry-cache",
        "RangeCache",
        range_caches,
        (
            Line((4, 0, 6), "legacy-4.0", {**WITHOUT, "pinned": False, "settings": False}),
            Line((4, 2), "pip-430", WITHOUT),
            Line((5, 0, 1), "pip-430-5.0", WITHOUT),
        ),
        ("managed-ledger", *(name for name in OWN if name != "managed-ledger")),
        BOXES,
    ),
)
