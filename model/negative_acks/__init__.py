"""The reference model of contract ``negative-acks``: its profiles, with all known wrong ways declared."""

from broker_tck.model.negative_acks import wrong_ways
from broker_tck.model.negative_acks.profiles import PROFILES

__all__ = ["PROFILES", "wrong_ways"]
