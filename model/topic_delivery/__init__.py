"""The reference model of contract ``topic-delivery``: its profiles, with all known wrong ways declared."""

from broker_tck.model.delayed_delivery import wrong_ways as ways_of_one
from broker_tck.model.parts import timer_ways
from broker_tck.model.topic_delivery import wrong_ways
from broker_tck.model.topic_delivery.profiles import PROFILES

__all__ = ["PROFILES", "timer_ways", "ways_of_one", "wrong_ways"]
