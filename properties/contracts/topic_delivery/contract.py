"""Contract ``topic-delivery``, put together."""

from __future__ import annotations

from broker_tck.implementations.interface import TopicManager
from broker_tck.model.topic_delivery import PROFILES
from broker_tck.properties.contracts.topic_delivery.abstract import abstract
from broker_tck.properties.contracts.topic_delivery.edges import EDGES
from broker_tck.properties.contracts.topic_delivery.generator import drain, draw_config, ebb, makers
from broker_tck.properties.contracts.topic_delivery.laws import LAWS, VARIATIONS
from broker_tck.properties.contracts.topic_delivery.names import Names
from broker_tck.properties.contracts.topic_delivery.operations import AnyOperation, Capabilities, Config
from broker_tck.properties.contracts.topic_delivery.rewrites import rewrites
from broker_tck.properties.contracts.topic_delivery.rig import Rig
from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Blame, Contract
from broker_tck.properties.engine.units import TIME

BLAME = (
    Blame("TD-13", "clear"),
    Blame("TD-28", "close", "count"),
    Blame("TD-27", "close"),
    Blame("TD-31", "shutdown"),
    Blame("TD-26", "open"),
    Blame("TD-15", "md"),
    Blame("TD-14", "tick"),
    Blame("TD-19", "adv", RESULT),
    Blame("TD-18", "adv", "armed"),
    Blame("DD-24", "stale"),
    Blame("DD-29", "memory"),
    Blame("TD-17", shows="armed"),
    Blame("TD-06", "add fill", RESULT),
    Blame("TD-10", "has"),
    Blame("TD-11", "count", RESULT),
    Blame("TD-12", "pause"),
    Blame("TD-13", "get", RESULT, lambda trace: any(operation.tag == "clear" for operation in trace)),
    Blame("TD-09", "get", RESULT),
    Blame("TD-20"),
)

TOPIC_DELIVERY = Contract(
    name="topic-delivery",
    profiles=PROFILES,
    config=Config,
    capabilities=Capabilities,
    operations=AnyOperation,
    interface=TopicManager,
    call="Factory(config, clock, timer)",
    rig=Rig,
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
    units={"count": "copies", "memory": "bytes", "armed": TIME, "index": ("buckets", "sets")},
    laws=LAWS,
    variations=VARIATIONS,
    blame_table=BLAME,
    rewrites=rewrites,
    names=Names,
    dear=True,
)
