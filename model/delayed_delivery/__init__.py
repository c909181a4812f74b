"""The reference models of contract ``delayed-delivery``, by profile."""

from broker_tck.model.delayed_delivery.releases import PROFILES

__all__ = ["PROFILES"]
