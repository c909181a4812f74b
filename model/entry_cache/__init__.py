"""The reference model of contract ``entry-cache``, a class for each profile."""

from broker_tck.model.entry_cache.profiles import PROFILES

__all__ = ["PROFILES"]
