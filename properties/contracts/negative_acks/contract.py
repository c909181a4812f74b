"""Contract ``negative-acks``, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.implementations.interface import NegativeAcksTracker
from broker_tck.model.negative_acks import PROFILES
from broker_tck.properties.contracts.negative_acks.abstract import abstract
from broker_tck.properties.contracts.negative_acks.generator import drain, draw_config, makers
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
from broker_tck.properties.engine.operation import Operation

RESULTS = {"adv": "NA-30", "stale": "NA-42", "close": "NA-40"}
COUNTS = {"close": "NA-40", "adv": "NA-30", "stale": "NA-42", "batch": "NA-01"}
FEWEST_CHUNKS = 2
ARMED = {"close": "NA-40", "stale": "NA-42", "jump": "NA-26", "nack": "NA-23", "id": "NA-23"}


def blame(operations: Sequence[Operation], observed: str) -> str:
    """The rule to name for a difference that no wrong way explains."""
    tag = operations[-1].tag
    if tag == "adv" and any(operation.tag == "inside" for operation in operations):
        return "NA-35"
    if observed == "count":
        return COUNTS.get(tag, "NA-43")
    return ARMED.get(tag, "NA-22") if observed == "armed" else RESULTS.get(tag, "NA-30")


def asks(operations: Sequence[Operation], _capabilities: Capabilities) -> Iterator[bool]:
    """Which operations a client can do: what an entry is, it is for good.

    It is a message by itself, a batch, the last of so many chunks, or an earlier chunk, and then nothing else.
    """
    known: dict[tuple[int, int], object] = {}
    for operation in operations:
        named = dict(entries_of(operation))
        one = isinstance(operation, Chunked) and operation.chunks < FEWEST_CHUNKS
        fits = not one and all(known.get(entry, kind) == kind for entry, kind in named.items())
        if fits:
            known |= named
        yield fits


def entries_of(operation: Operation) -> Iterator[tuple[tuple[int, int], object]]:
    """The entries that an operation is about, and what it takes each for."""
    match operation:
        case Nack(ledger, entry) | NackId(ledger, entry) | Inside("nack", ledger, entry):
            yield (ledger, entry), Nack
        case Fill(ledger, entry, step, n):
            yield from (((ledger, entry + i * step), Nack) for i in range(n))
        case Batch(ledger, entry):
            yield (ledger, entry), Batch
        case Chunked(ledger, entry, chunks):
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
    abstract=abstract,
    observables=("count", "armed"),
    laws=LAWS,
    variations=VARIATIONS,
    needs={
        "backoff": "NA-11",
        "precision_bits": "",
        "negative_ids": "NA-05",
        "failing_requests": "NA-35",
        "no_delay": "",
    },
    blame=blame,
    asks=asks,
)
