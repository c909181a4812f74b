"""Which rule to name where no known wrong way explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from broker_tck.properties.contracts.entry_cache import overlap
from broker_tck.properties.engine.contract import Blame

BLAME = (
    *overlap.BLAME,
    Blame("EC-13", "hold free", "references"),
    Blame("EC-12", shows="references"),
    Blame("EC-04", "put fill"),
    Blame("EC-18", "late reopen"),
    Blame("EC-06", "misput"),
    Blame("EC-09", "get"),
    Blame("EC-13", "hold free"),
    Blame("EC-12", "spoil"),
    Blame("EC-10", "range"),
    Blame("RC-08", "read expect"),
    Blame("EC-14", "remove invalidate"),
    Blame("EC-15", "trim"),
    Blame("EC-16", "clear"),
    Blame("EC-21", "ttl"),
    Blame("EC-32", "size"),
    Blame("RC-02", "pinned"),
    Blame("EC-30", "background"),
    Blame("EC-38", "run"),
    Blame("EC-01", "total"),
    Blame("EC-40", "counters"),
    Blame("EC-19", "resize watermark"),
    Blame("RC-03", "append"),
    Blame("EC-57", "cursor uncursor crowd"),
    Blame("EC-45", "fetch fetches"),
    Blame("EC-49", "single"),
    Blame("EC-47", "complete"),
    Blame("EC-54", "fail"),
    Blame("RC-06", "done share"),
    Blame("RC-09", "replay"),
    Blame("EC-55", "timeouts permits"),
    Blame("EC-46", "hits"),
    Blame("EC-24"),
)
