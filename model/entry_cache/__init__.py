"""The reference model of contract ``entry-cache``: its profiles, with all known wrong ways declared."""

from broker_tck.model.entry_cache import wrong_passes, wrong_reads, wrong_ways
from broker_tck.model.entry_cache.profiles import PROFILES

__all__ = ["PROFILES", "wrong_passes", "wrong_reads", "wrong_ways"]
