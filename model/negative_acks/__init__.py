"""The reference models of contract ``negative-acks``, by profile."""

from broker_tck.model.negative_acks.releases import PROFILES

__all__ = ["PROFILES"]
