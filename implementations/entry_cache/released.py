"""Which releases have a RangeEntryCacheImpl that is a subject, and how threads call a RangeCache."""

from __future__ import annotations

from broker_tck.implementations.entry_cache.released_alone import CachesAlone
from broker_tck.implementations.entry_cache.released_caches import COUNT, MANAGER, QUEUE, RangeCaches
from broker_tck.implementations.entry_cache.released_reads import STAND_INS
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
MANAGED = ("managed-ledger", *(name for name in OWN if name != "managed-ledger"))
MANAGES = ("getMlFactoryMBean", "getInflightReadsLimiter", "hasSpaceInCache", "entryAdded", "entriesRemoved")
"""What the manager of the caches is called for."""
AROUND = {name.replace("/", "."): methods for name, methods in {MANAGER: MANAGES, **STAND_INS}.items()}
"""The classes around a cache that are too large to make, and what each is called for."""


def limiter(*since: int) -> Boxed:
    """The limiter in which reads wait in a queue; its rules are those of 4.2."""
    woven = (f"{IN_JAVA}impl.cache.InflightReadsLimiter",)
    return Boxed(since, "broker_tck.boxes.ReadsLimiter", woven, line=Line(since, "pip-430", WITHOUT))


LIMITERS = (limiter(3, 3, 5), Boxed((4,), "", ()), limiter(4, 0, 3))
"""In earlier releases reads ask again and again."""


def pending_reads(*since: int, profile: str, box: str = "PendingReads") -> Boxed:
    """A RangeEntryCacheImpl that reads. The cache itself has no points: threads call that alone, as ``range-cache``."""
    names = ("PendingReadsManager", "RangeEntryCacheImpl", "ReadEntryUtils", "InflightReadsLimiter")
    woven = (*(f"{IN_JAVA}impl.cache.{name}" for name in names), COUNT.replace("/", "."))
    line = Line(since, profile, WITHOUT)
    return Boxed(since, f"broker_tck.boxes.{box}", woven, stand_ins=AROUND, line=line)


ALIGNED = (pending_reads(3, profile="legacy-4.0", box="EarlierPendingReads"), Boxed((4, 0, 6), "", ()))
"""Before 4.0.6, a read that joins another one reads the rest only when that one has come, which no profile says."""

OF_MANAGER = {
    f"{IN_JAVA}impl.ManagedLedgerFactoryMBeanImpl": (
        "recordCacheInsertion",
        "recordNumberOfCacheEntriesEvicted",
        "recordCacheEviction",
    ),
    f"{IN_JAVA}impl.ManagedLedgerImpl": ("getName", "getConfig", "getLogger", "getManagedLedgerInterceptor"),
    "org.apache.bookkeeper.common.util.OrderedScheduler": ("execute",),
}
"""The classes around a manager of caches that are too large to make, and what each is called for."""
ON_ITS_OWN = {"reads": False, "steps": False}
"""What threads do not ask a manager for: reads that a storage answers, and single steps."""
WITH_QUEUE = (f"{IN_JAVA}impl.cache.RangeCache", COUNT.replace("/", "."), *VALUES)
"""The classes that have points too since 4.2: the caches evict from a queue that all share."""


def cache_manager(line: Line, woven: tuple[str, ...] = (), timed: tuple[str, ...] = ()) -> Boxed:
    """A RangeEntryCacheManagerImpl with its caches."""
    names = ("RangeEntryCacheManager", "RangeEntryCacheImpl", "EntryCacheDefaultEvictionPolicy")
    every = (*(f"{IN_JAVA}impl.cache.{name}" for name in names), *woven)
    return Boxed(line.since, "broker_tck.boxes.CacheManager", every, stand_ins=OF_MANAGER, timed=timed, line=line)


def managing_alone() -> Boxed:
    """The manager of caches that evict for themselves. A RangeCache has no points: threads call that alone."""
    able = {**ON_ITS_OWN, "pinned": False, "settings": False}
    return cache_manager(Line((3,), "legacy-4.0", able), timed=(f"{IN_JAVA}impl.EntryImpl",))


MANAGERS = (
    managing_alone(),
    cache_manager(Line((4, 2), "pip-430", ON_ITS_OWN), WITH_QUEUE),
    cache_manager(Line((5, 0, 1), "pip-430-5.0", ON_ITS_OWN), WITH_QUEUE),
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
        MANAGED,
        BOXES,
    ),
    Kind("reads-limiter", "entry-cache", "InflightReadsLimiter", None, (), MANAGED, LIMITERS),
    Kind(
        "pending-reads",
        "entry-cache",
        "PendingReadsManager",
        None,
        (),
        MANAGED,
        (
            pending_reads(4, 0, 6, profile="legacy-4.0", box="EarlierPendingReads"),
            pending_reads(4, 2, profile="pip-430"),
            pending_reads(5, 0, 1, profile="pip-430-5.0"),
        ),
    ),
    Kind("aligned-reads", "entry-cache", "PendingReadsManager", None, (), MANAGED, ALIGNED),
    Kind("cache-manager", "entry-cache", "RangeEntryCacheManagerImpl", None, (), MANAGED, MANAGERS),
)
