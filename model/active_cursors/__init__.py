"""The reference models of contract ``active-cursors``, by profile."""

from broker_tck.model.active_cursors.releases import PROFILES

__all__ = ["PROFILES"]
