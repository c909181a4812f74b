"""The reference models of contract ``entry-cache``, by profile."""

from broker_tck.model.entry_cache.profiles import PROFILES

__all__ = ["PROFILES"]
