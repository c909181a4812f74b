"""A storage of snapshots and of a cursor's properties in files, which survives a crash at any moment."""

from broker_tck.implementations.bucket_delivery.files.properties import FileCursorProperties
from broker_tck.implementations.bucket_delivery.files.snapshots import FileSnapshotStorage

__all__ = ["FileCursorProperties", "FileSnapshotStorage"]
