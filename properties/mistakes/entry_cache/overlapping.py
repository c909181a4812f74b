"""Known mistakes in the specification's overlapping."""

from __future__ import annotations

from broker_tck.model.entry_cache.overlapping import Overlapping
from broker_tck.properties.mistakes.book import instead, of

of(Overlapping.total_shown, look="a broker's size that is changed with each entry of a pass")(
    instead(
        "absent",
        "Your cache takes each entry off the broker's size while a pass goes on; it must at the end of the pass.",
        lambda m: m.store.total,
    ),
)
