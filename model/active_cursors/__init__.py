"""The reference model of contract ``active-cursors``, a class for each profile."""

from broker_tck.model.active_cursors.profiles import PROFILES

__all__ = ["PROFILES"]
