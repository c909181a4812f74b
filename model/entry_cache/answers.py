"""What a read takes from the cache, what it has the storage asked for, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.entry_cache.readers import Reader, Request, Run, runs, spanned
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


class Answers(Part):
    """How reads are answered, and how that is counted."""

    def __init__(self) -> None:
        self.hits_and_misses = [0, 0, 0, 0]
        """Entries and bytes that were cached, entries and bytes that were not."""

    # ---- Out of the cache

    @said(
        whole_unless_all_is_there=(
            "Your cache reads a whole range again where a part is missing; it has to ask for that part alone."
        ),
        from_first_to_last=(
            "Your cache reads from the first to the last that is missing; it has to ask once for each run."
        ),
        each_alone=(
            "Your cache asks the storage for each missing entry alone; it has to ask once for each run of them."
        ),
        absent=(
            "Your cache asks the storage for the whole range although some of it is cached; it has to ask for what "
            "is missing alone."
        ),
    )
    @rule(
        "EC-45",
        "Of a range of which something is cached, the storage is asked for what is missing alone, once for each run in "
        "order.",
        source="RangeEntryCacheImpl, 2026",
        look="requests for what is cached already, for more than a run, for each entry; which of them comes first",
        needs="reads",
        absent=lambda a, reader, there: [(reader.first, reader.last)],
        from_first_to_last=lambda a, reader, there: spanned(a.lacking(reader, there)),
        each_alone=lambda a, reader, there: [(entry, entry) for entry in a.lacking(reader, there)],
        whole_unless_all_is_there=lambda a, reader, there: (
            [(reader.first, reader.last)] if a.lacking(reader, there) else []
        ),
    )
    def missing(self, reader: Reader, there: Iterable[int]) -> list[Run]:
        return runs(self.lacking(reader, there))

    @staticmethod
    def lacking(reader: Reader, there: Iterable[int]) -> list[int]:
        """The entries of a range that are not there."""
        return sorted({*reader.entries}.difference(there))

    @said(
        by_reads="Your cache counts a hit for each read; it has to count one for each entry.",
        absent="Your cache counts no hits; it has to by entries and bytes when it is searched.",
    )
    @rule(
        "EC-46",
        "Hits are counted by entries and bytes when the cache is searched, misses when a storage read completes.",
        source="RangeEntryCacheImpl",
        look="a range that is a hit in part is both; a failed read is no miss",
        needs="reads",
        absent=lambda a, entries, size: [0, 0],
        by_reads=lambda a, entries, size: [1 if entries else 0, size],
    )
    def hit(self, entries: int, size: int) -> list[int]:
        return [entries, size]

    @said(
        by_requests="Your cache counts misses by requests; they are counted by entries.",
        absent="Your cache counts no misses; it has to by entries and bytes when a storage read completes.",
    )
    @also(
        hit,
        absent=lambda a, entries, size: [0, 0],
        by_requests=lambda a, entries, size: [1, size],
    )
    def missed(self, entries: int, size: int) -> list[int]:
        return [entries, size]

    def tally_hit(self, entries: int, size: int) -> None:
        """Count what was found in the cache."""
        self.tally(0, self.hit(entries, size))

    def tally_missed(self, entries: int, size: int) -> None:
        """Count what the storage answered with."""
        self.tally(2, self.missed(entries, size))

    def tally(self, where: int, counted: list[int]) -> None:
        """Count hits or misses, entries and bytes."""
        self.hits_and_misses[where] += counted[0]
        self.hits_and_misses[where + 1] += counted[1]

    # ---- Out of the storage

    @said(
        absent="Your cache asks every reader of a storage read for the count; the one that made it determines it.",
        the_last=(
            "In your cache the reader that joined last determines the count; the one that made the storage read does."
        ),
    )
    @rule(
        "EC-52",
        "Only the reader that made a storage read determines the count; those that joined it are not asked.",
        source="PendingReadsManager",
        look="counts that are added up over the listeners",
        needs="reads",
        absent=lambda a, request: [reader for reader, *_ in request.listeners],
        the_last=lambda a, request: [request.listeners[-1][0]],
    )
    def determining(self, request: Request) -> list[Reader]:
        return [request.creator]

    @said(
        always="Your cache keeps what nobody is expected to read.",
        absent="Your cache does not keep what the storage answered though reads are expected.",
        from_two_on=(
            "Your cache keeps what the storage answered only if two reads or more are expected; one is enough."
        ),
    )
    @rule(
        "EC-47",
        "What the storage answered is cached if reads are expected, asked once for each answer, and not at all else.",
        source="RangeEntryCacheImpl, PR 24623",
        look="a question for each entry; entries that nobody is to read",
        needs="reads",
        absent=lambda a, start: False,
        always=lambda a, start: True,
        from_two_on=lambda a, start: start > 1,
    )
    def populates(self, start: int) -> bool:
        return start > 0

    @said(
        absent="Your cache gives a reader entries out of its range; what each gets is cut to it.",
    )
    @rule(
        "EC-51",
        "A single listener is given the entries themselves; of several each has copies, cut to its range, and the "
        "entries are released without counting as read.",
        source="PendingReadsManager, PR 24623",
        look="entries that are released beside their copies; what a listener did not ask for; entries shared by two",
        needs="reads",
        absent=lambda a, entry, first, last: True,
    )
    def in_part(self, entry: int, first: int, last: int) -> bool:
        """Whether an entry is in the part that a listener is to have."""
        return first <= entry <= last
