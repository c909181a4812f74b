"""What a report is made of: a campaign's manifest and its tables. The store has them; a test makes them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from broker_tck.spark_fuzz.driver.manifest import Manifest

Key = tuple[str, str, str, str]
"""A finding's subject, profile, rules and shape."""


class Source(Protocol):
    """A campaign's store, as far as a report looks at it. The tables are Arrow's."""

    @property
    def manifest(self) -> Manifest:
        """What was asked for."""

    def summary(self) -> Any:
        """The figures of each round: round, kind, subject, profile, shard, name, count."""

    def findings(self) -> Any:
        """The findings without their texts: subject, profile, rules, shape, count, round, shard, walk, length."""

    def texts(self, keys: Sequence[Key]) -> Mapping[Key, str]:
        """The JSON text of some findings. One that is not there is left out."""
