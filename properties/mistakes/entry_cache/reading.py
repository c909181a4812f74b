"""Known mistakes in the specification's reading."""

from __future__ import annotations

from broker_tck.model.entry_cache.pending_reads import BROKEN
from broker_tck.model.entry_cache.readers import Request
from broker_tck.model.entry_cache.reading import Reading
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Reading.read_left)(
    instead(
        "absent",
        "What running reads leave of a read, your cache asks the storage for; it must look into the cache first.",
        lambda m, reader, part: m.ask(Request(reader, part)),
    ),
)
look_at("EC-53", "a listener that reads the same again before it returns")
of(Reading.raised)(
    instead(
        "absent",
        "A storage read that raises leaves the cached entries of its ledger in your cache; they must go along.",
        lambda m, request: m.not_come(request, BROKEN),
    ),
)
look_at("EC-48", "a count of its own on either side; one count for several entries")
of(Reading.read_again)(
    instead(
        "absent",
        "A read of your cache fails when a missing part of it fails; then all of it must be read from the storage.",
        lambda m, reader: m.give_up(reader),
    ),
)
look_at("RC-07", "reads that fail in another part, and release what they had")
