"""Contract ``delayed-delivery``, put together."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.interface import DelayedDeliveryTracker
from broker_tck.model.delayed_delivery import PROFILES
from broker_tck.properties.contracts.delayed_delivery.abstract import abstract
from broker_tck.properties.contracts.delayed_delivery.generator import drain, draw_config, makers
from broker_tck.properties.contracts.delayed_delivery.laws import LAWS, VARIATIONS
from broker_tck.properties.contracts.delayed_delivery.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.contracts.delayed_delivery.rig import Rig
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation

RESULTS = {
    "add": "DD-09",
    "fill": "DD-09",
    "has": "DD-06",
    "get": "DD-20",
    "pause": "DD-17",
    "adv": "DD-24",
    "stale": "DD-24",
    "memory": "DD-29",
    "tick": "DD-27",
    "clear": "DD-30",
    "close": "DD-32",
}
COUNTS = {"add": "DD-28", "fill": "DD-28", "get": "DD-28", "clear": "DD-30", "tick": "DD-27"}
ARMED = {"adv": "DD-22", "stale": "DD-24", "clear": "DD-30", "tick": "DD-27", "close": "DD-32"}


def blame(operations: Sequence[Operation], observed: str) -> str:
    """The rule to name for a difference that no wrong way explains."""
    tag = operations[-1].tag
    if observed == "count":
        cleared = any(operation.tag == "clear" for operation in operations)
        return "DD-30" if cleared else COUNTS.get(tag, "DD-28")
    return ARMED.get(tag, "DD-21") if observed == "armed" else RESULTS[tag]


DELAYED_DELIVERY = Contract(
    name="delayed-delivery",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=DelayedDeliveryTracker,
    call="Factory(config, clock, timer)",
    rig=Rig,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    abstract=abstract,
    observables=("count", "armed"),
    laws=LAWS,
    variations=VARIATIONS,
    needs={"entry_id_bits": "DD-13", "memory_estimate": "DD-29", "batch_adds": ""},
    blame=blame,
)
