"""Which messages are orphans: those that the cursor has left behind."""

from __future__ import annotations

from broker_tck.implementations.interface import CursorProperties


def first_live(cursor: CursorProperties) -> int:
    """The first ledger whose messages are no orphans: that of the mark-delete position (BD-22)."""
    mark = cursor.get_mark_deleted_position()
    return 0 if mark is None else mark[0]
