"""A delayed-delivery tracker of the user's own, written in Java against a release.

The class is what a broker's ``delayedDeliveryTrackerFactoryClassName`` names, a factory; or the tracker itself, with
the constructor of the broker's in-memory tracker. Wherever it keeps a timer of Netty's or a clock, it is given the
kit's; the system's clocks, as its code reads them, are the kit's as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from broker_tck.implementations.delayed_delivery.released import PACKAGE, InMemory, boxes, prepare
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.subject import Kind, Line
from broker_tck.implementations.jvm.unavailable import Unavailable

FACTORY = PACKAGE + "DelayedDeliveryTrackerFactory"
TRACKER = PACKAGE + "DelayedDeliveryTracker"
BROKER = "org.apache.pulsar.broker.PulsarService"
CONFIGURATION = "org.apache.pulsar.broker.ServiceConfiguration"
TIMER = "io.netty.util.Timer"
CLOCK = "java.time.Clock"


@cache
def own(name: str) -> Kind:
    """A class of the user's, checked against the contract's own profile unless another is named."""
    lines = (Line((3,), "timebucket-ideal", {}),)
    return Kind(name, "delayed-delivery", name, partial(Own, name), lines, boxes=boxes(name))


class Own(InMemory):
    """Makes trackers of a class of the user's."""

    def __init__(self, name: str, loader: Loader, release: Release) -> None:
        """Load the class, with all of its package, and see what it is."""
        place = loader.place_of(name)
        broker_of(loader)
        package = name.rpartition(".")[0]
        around = [each for each in classes_in(place, (f"{package}.",)) if each.rpartition(".")[0] == package]
        prepare(loader, around)
        super().__init__(loader, release)
        self.made = self.how(loader, name)

    def how(self, loader: Loader, name: str) -> Callable[..., Any]:
        """How one is made, with what the in-memory tracker is made with. Unavailable: it is neither of the two."""
        kind = loader.named(name)
        if loader.named(FACTORY).class_.isAssignableFrom(kind.class_):
            return partial(from_factory, loader, kind)
        if loader.named(TRACKER).class_.isAssignableFrom(kind.class_):
            made: Callable[..., Any] = kind
            return made
        raise Unavailable(f"{name} is neither a DelayedDeliveryTrackerFactory nor a DelayedDeliveryTracker")


def from_factory(
    loader: Loader, kind: Any, dispatcher: Any, timer: Any, tick: int, clock: Any, strict: bool, lookahead: int
) -> Any:
    """A tracker of a new factory, which takes it that a broker initializes it."""
    configuration = loader.named(CONFIGURATION)()
    configuration.setDelayedDeliveryTickTimeMillis(tick)
    configuration.setDelayedDeliveryDeliverAtTimeStrict(strict)
    configuration.setDelayedDeliveryFixedDelayDetectionLookahead(lookahead)
    broker = broker_of(loader)
    broker.configuration = configuration
    factory = kind()
    factory.initialize(broker())
    given = {TIMER: timer, CLOCK: clock}
    give(loader, factory, given)
    tracker = factory.newTracker(dispatcher)
    give(loader, tracker, given)
    return tracker


def give(loader: Loader, to: Any, given: Mapping[str, Any]) -> None:
    """Put the kit's own into the fields of an object that hold a timer or a clock."""
    kinds = {name: loader.named(name).class_ for name in given}
    modifiers = loader.jpype.JClass("java.lang.reflect.Modifier")
    above = to.getClass()
    while above is not None:
        for field in above.getDeclaredFields():
            wanted = next((name for name, kind in kinds.items() if kind.isAssignableFrom(field.getType())), None)
            if wanted is None or modifiers.isStatic(field.getModifiers()):
                continue
            if field.getType() != kinds[wanted]:
                raise Unavailable(f"{field}: declare it as {wanted}, so that the kit can put its own there")
            field.setAccessible(True)
            field.set(to, given[wanted])
        above = above.getSuperclass()


@cache
def broker_of(loader: Loader) -> Any:
    """The stand-in for the broker, in a class loader; the real one would need all of its hundred libraries."""
    return loader.put_first(BROKER)
