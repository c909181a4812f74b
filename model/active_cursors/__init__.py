"""The reference model of contract ``active-cursors``: its profiles, with all known wrong ways declared."""

from broker_tck.model.active_cursors import wrong_ways
from broker_tck.model.active_cursors.profiles import PROFILES

__all__ = ["PROFILES", "wrong_ways"]
