"""Where the numbers of the entry caches have edges, and which of them can be asked for."""

from __future__ import annotations

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.configs import has_exact_goal
from broker_tck.properties.contracts.entry_cache.entries import BATCHES, may_fill, may_visit
from broker_tck.properties.contracts.entry_cache.operations import (
    Advance,
    AnyOperation,
    Capabilities,
    Config,
    Fill,
    Range,
    Remove,
    Requeues,
    Resize,
    SetWatermark,
)
from broker_tck.properties.contracts.entry_cache.passes import LATEST
from broker_tck.properties.contracts.entry_cache.pools import LARGEST_ENTRY, LAST_ID, MOST_SPANNED
from broker_tck.properties.contracts.entry_cache.reading import FetchMany, Storage
from broker_tck.properties.contracts.entry_cache.reading_walk import LAST_READ, may_answer, may_come
from broker_tck.properties.engine.edges import Edge, Edges

INSERTS = ("put", "fill", "late", "begin-put")
ASKS = ("misput", "get", "hold", "spoil", "read", "expect", "begin-get")
BOUNDS = ("invalidate", "begin-invalidate")
RANGES = ("range", "remove", "begin-remove")
READS = ("fetch", "fetches", "single", "cursor", "crowd")
THERE = "ledgers and entries are counted from 0, and there is one after the last"

LEDGER = Edge((2**32,), THERE, low=0, high=LAST_ID)
ENTRY = Edge((64, 4_096, 65_536), f"pages of 64 entries; {THERE}", low=0, high=LAST_ID)
END = Edge((0, 64, 4_096), f"EC-14: what is below the first; {THERE}", low=-1, high=LAST_ID)
SIZE = Edge((255, 65_535, LARGEST_ENTRY), "the bytes of an entry are an int", high=LARGEST_ENTRY)
COUNT = Edge((1, 127, 255), "RC-01: none, or one; a count has room for one read more", high=2**31 - 1_000)
AGE = Edge((0, 1, 2**32), "EC-20; nanoseconds of a long have room for it", high=LATEST)
STEP = Edge((1, 2**32), "the clock is to have times ahead of it", high=2**40)
READ = Edge((64, 4_096), "entries up to there are read", low=0, high=LAST_READ)
REQUEUED = Edge(high=8, why="passes cost as much; the generator has a few walks in which entries are requeued often")
MADE = Edge(left=True, why="the generator draws all that there are, when they can be asked for")


def numbers(capabilities: Capabilities) -> dict[str, Edge]:
    """What there is to say of the numbers that a subject is asked for."""
    said = {f"{tag}.ledger": LEDGER for tag in (*INSERTS, *ASKS, *READS, "append", "written")}
    said |= {f"{tag}.entry": ENTRY for tag in (*INSERTS, *ASKS)}
    said |= {f"{tag}.{field}": END for tag in BOUNDS for field in ("ledger", "entry")}
    said |= {f"{tag}.{field}": END for tag in RANGES for field in ("l1", "e1", "l2", "e2")}
    said |= {f"{tag}.ledger": END for tag in ("trim", "begin-trim")}
    said |= {f"{tag}.size": SIZE for tag in INSERTS}
    said |= {f"{tag}.expected_reads": COUNT for tag in INSERTS}
    said |= {f"{tag}.age": AGE for tag in ("ttl", "begin-ttl")}
    said |= {f"{tag}.{'entry' if tag in ('single', 'cursor', 'crowd') else 'first'}": READ for tag in READS}
    return said | {
        "fill.n": Edge(BATCHES, "a batch; containers; a queue is rid of more than 1,024 blanks", high=4_200),
        "fill.step": Edge((64, 65_536), "pages of 64 entries"),
        "adv.ms": STEP,
        "config.max_size": Edge((50, 100), "EC-30: 98 % of it are rounded down"),
        "config.watermark": Edge((98,), "EC-31: at the trigger there is nothing to be done"),
        "config.max_requeue_count": REQUEUED,
        "requeues.n": REQUEUED,
        "watermark.percent": Edge((98,), "EC-31"),
        "storage.mode": MADE,
        "fetches.times": Edge((100,), "each reader is answered by itself", high=300),
        "crowd.n": Edge((127, 255), "RC-04: a rank counts them", high=300),
    }


def may(model: EntryCaches, operation: AnyOperation, capabilities: Capabilities) -> bool:
    """Whether an operation can be asked for."""
    match operation:
        case Advance():
            return model.now + operation.ms <= LATEST
        case Fill():
            return may_fill(model, operation)
        case Requeues():
            return may_visit(model, 0, operation.n)
        case Range() | Remove():
            return operation.l1 != operation.l2 or operation.e2 - operation.e1 <= MOST_SPANNED
        case Resize():
            return has_exact_goal(operation.bytes, model.manager.watermark)
        case SetWatermark():
            return has_exact_goal(model.manager.max_size, operation.percent)
        case Storage():
            return may_answer(model, operation.mode)
        case FetchMany():
            return may_come(model)
    return True


def may_start(config: Config, capabilities: Capabilities) -> bool:
    """Whether a subject can be configured so: one that does not manage sizes has no largest one."""
    return (capabilities.manager or config.max_size is None) and has_exact_goal(config.max_size, config.watermark)


EDGES = Edges(numbers, now=lambda model: model.now, may=may, may_start=may_start)
