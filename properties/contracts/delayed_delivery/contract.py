"""Contract ``delayed-delivery``, put together."""

from __future__ import annotations

from broker_tck.implementations.interface import DelayedDeliveryTracker
from broker_tck.model.delayed_delivery import PROFILES
from broker_tck.properties.contracts.delayed_delivery.abstract import abstract
from broker_tck.properties.contracts.delayed_delivery.adapter import Adapter
from broker_tck.properties.contracts.delayed_delivery.concurrent import CONCURRENT
from broker_tck.properties.contracts.delayed_delivery.fallback import FALLBACKS
from broker_tck.properties.contracts.delayed_delivery.generator import EDGES, drain, draw_config, ebb, makers
from broker_tck.properties.contracts.delayed_delivery.invariants import INVARIANTS, RELATIONS
from broker_tck.properties.contracts.delayed_delivery.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.units import TIME

DELAYED_DELIVERY = Contract(
    name="delayed-delivery",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=DelayedDeliveryTracker,
    call="Factory(config, clock, timer)",
    adapter=Adapter,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={
        "count": "The number of delayed messages.",
        "armed": "The times for which timeouts are armed, in order.",
    },
    units={"count": "messages", "armed": TIME},
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    concurrent=CONCURRENT,
)
