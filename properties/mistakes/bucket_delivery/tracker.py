"""Known mistakes of a bucket tracker: what it accepts, seals, loads and hands out, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from broker_tck.model.bucket_delivery.loading import Loading
from broker_tck.model.bucket_delivery.parts import Timer
from broker_tck.model.bucket_delivery.releases import forget_boundaries
from broker_tck.model.bucket_delivery.sealing import Sealing
from broker_tck.model.bucket_delivery.stored import Bucket, Index, Segment
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

# ---- Adding

of(Tracker.refuses)(
    instead(
        "absent",
        "Your tracker takes messages that are due, or have no time; it must refuse them.",
        lambda t, position, at: False,
    ),
    instead(
        "unless it is held",
        "Your tracker takes a message that is due if it holds it already; it must refuse it.",
        lambda t, position, at: at <= t.cutoff() and not t.contains(*position),
    ),
    instead(
        "equality accepted",
        "Your tracker takes a message whose time is exactly the cut-off; that one is due, and must be refused.",
        lambda t, position, at: at < t.cutoff(),
    ),
    instead(
        "one more refused",
        "Your tracker refuses a message that is due one millisecond after the cut-off; it must take it.",
        lambda t, position, at: at <= t.cutoff() + 1,
    ),
)
of(Tracker.added)(
    instead(
        "absent",
        "An add that was accepted leaves your tracker's timer as it is; it must bring it up to date.",
        lambda t: None,
    ),
)
of(Tracker.available, look="both queues, either of which may be empty; a count above zero with nothing in memory")(
    instead(
        "absent",
        "Your tracker says that a message is available as soon as one is held; the first index in memory must be due.",
        lambda t: t.held.count() > 0,
    ),
    instead(
        "of the shared queue",
        "Your tracker does not look for an available message in its growing bucket; it must.",
        lambda t: bool(t.shared) and t.held.count() > 0 and t.shared[0][0] <= t.cutoff(),
    ),
    instead(
        "whatever is held",
        "Your tracker says that a message is available although it holds nothing; it must hold one.",
        lambda t: t.next_time() <= t.cutoff(),
    ),
)
of(Tracker.found_nothing)(
    instead(
        "absent",
        "If nothing is available, the question leaves your tracker's timer as it is; it must bring it up to date.",
        lambda t: None,
    ),
)
of(Tracker.pause, look="a test for a fixed delay that was taken over from the tracker in memory")(
    instead("absent", "Your tracker asks for a pause of all deliveries; it must never.", lambda t: t.held.count() > 0),
)

# ---- Sealing

of(Sealing.crosses, look="a late message after a recovery, or after a clear: a range that begins below sealed buckets")(
    instead(
        "absent",
        "Your tracker's growing bucket grows across a sealed one; it must be sealed before.",
        lambda s, ledger: False,
    ),
)
of(Sealing.keeps_in_memory, look="a bucket that another one is placed over: nobody loads what it has left")(
    instead(
        "absent",
        "Your tracker seals a range that meets a sealed bucket; its messages must stay in memory.",
        lambda s, ledgers: False,
    ),
)
look_at(
    "BD-11", "what is in memory after a seal; an index from before a refusal, which a recovery takes for one of now"
)
of(Sealing.worth_storing)(
    instead(
        "absent",
        "A seal of your tracker stores indexes of messages that are no longer held; it must store only held ones.",
        lambda s, indexes: indexes,
    ),
)
of(Tracker.wake, look="a boundary that is due while its bucket is being stored or merged")(
    instead(
        "absent",
        "Your tracker's timer does not fire when a creation or a merge ends; it must if something is due.",
        lambda t: None,
    ),
)

of(Tracker.recovered, look="what is in memory after a recovery: its first index may be of any bucket")(
    instead(
        "the first ledger's",
        "After a recovery your tracker arms its timer for the first ledger; it must do so for what is due first.",
        lambda t: t.timer.update(min(t.shared, key=lambda index: index[1:])[0] if t.shared else None, t.tick.tick),
    ),
)


@mistake("BD-48", "arms nothing", "After a recovery your tracker never arms its timer; once it is asked, it must.")
class ArmsNothing(Tracker):
    """It is recovered once."""

    was_recovered = False

    def recovered(self) -> None:
        """Remember that."""
        super().recovered()
        self.was_recovered = True

    def update(self, timer: Timer) -> None:
        """Leave the timer as it is."""
        if not self.was_recovered:
            super().update(timer)


# ---- Handing out and loading

of(Tracker.gave)(
    instead("absent", "A get leaves your tracker's timer as it is; it must bring it up to date.", lambda t: None),
)
of(Tracker.comes_out)(
    instead(
        "absent",
        "Your tracker takes out an index whether it is due or not; it must wait until it is.",
        lambda t, index, cutoff: True,
    ),
    instead(
        "before its next segment",
        "Your tracker hands out the last message of a segment before the next one is loaded; it must wait for that.",
        lambda t, index, cutoff: index[0] <= cutoff or t.is_orphan(index[1]),
    ),
)
of(Tracker.costs)(
    instead(
        "dropped costs",
        "An index that your tracker drops counts as handed out; it must cost nothing.",
        lambda t, dropped: True,
        was="DroppedCosts: what is dropped costs as much as what is handed out",
    ),
)
of(Tracker.is_orphan, look="the mark-delete ledger itself: its messages are no orphans")(
    instead(
        "absent",
        "Your tracker hands out messages of ledgers below the mark-delete position; it must drop them.",
        lambda t, ledger: False,
    ),
    instead(
        "the ledger itself",
        "Your tracker drops messages of the mark-delete position's own ledger; only those below it are orphans.",
        lambda t, ledger: t.durable.first_live is not None and ledger <= t.durable.first_live,
    ),
)
of(Loading.ending, look="a segment of orphans before one that is alive")(
    instead(
        "absent",
        "Your tracker does not load the next segment when one ends; it must, before the last message leaves.",
        lambda loading, index, orphan: None,
    ),
)
of(
    Loading.has_effect,
    look="a load under way at a clear or a merge: what it puts into memory, and whose boundary it takes away",
)(
    instead(
        "late load",
        "A load of your tracker that ends when its bucket is gone puts its messages into memory; it must not.",
        lambda loading, bucket: True,
        was="LateLoad: a late load takes the boundary that is there now",
    ),
)
of(Loading.used_up, look="a bucket that is deleted while messages of it are in memory alone, or never")(
    instead(
        "absent",
        "Your tracker keeps a bucket that is used up; it must delete the bucket.",
        lambda loading, bucket: None,
    ),
)
look_at("BD-20", "a boundary that is forgotten; a segment that is skipped; a snapshot that another tracker has deleted")

# ---- Its end

look_at("BD-31", "a load or a merge under way; a creation that ends or fails later; what is added while snapshots go")
look_at("BD-32", "deletions under way, which another tracker could meet; a timeout that stays armed")
of(Tracker.has_closed)(
    instead(
        "absent",
        "A close of your tracker ends at once; it must wait for all calls that change something.",
        lambda t: True,
    ),
    instead(
        "with its creations",
        "A close of your tracker ends with its creations; it must wait for all calls that change something.",
        lambda t: all(bucket.created.settled for bucket in t.left),
    ),
    instead(
        "without keys",
        "A close of your tracker does not wait for key updates; it must wait for all calls that change something.",
        lambda t: all(call.updates_key for call in t.durable.calls.waiting if call.owner is t.snapshots),
    ),
)

# ---- Mistakes in flows


@around(Tracker.add, "BD-42", "repeated arms")
def repeated_arms(add: Method, t: Tracker, ledger: int, entry: int, at: int) -> bool:
    """A repeated add arms your tracker's timer for its own time; it must change nothing, or arm for what is first."""
    repeated = t.contains(ledger, entry)
    accepted = bool(add(t, ledger, entry, at))
    if accepted and repeated:
        t.timer.update(at, t.tick.tick)
    return accepted


