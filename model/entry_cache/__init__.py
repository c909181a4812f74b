"""The reference models of contract ``entry-cache``, by profile."""

from broker_tck.model.entry_cache.releases import PROFILES

__all__ = ["PROFILES"]
