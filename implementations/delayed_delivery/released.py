"""The broker's own delayed-delivery trackers, of any release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.netty import netty_timer
from broker_tck.implementations.jvm.positions import position_reader
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.standins import Answers, of_class, of_interface, weakly
from broker_tck.implementations.jvm.subject import Boxed, Kind, Line
from broker_tck.implementations.jvm.unavailable import Unavailable

PACKAGE = "org.apache.pulsar.broker.delayed."
IN_MEMORY = PACKAGE + "InMemoryDelayedDeliveryTracker"
ABSTRACT = PACKAGE + "AbstractDelayedDeliveryTracker"
DISPATCHERS = "org.apache.pulsar.broker.service.persistent."
DISPATCHER = (
    ((3,), "PersistentDispatcherMultipleConsumers"),
    ((4,), "AbstractPersistentDispatcherMultipleConsumers"),
)
"""The dispatcher that a tracker gets, since some version."""
NAME = "topic / subscription"
"""Of a dispatcher. Some trackers take it apart."""
NAMED = {
    "getTopic": "org.apache.pulsar.broker.service.Topic",
    "getSubscription": "org.apache.pulsar.broker.service.Subscription",
}
"""What factories ask a dispatcher for, to tell its name in a log."""
READS = ("readMoreEntries", "readMoreEntriesAsync")
"""How a tracker asks its dispatcher to read: up to 4.0, and later."""
MILLISECOND = 10**6
"""In nanoseconds."""


def prepare(loader: Loader, more: Sequence[str] = ()) -> None:
    """Load what the broker's trackers are made of, and more classes, all as the kit holds them."""
    loader.hold([*more, *classes_in(loader.place_of(IN_MEMORY), (IN_MEMORY, ABSTRACT))])


class InMemory:
    """Makes trackers of InMemoryDelayedDeliveryTracker."""

    def __init__(self, loader: Loader, release: Release) -> None:
        """Load the class."""
        prepare(loader)
        dispatcher = [name for since, name in DISPATCHER if since <= release.number][-1]
        self.loader = loader
        self.made: Callable[..., Any] = loader.named(IN_MEMORY)
        self.dispatcher = of_class(loader, DISPATCHERS + dispatcher, ("getName", "getCursor", *NAMED, *READS))
        self.named = {method: named_only(loader, kind) for method, kind in NAMED.items()}
        self.clock = loader.jpype.JClass("org.threeten.extra.MutableClock")
        self.instant = loader.jpype.JClass("java.time.Instant")
        self.positions = position_reader(loader)

    def __call__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> JavaTracker:
        """Make one."""
        return JavaTracker(self, config, clock, timer)


def named_only(loader: Loader, kind: str) -> Callable[[], Any]:
    """Answers with an object of an interface that has a name, and no more."""
    java = of_interface(loader, kind, {"getName": lambda: NAME})
    return lambda: java


@translating
class JavaTracker:
    """A tracker of Java's behind the kit's interface. Before each call Java is told the time, where it has moved."""

    def __init__(self, kind: InMemory, config: Any, clock: Clock, timer: Timer) -> None:
        self._kind, self._clock, self._timer = kind, clock, timer
        self._loader_ready = kind.loader.ready
        self._loader_ready(clock())
        self._java_clock = kind.clock.epochUTC()
        self._tell(clock())
        self._asked = False
        reads = dict.fromkeys(READS, weakly(self._read))
        dispatcher = kind.dispatcher({"getName": lambda: NAME, **kind.named, **reads, **self._more()})
        wheel = netty_timer(kind.loader, weakly(self._arm))
        self._tracker = self._made(config, dispatcher, wheel)

    def _more(self) -> Answers:
        """What the dispatcher answers besides."""
        return {}

    def _made(self, config: Any, dispatcher: Any, wheel: Any) -> Any:
        try:
            return self._kind.made(dispatcher, wheel, config.tick, self._java_clock, config.strict, config.lookahead)
        except TypeError as error:
            raise Unavailable(f"it cannot be made as the broker's in-memory tracker is: {error}") from None

    def _tell(self, now: int) -> None:
        self._now = now
        self._java_clock.setInstant(self._kind.instant.ofEpochMilli(now))

    def _ready(self) -> Any:
        if (now := self._clock()) != self._now:
            self._tell(now)
        self._loader_ready(now)
        return self._tracker

    def _read(self) -> None:
        self._asked = True

    def _arm(self, delay: int, fire: Callable[[], None]) -> Any:
        def fired(_timeout: Any) -> bool:
            self._ready()
            self._asked = False
            fire()
            return self._asked

        return self._timer.new_timeout(self._now + delay // MILLISECOND, fired)

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        return bool(self._ready().addMessage(ledger_id, entry_id, deliver_at))

    def has_message_available(self) -> bool:
        """Whether one may be handed out."""
        return bool(self._ready().hasMessageAvailable())

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out what is due."""
        return self._kind.positions(self._ready().getScheduledMessages(max_messages))

    def should_pause_all_deliveries(self) -> bool:
        """Whether reading pauses."""
        return bool(self._ready().shouldPauseAllDeliveries())

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        self._ready().resetTickTime(tick)

    def get_number_of_delayed_messages(self) -> int:
        """How many are tracked."""
        return int(self._ready().getNumberOfDelayedMessages())

    def get_buffer_memory_usage(self) -> int:
        """The estimate in bytes."""
        return int(self._ready().getBufferMemoryUsage())

    def clear(self) -> None:
        """Forget every message."""
        self._ready().clear().join()

    def close(self) -> None:
        """Close it."""
        self._ready().close()


def boxes(own: str = "") -> tuple[Boxed, ...]:
    """How threads call the in-memory tracker, or a class of the user's own that is made as it is."""
    woven = (IN_MEMORY, ABSTRACT, f"{PACKAGE}DispatcherDelayedDeliveryContext")
    package = own.rpartition(".")[0]
    return dispatched("broker_tck.boxes.DelayedDelivery", (*woven, f"{package}.") if own else woven, own)


def dispatched(box: str, woven: tuple[str, ...], own: str = "", called_back: bool = False) -> tuple[Boxed, ...]:
    """A box whose tracker has a dispatcher, by the dispatchers that there are."""
    methods = ("getName", "getCursor", *NAMED, *READS)
    return tuple(
        Boxed(since, box, woven, own, {DISPATCHERS + dispatcher: methods}, called_back=called_back)
        for since, dispatcher in DISPATCHER
    )


NOT_SHOWN = {"shows_kept": False}
"""Java gets ids as its own numbers, which cannot be followed."""
WIDE = {"entry_id_bits": 63, **NOT_SHOWN}
KINDS = (
    Kind(
        "in-memory",
        "delayed-delivery",
        "InMemoryDelayedDeliveryTracker",
        InMemory,
        (
            Line((3,), "heap", WIDE),
            Line((4, 0, 1), "timebucket-4.0.1", WIDE),
            Line((4, 0, 4), "timebucket-4.0.4", WIDE),
            Line((4, 0, 6), "heap", WIDE),
            Line((4, 1), "timebucket-2025", WIDE),
            Line((4, 2, 4), "timebucket-2026", NOT_SHOWN),
            Line((5,), "timebucket-5.0-M1", {"memory_estimate": False, **NOT_SHOWN}),
            Line((5, 0, 1), "timebucket-5.0", {"memory_estimate": False, **NOT_SHOWN}),
        ),
        boxes=boxes(),
    ),
)
