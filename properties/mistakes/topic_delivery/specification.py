"""Known mistakes of a topic: what it answers each view, and what it tells the timer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker_tck.model.delayed_delivery.specification import Placed, Position
from broker_tck.model.rules import Method
from broker_tck.model.topic_delivery.specification import SubscriptionView, TopicDelivery
from broker_tck.model.topic_delivery.timer import TopicTimer
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of
from broker_tck.properties.mistakes.parts.without import without


def looks_ahead(model: TopicDelivery, view: SubscriptionView) -> bool:
    """Whether a view would pause with enough messages."""
    return model.lookahead > 0 and view.fixed_delay.fixed


# ---- What a view is answered


of(TopicDelivery.refuses, look="equality: the cut-off itself is refused, one millisecond later is accepted")(
    instead(
        "absent", "Your tracker takes messages that are due already; it must refuse them.", lambda m, view, at: False
    ),
    instead(
        "equality accepted",
        "Your tracker takes a message whose time is exactly the cut-off; that one is due, and must be refused.",
        lambda m, view, at: at < 0 or at < view.buckets.cutoff(m.timer.now),
    ),
    instead(
        "only the past",
        "Your tracker refuses a message only if its time is not after now; it must compare that with the cut-off.",
        lambda m, view, at: at <= m.timer.now,
    ),
    instead(
        "one more refused",
        "Your tracker refuses a message that is due one millisecond after the cut-off; it must take it.",
        lambda m, view, at: at <= view.buckets.cutoff(m.timer.now) + 1,
    ),
    instead(
        "by the bucket",
        "Your tracker refuses a message by the time of its bucket; the message's own time must decide.",
        lambda m, view, at: at < 0 or view.buckets.due(m.buckets.key(at), m.timer.now),
    ),
)
of(TopicDelivery.is_available, look="a first bucket in which only others see anything")(
    instead(
        "absent",
        "Your tracker says that nothing is available to a view although the view sees a due copy; it must not.",
        lambda m, view: False,
    ),
    instead(
        "seen or not",
        "Your tracker says that a message is available to a view that does not see it; it must not.",
        lambda m, view: any(view.buckets.due(key, m.timer.now) for key in m.index.held),
    ),
    instead(
        "in the first bucket alone",
        "Your tracker looks for an available message in the first bucket alone; it must look in every due bucket.",
        lambda m, view: any(view.buckets.due(key, m.timer.now) and key == min(m.index.held) for key, _ in view.seen()),
    ),
    instead(
        "due or not",
        "Your tracker says that a message is available to a view as soon as it sees one; its bucket must be due.",
        lambda m, view: bool(view.seen()),
    ),
)
of(TopicDelivery.count_of, look="a total of the topic in place of the view's own")(
    instead(
        "absent",
        "Your tracker answers a view with the number of all messages; it must count those that the view sees.",
        lambda m, view: m.index.count(),
    ),
    instead(
        "only what is due",
        "Your tracker counts only due messages for a view; it must count all that the view sees.",
        lambda m, view: sum(view.buckets.due(key, m.timer.now) for key, _ in view.seen()),
    ),
)
of(TopicDelivery.wants_pause, look="a fixed delay, a count or an availability that is the topic's")(
    instead(
        "absent",
        "A view of your tracker never asks for a pause; it must, if its delay is fixed and enough messages wait.",
        lambda m, view: False,
    ),
    instead(
        "more than lookahead",
        "A view of your tracker asks for a pause one message too late; `lookahead` messages are enough.",
        lambda m, view: looks_ahead(m, view) and m.count_of(view) > m.lookahead,
    ),
    instead(
        "fixed or not",
        "A view of your tracker asks for a pause though its delay is not fixed.",
        lambda m, view: m.lookahead > 0 and m.count_of(view) >= m.lookahead,
    ),
    instead(
        "without lookahead too",
        "A view of your tracker asks for a pause although `lookahead` is 0; it must never then.",
        lambda m, view: view.fixed_delay.fixed and m.count_of(view) >= m.lookahead,
    ),
    instead(
        "counts all",
        "A view of your tracker asks for a pause by the number of all messages; it must count those that it sees.",
        lambda m, view: looks_ahead(m, view) and m.index.count() >= m.lookahead,
    ),
    instead(
        "fixed for all",
        "A view of your tracker asks for a pause only if the delay of every view is fixed; its own delay must decide.",
        lambda m, view: (
            all(each.fixed_delay.fixed for each in m.registry.registered.values())
            and looks_ahead(m, view)
            and m.count_of(view) >= m.lookahead
        ),
    ),
)
of(TopicDelivery.pauses)(
    instead(
        "available or not",
        "A view of your tracker asks for a pause while a message is available to it; it must not then.",
        lambda m, view: m.wants_pause(view),
        was="may_pause: absent",
    ),
)

# ---- The timer

of(
    TopicDelivery.aim,
    look=(
        "a bucket that is due, and is held for a slow view: it hides those that come later; one whose moment passes "
        "while its firing is put off (DD-22)"
    ),
)(
    instead(
        "absent",
        "Your tracker's timer aims at the first bucket although a firing has announced it; it must not.",
        lambda m: m.buckets.wake(m.index.first()),
    ),
    instead(
        "the last",
        "Your tracker's timer aims at the last bucket; it must aim at the first that no firing has announced.",
        lambda m: m.buckets.wake(max(m.index.held)),
    ),
    instead(
        "the first that is not due",
        "Your tracker's timer leaves out due buckets; it must aim at the first not announced by a firing.",
        lambda m: m.buckets.wake(min([k for k in m.index.held if not m.buckets.due(k, m.timer.now)] or m.index.held)),
    ),
    instead(
        "the first to come",
        "Your tracker's timer leaves out a bucket whose moment has passed; it must aim at the next millisecond.",
        lambda m: min([w for w in m.moments() if w > m.timer.now] or m.moments()),
    ),
)
of(TopicDelivery.is_asked, look="views that have acknowledged everything that is due")(
    instead(
        "absent",
        "A firing of your tracker asks every view to read; it must ask those to which a message is available.",
        lambda m, view: True,
    ),
    instead(
        "nobody",
        "A firing of your tracker asks no dispatcher to read; it must ask those to which a message is available.",
        lambda m, view: False,
    ),
    instead(
        "whoever sees anything",
        "A firing of your tracker asks every view that sees a message to read; the message must be due.",
        lambda m, view: bool(view.seen()),
    ),
)
of(TopicDelivery.rearm, look="two messages for two times, and nothing else: the second one")(
    instead("absent", "A firing leaves your tracker's timer as it is; it must update it.", lambda m, asked: None),
)

of(TopicTimer.announced, look="what a firing has told, by times that the clock will show again")(
    instead(
        "absent",
        "Your tracker takes buckets for announced that a firing before a step back announced; it must not any more.",
        lambda t, told: told,
    ),
)
of(TopicDelivery.answered_no, look="a view that asks, and nobody who wakes it if the answer is no")(
    instead(
        "absent",
        "After a step back of the clock, `has` answers no and leaves your tracker's timer disarmed; it must arm it.",
        lambda m: None,
    ),
)

# ---- Views go

look_at("TD-28", "copies, memory or a timeout that outlive the view that wanted them")


@around(TopicDelivery.left, "TD-28", "the last view leaves the index", was="the last view leaves the index as it is")
def the_last_view_leaves_the_index(left: Method, m: TopicDelivery, view: SubscriptionView) -> None:
    """Your tracker keeps its index when the last view goes; everything must go."""
    if m.registry.registered:
        left(m, view)


@around(TopicDelivery.left, "TD-28", "only the last lets go", was="only the last view lets go of anything")
def only_the_last_lets_go(left: Method, m: TopicDelivery, view: SubscriptionView) -> None:
    """Your tracker keeps the copies that only a view saw when that view goes; they must go, too."""
    if not m.registry.registered:
        left(m, view)


@around(TopicDelivery.left, "TD-28", "takes everything along", was="whoever leaves takes everything along")
def takes_everything_along(_: Method, m: TopicDelivery, __: SubscriptionView) -> None:
    """Your tracker empties its index when any view goes; the copies that others see must stay."""
    m.forget()


@around(TopicDelivery.left, "TD-28", "the timer outlives the last view")
def the_timer_outlives_the_last_view(left: Method, m: TopicDelivery, view: SubscriptionView) -> None:
    """Your tracker's timer stays armed when the last view goes; it must be disarmed."""
    without("update_timer", m, left, view)


