"""The reference models of contract ``bucket-delivery``, by profile."""

from broker_tck.model.bucket_delivery.releases import PROFILES

__all__ = ["PROFILES"]
