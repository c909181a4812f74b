"""The reference model of contract ``negative-acks``, a class for each profile."""

from broker_tck.model.negative_acks.profiles import PROFILES

__all__ = ["PROFILES"]