@around(TopicDelivery.shutdown, "TD-31", "the timer outlives a shutdown")
def the_timer_outlives_a_shutdown(shutdown: Method, m: TopicDelivery) -> None:
    """Your tracker's timer stays armed after a shutdown; it must be disarmed."""
    armed = m.timer.armed.copy()
    shutdown(m)
    m.timer.armed = armed


@around(TopicDelivery.count, "TD-16", "a closed view has none", was="a closed view has no messages")
def a_closed_view_has_none(count: Method, m: TopicDelivery, handle: str) -> Any:
    """A closed view of your tracker answers that it has no messages; it must refuse the call."""
    return 0 if m.registry.is_closed(handle) else count(m, handle)


@around(TopicDelivery.open, "TD-26", "the first dispatcher is asked", was="the first dispatcher is asked to read")
def the_first_dispatcher_is_asked(opens: Method, m: TopicDelivery, name: str) -> str:
    """Your tracker asks the first dispatcher of a subscription to read; the one that was opened last must be asked."""
    earlier = m.registry.registered.get(name)
    handle = str(opens(m, name))
    if earlier:
        m.registry.views[handle].handle = earlier.handle
    return handle


@around(
    TopicDelivery.open,
    "TD-32",
    "goes on where the earlier view was",
    was="a view goes on where the earlier one of its subscription was",
)
def goes_on_where_the_earlier_view_was(opens: Method, m: TopicDelivery, name: str) -> str:
    """A new view of your tracker does not see copies that the earlier one was handed or cleared; it must."""
    earlier = m.registry.registered.get(name)
    handle = str(opens(m, name))
    if earlier:
        view = m.registry.views[handle]
        view.passed, view.again = earlier.passed, earlier.again
        view.handed, view.cleared = earlier.handed, earlier.cleared
    return handle


