"""The reference models of contract ``ack-timeout``, by profile."""

from broker_tck.model.ack_timeout.releases import PROFILES

__all__ = ["PROFILES"]
