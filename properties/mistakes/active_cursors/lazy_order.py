"""Known mistakes: the broker's list of active cursors: changes wait until somebody asks, then the list is mended or built anew."""

from __future__ import annotations

from broker_tck.model.active_cursors.lazy_order import LazyOrder
from broker_tck.properties.mistakes.book import instead, of

of(LazyOrder.releases)(
    instead("absent", "", lambda o, cursor: False),
)