@around(Tracker.add, "BD-42", "refused disarms")
def refused_disarms(add: Method, t: Tracker, *message: int) -> bool:
    """A refused add disarms your tracker's timer, whatever is held; it must not if a message still waits."""
    accepted = bool(add(t, *message))
    if not accepted:
        t.timer.update(None, t.tick.tick)
    return accepted


@around(Tracker.reset_tick, "DD-27", "the tick updates", was="TimerAtTick: a new tick brings the timer up to date")
def the_tick_updates(reset_tick: Method, t: Tracker, tick: int) -> None:
    """A new tick brings your tracker's timer up to date; it must leave the timer alone."""
    reset_tick(t, tick)
    t.update_timer()


@around(
    Sealing.take,
    "BD-08",
    "sealed with it",
    was="SealsWithTrigger: the message that makes it sealed is sealed with it",
)
def sealed_with_it(take: Method, s: Sealing, index: Index, covered: bool) -> None:
    """Your tracker seals the growing bucket with the message that causes the seal; it must begin the next bucket."""
    if s.tracker.mutable.seals(index[1], covered):
        s.tracker.mutable.add(index)
        s.seal()
    else:
        take(s, index, covered)


@around(Loading.load_into_memory, "BD-11", "first not loaded", was="FirstNotLoaded: the first segment is not in memory")
def first_not_loaded(load_into_memory: Method, loading: Loading, bucket: Bucket, segment: Segment) -> None:
    """The first segment of a bucket that your tracker has sealed is not in memory; it must be loaded."""
    if bucket.current > 1 or bucket.was_recovered:
        load_into_memory(loading, bucket, segment)
    else:
        loading.tails[loading.boundary(segment[-1])] = bucket


