"""Contract ``negative-acks``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import NegativeAcksTracker
from broker_tck.model.negative_acks import PROFILES
from broker_tck.properties.contracts.negative_acks.abstract import abstract
from broker_tck.properties.contracts.negative_acks.edges import EDGES
from broker_tck.properties.contracts.negative_acks.fallback import FALLBACKS
from broker_tck.properties.contracts.negative_acks.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.negative_acks.laws import LAWS, VARIATIONS
from broker_tck.properties.contracts.negative_acks.operations import (
    AnyOperation,
    Batch,
    Capabilities,
    Chunked,
    Config,
    Fill,
    Inside,
    Nack,
    NackId,
)
from broker_tck.properties.contracts.negative_acks.rig import Rig
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able
from broker_tck.properties.engine.units import TIME

FEWEST_CHUNKS = 2
LAST_ENTRY = 2**63 - 1


def asks(operations: Sequence[Operation], capabilities: Capabilities) -> Iterator[bool]:
    """Which operations a client can do, and the subject: what an entry is, it is for good.

    It is a message by itself, a batch, the last of so many chunks, or an earlier chunk, and then nothing else. No
    entry has an id of more than 63 bits.
    """
    known: dict[tuple[int, int], object] = {}
    for operation in operations:
        named = dict(entries_of(operation))
        one = isinstance(operation, Chunked) and operation.chunks < FEWEST_CHUNKS
        fits = (
            able(operation, capabilities)
            and not one
            and all(known.get(at, kind) == kind and at[1] <= LAST_ENTRY for at, kind in named.items())
        )
        if fits:
            known |= named
        yield fits


def entries_of(operation: Operation) -> Iterator[tuple[tuple[int, int], object]]:
    """The entries that an operation is about, and what it takes each for."""
    match operation:
        case Nack(ledger, entry) | NackId(ledger, entry) | Inside("nack", ledger, entry):
            yield (ledger, entry), Nack
        case Fill(chunks=1):
            yield from (((ledger, entry), Nack) for ledger, entry, _ in operation.each())
        case Fill(chunks=chunks):
            for ledger, entry, _ in operation.each():
                yield from parts_of(ledger, entry, chunks)
        case Batch(ledger, entry):
            yield (ledger, entry), Batch
        case Chunked(ledger, entry, chunks):
            yield from parts_of(ledger, entry, chunks)


def parts_of(ledger: int, entry: int, chunks: int) -> Iterator[tuple[tuple[int, int], object]]:
    """The entries of a message in chunks, the last of which is this one."""
    yield (ledger, entry), chunks
    yield from (((ledger, entry - i), Chunked) for i in range(1, chunks))


NEGATIVE_ACKS = Contract(
    name="negative-acks",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=NegativeAcksTracker,
    call="Factory(config, clocks, timer, consumer)",
    rig=Rig,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={
        "count": "The number of items that are held: what one nack adds, unless it is there.",
        "armed": "The times for which timeouts are armed, in order, in milliseconds.",
    },
    units={"count": "items", "armed": TIME},
    laws=LAWS,
    variations=VARIATIONS,
    fallbacks=FALLBACKS,
    asks=asks,
)
