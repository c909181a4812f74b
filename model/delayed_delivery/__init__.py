"""The reference model of contract ``delayed-delivery``: its profiles, with all known wrong ways declared."""

from broker_tck.model.delayed_delivery import wrong_timing, wrong_ways
from broker_tck.model.delayed_delivery.profiles import PROFILES
from broker_tck.model.parts import timer_ways

__all__ = ["PROFILES", "timer_ways", "wrong_timing", "wrong_ways"]
