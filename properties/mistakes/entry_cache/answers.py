"""Known mistakes in the specification's answers."""

from __future__ import annotations

from broker_tck.model.entry_cache.answers import Answers
from broker_tck.model.entry_cache.readers import spanned
from broker_tck.properties.mistakes.book import instead, of

of(
    Answers.missing,
    look="requests for what is cached already, for more than a run, for each entry; which of them comes first",
)(
    instead(
        "absent",
        (
            "Your cache asks the storage for the whole range although some of it is cached; it must ask for what is "
            "missing alone."
        ),
        lambda a, reader, there: [(reader.first, reader.last)],
    ),
    instead(
        "from first to last",
        "Your cache reads from the first to the last that is missing; it must ask once for each run.",
        lambda a, reader, there: spanned(a.lacking(reader, there)),
    ),
    instead(
        "each alone",
        "Your cache asks the storage for each missing entry alone; it must ask once for each run of them.",
        lambda a, reader, there: [(entry, entry) for entry in a.lacking(reader, there)],
    ),
    instead(
        "whole unless all is there",
        "Your cache reads a whole range again where a part is missing; it must ask for that part alone.",
        lambda a, reader, there: [(reader.first, reader.last)] if a.lacking(reader, there) else [],
    ),
)
of(Answers.hit, look="a range that is a hit in part is both; a failed read is no miss")(
    instead(
        "absent",
        "Your cache counts no hits; it must by entries and bytes when it is searched.",
        lambda a, entries, size: [0, 0],
    ),
    instead(
        "by reads",
        "Your cache counts a hit for each read; it must count one for each entry.",
        lambda a, entries, size: [1 if entries else 0, size],
    ),
)
of(Answers.missed)(
    instead(
        "absent",
        "Your cache counts no misses; it must by entries and bytes when a storage read completes.",
        lambda a, entries, size: [0, 0],
    ),
    instead(
        "by requests",
        "Your cache counts misses by requests; they are counted by entries.",
        lambda a, entries, size: [1, size],
    ),
)
of(Answers.determining, look="counts that are added up over the listeners")(
    instead(
        "absent",
        "Your cache asks every reader of a storage read for the count; the one that made it determines it.",
        lambda a, request: [reader for reader, *_ in request.listeners],
    ),
    instead(
        "the last",
        "In your cache the reader that joined last determines the count; the one that made the storage read does.",
        lambda a, request: [request.listeners[-1][0]],
    ),
)
of(Answers.populates, look="a question for each entry; entries that nobody is to read")(
    instead(
        "absent",
        "Your cache does not keep what the storage answered though reads are expected.",
        lambda a, start: False,
    ),
    instead("always", "Your cache keeps what nobody is expected to read.", lambda a, start: True),
    instead(
        "from two on",
        "Your cache keeps what the storage answered only if two reads or more are expected; one is enough.",
        lambda a, start: start > 1,
    ),
)
of(
    Answers.in_part,
    look="entries that are released beside their copies; what a listener did not ask for; entries shared by two",
)(
    instead(
        "absent",
        "Your cache gives a reader entries out of its range; what each gets is cut to it.",
        lambda a, entry, first, last: True,
    ),
)
