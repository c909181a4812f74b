"""Contract ``topic-delivery``, put together."""

from __future__ import annotations

from broker_tck.implementations.interface import TopicManager
from broker_tck.model.topic_delivery import PROFILES
from broker_tck.properties.contracts.topic_delivery.abstract import abstract
from broker_tck.properties.contracts.topic_delivery.adapter import Adapter
from broker_tck.properties.contracts.topic_delivery.edges import EDGES
from broker_tck.properties.contracts.topic_delivery.fallback import FALLBACKS
from broker_tck.properties.contracts.topic_delivery.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.topic_delivery.invariants import INVARIANTS
from broker_tck.properties.contracts.topic_delivery.names import Names
from broker_tck.properties.contracts.topic_delivery.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.contracts.topic_delivery.relations import RELATIONS
from broker_tck.properties.contracts.topic_delivery.rewrites import rewrites
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.units import TIME

TOPIC_DELIVERY = Contract(
    name="topic-delivery",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=TopicManager,
    call="Factory(config, clock, timer)",
    adapter=Adapter,
    draw_config=draw_config,
    makers=makers,
    drain=drain,
    edges=EDGES,
    ebb=ebb,
    abstract=abstract,
    observables={
        "count": "The number of copies that the index of the topic holds.",
        "memory": "The memory estimate of the topic, in bytes.",
        "armed": "The times for which timeouts are armed, in order.",
        "index": "How many buckets the index has, and how many sets of entries, one for each ledger in each bucket.",
        "state": "A letter for each view that is not closed: h, a message is available to it; p, its deliveries should "
        "pause; x, it is stale; - otherwise.",
    },
    shown_with={"memory": "memory_estimate", "index": "shows_index"},
    units={"count": "copies", "memory": "bytes", "armed": TIME, "index": ("buckets", "sets")},
    invariants=INVARIANTS,
    relations=RELATIONS,
    fallbacks=FALLBACKS,
    rewrites=rewrites,
    names=Names,
    expensive=True,
    wordy=True,
)
