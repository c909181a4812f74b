"""Subjects around a broken part: the broker's bucket tracker, but for how it cuts, asks or counts."""

from __future__ import annotations

from broker_tck.implementations.bucket_delivery.pulsar_5_0 import PulsarBuckets50
from broker_tck.implementations.bucket_delivery.pulsar_cutting import Cutter
from broker_tck.implementations.bucket_delivery.pulsar_members import Members
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Persistence
from broker_tck.implementations.interface import BucketDeliveryConfig, BucketSnapshotStorage, CursorProperties


def around_cutter(broken: type[Cutter]) -> type[PulsarBuckets50]:
    """The tracker that cuts segments with this."""

    class Tracker(PulsarBuckets50):
        """A tracker that cuts segments wrong."""

        def _cutting(self, config: BucketDeliveryConfig) -> Cutter:
            return broken(config.time_step, config.max_indexes)

    return Tracker


def around_persistence(broken: type[Persistence]) -> type[PulsarBuckets50]:
    """The tracker that asks storage and cursor through this."""

    class Tracker(PulsarBuckets50):
        """A tracker that asks wrong."""

        def _asking(self, storage: BucketSnapshotStorage, cursor: CursorProperties) -> Persistence:
            return broken(storage, cursor)

    return Tracker


def around_members(broken: type[Members]) -> type[PulsarBuckets50]:
    """The tracker with this index of what it holds."""

    class Tracker(PulsarBuckets50):
        """A tracker with a broken index."""

        def _no_members(self) -> Members:
            return broken()

    return Tracker
