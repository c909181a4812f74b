"""The reference models of contract ``active-cursors``, by profile."""

from broker_tck.model.active_cursors.profiles import PROFILES

__all__ = ["PROFILES"]
