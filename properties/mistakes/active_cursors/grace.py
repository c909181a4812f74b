"""Known mistakes: the time for which added entries are cached though there is no cursor."""

from __future__ import annotations

from broker_tck.model.active_cursors.grace import Grace
from broker_tck.properties.mistakes.book import instead, of

of(Grace.lasts, look="equality: exactly the grace time later it is over; the time before the first cursor")(
    instead("absent", "Your container has no grace time: without a cursor it caches nothing at once.", lambda g: False),
    instead(
        "at the grace time as well",
        "Your container caches for one millisecond too long; the grace time ends before its last.",
        lambda g: g.now - g.since <= g.length,
    ),
)