@around(TopicDelivery.open, "TD-32", "begins at the end", was="a view sees nothing of what was held when it came")
def begins_at_the_end(opens: Method, m: TopicDelivery, name: str) -> str:
    """A new view of your tracker sees no copy that is held already; it must see those after its position."""
    handle = str(opens(m, name))
    m.registry.views[handle].takes(every_copy(m))
    return handle


def every_copy(model: TopicDelivery) -> list[Placed]:
    """Every copy that is held."""
    return [(key, position) for key, bucket in model.index.held.items() for position in bucket]


# ---- Prunes


@around(
    TopicDelivery.release,
    "TD-13",
    "what has left is new again",
    was="what has left the index is new to whoever was done with it",
)
def what_has_left_is_new_again(release: Method, m: TopicDelivery, copies: Iterable[Placed]) -> None:
    """Your tracker forgets who was done with a copy when that leaves the index; if it comes again, it must know."""
    copies = [*copies]
    release(m, copies)
    for key, position in copies:
        if position not in m.index.held.get(key, ()):
            for view in m.registry.registered.values():
                view.handed.discard((key, position))
                view.cleared.discard((key, position))


@around(TopicDelivery.release, "TD-20", "only what is due", was="what is not due yet is not pruned")
def only_what_is_due(release: Method, m: TopicDelivery, copies: Iterable[Placed]) -> None:
    """Your tracker keeps a copy that no view sees until it is due; the copy must leave the index at once."""
    release(m, [(key, position) for key, position in copies if m.buckets.due(key, m.timer.now)])


@around(
    TopicDelivery.mark_delete,
    "TD-17",
    "a mark leaves the timer",
    was="a mark-delete position leaves the timer as it is",
)
def a_mark_leaves_the_timer(mark_delete: Method, m: TopicDelivery, *mark: Any) -> None:
    """A mark-delete position leaves your tracker's timer as it is; it must update the timer."""
    without("update_timer", m, mark_delete, *mark)


@mistake(
    "TD-20",
    "a mark-delete position is heeded by the next get",
    "A mark-delete position takes nothing from your tracker's index until the next get; it must at once.",
)
class PrunesWithGets(TopicDelivery):
    """A push of the position is cheap."""

    def mark_delete(self, handle: str, ledger: int, entry: int) -> None:
        """Note the position."""
        self.put_off = True
        super().mark_delete(handle, ledger, entry)
        self.put_off = False

    put_off = False

    def release(self, copies: Iterable[Placed]) -> None:
        """Let go of copies, later."""
        if not self.put_off:
            super().release(copies)

    def hand_out(self, view: SubscriptionView, most: int) -> list[Position]:
        """Hand out, then let go of all that nobody sees."""
        out = super().hand_out(view, most)
        self.release(every_copy(self))
        return out


# ---- The fixed delay


