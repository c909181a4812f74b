"""Which rule to name where no known wrong way explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from broker_tck.properties.contracts.entry_cache import overlap
from broker_tck.properties.engine.contract import Fallback

FALLBACKS = (
    *overlap.FALLBACKS,
    Fallback("EC-13", "hold free", "references"),
    Fallback("EC-12", shows="references"),
    Fallback("EC-04", "put fill"),
    Fallback("EC-18", "late reopen"),
    Fallback("EC-06", "misput"),
    Fallback("EC-09", "get"),
    Fallback("EC-13", "hold free"),
    Fallback("EC-12", "spoil"),
    Fallback("EC-10", "range"),
    Fallback("RC-08", "read expect"),
    Fallback("EC-14", "remove invalidate"),
    Fallback("EC-15", "trim"),
    Fallback("EC-16", "clear"),
    Fallback("EC-21", "ttl"),
    Fallback("EC-32", "size"),
    Fallback("RC-02", "pinned"),
    Fallback("EC-30", "background"),
    Fallback("EC-38", "run"),
    Fallback("EC-01", "total"),
    Fallback("EC-40", "counters"),
    Fallback("EC-19", "resize watermark"),
    Fallback("RC-03", "append"),
    Fallback("EC-57", "cursor uncursor crowd"),
    Fallback("EC-45", "fetch fetches"),
    Fallback("EC-49", "single"),
    Fallback("EC-47", "complete"),
    Fallback("EC-54", "fail"),
    Fallback("RC-06", "done share"),
    Fallback("RC-09", "replay"),
    Fallback("EC-55", "timeouts permits"),
    Fallback("EC-46", "hits"),
    Fallback("EC-24"),
)
