"""The reference model of contract ``bucket-delivery``: its profiles, with all known wrong ways declared."""

from broker_tck.model.bucket_delivery import wrong_maintenance, wrong_ways
from broker_tck.model.bucket_delivery.profiles import PROFILES
from broker_tck.model.parts import timer_ways

__all__ = ["PROFILES", "timer_ways", "wrong_maintenance", "wrong_ways"]
