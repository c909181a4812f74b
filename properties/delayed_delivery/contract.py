"""Contract ``delayed-delivery``, put together."""

from __future__ import annotations

from broker_tck.implementations.interface import DelayedDeliveryTracker
from broker_tck.model.delayed_delivery import PROFILES
from broker_tck.properties.contract import Contract
from broker_tck.properties.delayed_delivery.generator import drain, draw_config, makers
from broker_tck.properties.delayed_delivery.laws import LAWS, VARIATIONS
from broker_tck.properties.delayed_delivery.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.delayed_delivery.rig import Rig
from broker_tck.properties.operation import Operation

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
COUNTS = {"add": "DD-28", "fill": "DD-28", "get": "DD-35", "clear": "DD-30", "tick": "DD-27"}
ARMED = {"adv": "DD-22", "stale": "DD-24", "clear": "DD-30", "tick": "DD-27", "close": "DD-32"}


def blame(operation: Operation, observed: str) -> str:
    """The rule to name for a difference that no wrong way explains."""
    if observed == "count":
        return COUNTS.get(operation.tag, "DD-28")
    if observed == "armed":
        return ARMED.get(operation.tag, "DD-21")
    return RESULTS[operation.tag]


DELAYED_DELIVERY = Contract(
    name="delayed-delivery",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=DelayedDeliveryTracker,
    rig=Rig,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    observables=("count", "armed"),
    laws=LAWS,
    variations=VARIATIONS,
    needs={"memory_estimate": "DD-29", "batch_adds": ""},
    blame=blame,
)
