"""The reference models of contract ``topic-delivery``, by profile."""

from broker_tck.model.topic_delivery.releases import PROFILES

__all__ = ["PROFILES"]