@around(TopicDelivery.add, "TD-06", "ends it for all", was="a refusal ends the fixed delay of all views")
def ends_it_for_all(add: Method, m: TopicDelivery, *message: Any) -> Any:
    """A refused message ends the fixed delay of all views of your tracker; it must only for its own view."""
    accepted = add(m, *message)
    for view in m.registry.registered.values() if accepted is False else ():
        view.fixed_delay.refused()
    return accepted


@around(TopicDelivery.add, "TD-12", "a delay for all", was="what one view adds counts for the fixed delay of all")
def a_delay_for_all(add: Method, m: TopicDelivery, handle: str, ledger: int, entry: int, at: int) -> Any:
    """An add of one view counts for the fixed delay of all views of your tracker; each view must have its own."""
    accepted = add(m, handle, ledger, entry, at)
    for name, view in m.registry.registered.items():
        if accepted and not handle.startswith(name):
            view.fixed_delay.accepted(at, m.buckets.tick)
    return accepted


# ---- Clear, ticks, availability


@around(TopicDelivery.clear_for, "TD-13", "for all", was="forget_for: for all")
def for_all(clear_for: Method, m: TopicDelivery, _: SubscriptionView) -> None:
    """A clear of one view clears your tracker for all; the others must keep their copies."""
    for each in m.registry.registered.values():
        clear_for(m, each)


@around(TopicDelivery.clear_for, "TD-13", "and the timer", was="forget_for: and the timer")
def and_the_timer(clear_for: Method, m: TopicDelivery, view: SubscriptionView) -> None:
    """A clear updates your tracker's timer; it must leave the timer alone."""
    clear_for(m, view)
    m.update_timer()


@around(TopicDelivery.clear, "DD-16", "by a clear", was="view.fixed_delay.starts_anew_on_clear: absent")
def clear_starts_anew(clear: Method, m: TopicDelivery, handle: str) -> None:
    """A clear starts the detection of a fixed delay anew; only a get that leaves the index empty may."""
    clear(m, handle)
    if handle in m.registry.views:
        m.registry.views[handle].fixed_delay.begin()


@around(TopicDelivery.retick, "TD-17", "announced by another tick")
def announced_by_another_tick(retick: Method, m: TopicDelivery, tick: int) -> None:
    """After a new tick your tracker takes buckets for announced that no firing has announced since; it must not."""
    told = m.timer.told
    retick(m, tick)
    m.timer.told = told


@around(TopicDelivery.has, "TD-17", "a question as well")
def a_question_as_well(has: Method, m: TopicDelivery, handle: str) -> Any:
    """The question whether a message is available updates your tracker's timer; it must leave the timer alone."""
    answer = has(m, handle)
    m.update_timer()
    return answer


look_at("TD-14", "the views that did not tell it; a timeout that was armed with the old tick")
of(TopicDelivery.retick, breaks="TD-14")(
    instead(
        "absent",
        "Your tracker ignores a new tick; a tick from any view must become the topic's.",
        lambda m, tick: None,
        was="change_tick: absent",
    ),
)


@around(TopicDelivery.reset_tick, "TD-14", "the timer is left alone", was="change_tick: the timer is left alone")
def a_tick_leaves_the_timer(reset_tick: Method, m: TopicDelivery, *told: Any) -> None:
    """A new tick leaves your tracker's timer as it is; it must update the timer."""
    without("update_timer", m, reset_tick, *told)


@around(TopicDelivery.is_available, "TD-10", "available to one and all", was="available to one, available to all")
def available_to_one_and_all(is_available: Method, m: TopicDelivery, view: SubscriptionView) -> bool:
    """Your tracker says that a message is available to all views if the first one sees it; each must see it itself."""
    return bool(is_available(m, next(iter(m.registry.registered.values()), view)))


# ---- Invariants

look_at("TD-04", "a bucket whose start is compared with the cut-off, in place of its end")
look_at("TD-33", "a copy for each view")
look_at("TD-34", "what the shared index does otherwise than a tracker of one subscription")
look_at("TD-35", "a call or a firing after which nobody brings the timer up to date")
look_at("TD-36", "a prune that is put off, or that nothing sets off")
look_at("TD-37", "a prune, or the leaving of another view, that takes along what somebody waits for")
look_at("TD-40", "a time of the clock that is kept, such as that of the last run, after the clock was set back")
look_at("TD-44", "locks that are held while dispatchers are asked to read")
look_at("TD-43", "a firing that arms nothing; a timer that is armed only when a view asks")