@around(Sealing.place, "BD-11", "all loaded", was="AllLoaded: all segments stay in memory")
def all_loaded(place: Method, s: Sealing, bucket: Bucket, segments: Sequence[Segment]) -> None:
    """Your tracker keeps all segments of a sealed bucket in memory; only the first may be loaded."""
    place(s, bucket, segments)
    s.tracker.share(chain(*segments[1:]))


@around(
    Sealing.place,
    "BD-11",
    "placed when stored",
    was="PlacedWhenStored: nothing lies over its range until it is stored",
)
def placed_when_stored(place: Method, s: Sealing, bucket: Bucket, segments: Sequence[Segment]) -> None:
    """A sealed bucket of your tracker lies over its range only when it is stored; it must from the seal on."""
    place(s, bucket, segments)
    if not bucket.created.settled:
        s.placed.remove(bucket)
        bucket.created.then(lambda stored: s.placed.put(bucket) if stored else None)


@around(Sealing.not_stored, "BD-16", "the others are lost", was="LosesSegments: the segments behind the first are lost")
def the_others_are_lost(not_stored: Method, s: Sealing, bucket: Bucket, segments: Sequence[Segment]) -> None:
    """If a bucket could not be stored, your tracker loses the messages behind its first segment; they must stay."""
    not_stored(s, bucket, segments[:1])


@around(Sealing.not_stored, "BD-16", "stays placed", was="StaysPlaced: the bucket stays placed")
def stays_placed(_: Method, s: Sealing, bucket: Bucket, segments: Sequence[Segment]) -> None:
    """A bucket that your tracker could not store stays placed; its messages must be kept in no bucket."""
    bucket.current = bucket.last
    s.tracker.share(chain(*segments[1:]))


@around(
    Loading.is_given_up,
    "BD-20",
    "boundary forgotten",
    was="ForgetsBoundary: a failed load has its boundary forgotten",
)
def boundary_forgotten(is_given_up: Method, loading: Loading, bucket: Bucket, outcome: int) -> bool:
    """Your tracker forgets the end of a segment if the next one cannot be loaded; it must ask for that again."""
    given_up = bool(is_given_up(loading, bucket, outcome))
    forget_boundaries(loading, bucket)
    return given_up


@around(Loading.is_given_up, "BD-20", "skipped", was="SkipsSegment: a segment that cannot be loaded is skipped")
def skipped(is_given_up: Method, loading: Loading, bucket: Bucket, outcome: int) -> bool:
    """Your tracker skips a segment that cannot be loaded; it must ask for that again."""
    given_up = bool(is_given_up(loading, bucket, outcome))
    bucket.current = min(bucket.current + (not given_up), bucket.last)
    return given_up


@around(
    Loading.is_given_up,
    "BD-20",
    "asks for ever",
    was="AsksForMissing: a missing snapshot is asked for again and again",
)
def asks_for_ever(_: Method, __: Loading, ___: Bucket, ____: int) -> bool:
    """Your tracker asks again and again for a segment whose snapshot is not there; it must drop the bucket."""
    return False


of(Loading.load_ended, breaks="BD-20")(
    instead(
        "fires nothing",
        "Your tracker's timer does not fire when a load ends; it must, because messages may be due.",
        lambda loading, load: None,
        was="LoadFiresNothing: the end of a load fires nothing",
    ),
)


@around(
    Loading.loaded,
    "BD-21",
    "deleted when loaded",
    was="DeletedAtLastLoad: a bucket is deleted as soon as its last segment is loaded",
)
def deleted_when_loaded(
    loaded: Method, loading: Loading, bucket: Bucket, index: Index, segments: list[Segment]
) -> None:
    """Your tracker deletes a bucket as soon as its last segment is loaded; its last message must be due first."""
    loaded(loading, bucket, index, segments)
    if segments and bucket.unloaded == 0:
        loading.used_up(bucket)


@around(
    Loading.ending,
    "BD-29",
    "orphans end it",
    was="EndsWithOrphans: where orphans end, the next segment is not loaded",
)
def orphans_end_it(ending: Method, loading: Loading, index: Index, orphan: bool) -> Bucket | None:
    """If an orphan ends a segment, your tracker does not load the next segment; it must."""
    bucket: Bucket | None = None if orphan else ending(loading, index, orphan)
    return bucket


@around(Tracker.clear, "BD-31", "growing kept", was="KeepsGrowing: what the growing bucket holds is kept")
def growing_kept(clear: Method, t: Tracker) -> None:
    """A clear leaves the messages of your tracker's growing bucket; it must forget them as well."""
    mutable = t.mutable
    clear(t)
    t.mutable = mutable


@around(Tracker.clear, "BD-31", "range kept", was="KeepsRange: the growing bucket keeps its range")
def range_kept(clear: Method, t: Tracker) -> None:
    """After a clear, your tracker's growing bucket keeps its range; it must begin anew."""
    ledgers = t.mutable.ledgers
    clear(t)
    t.mutable.ledgers = ledgers


@around(Tracker.clear, "BD-31", "load waited for", was="WaitsForLoad: a load under way is waited for")
def load_waited_for(clear: Method, t: Tracker) -> None:
    """After a clear, a get of your tracker waits for a load that was under way; it must not."""
    load = t.loading.load
    clear(t)
    t.loading.load = load


@around(
    Tracker.delete_when_created,
    "BD-31",
    "unstored forgotten",
    was="ForgetsUnstored: snapshots that are being stored are forgotten",
)
async def unstored_forgotten(delete_when_created: Method, t: Tracker, bucket: Bucket) -> None:
    """A clear of your tracker forgets snapshots that are not stored yet; it must delete them once they are."""
    if bucket.created.settled:
        await delete_when_created(t, bucket)


@around(Tracker.close, "BD-32", "sealed at close", was="SealsAtClose: the growing bucket is sealed")
def sealed_at_close(close: Method, t: Tracker) -> bool:
    """Your tracker stores its growing bucket when it is closed; it must store nothing."""
    t.sealing.seal()
    return bool(close(t))


look_at("BD-02", "a bucket that nobody loads on: one that was placed over, or whose boundary was lost")
look_at("BD-51", "what nobody asks for: the end of a creation, a merge or a load, and a get that leaves something")
look_at("BD-49", "a time of the clock that is kept, such as that of the last run, after the clock was set back")
look_at("BD-44", "an index from before a refusal, for a position that was accepted for a later time")
