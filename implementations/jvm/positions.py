"""Positions between Java and Python, many at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from broker_tck.implementations.interface import Position
from broker_tck.implementations.jvm.loader import Loader

LONG = "q"
"""What Python's arrays call the numbers that Java calls long."""
FEW = 8
"""So many are quicker taken one by one."""
IMPL = "org.apache.bookkeeper.mledger.impl."
POSITION = "org.apache.bookkeeper.mledger.Position"
MAKERS = (("org.apache.bookkeeper.mledger.PositionFactory", "create"), (f"{IMPL}PositionImpl", "get"))
"""How one is made: since 4.0, and before."""


def position_maker(loader: Loader) -> Callable[[Position], Any]:
    """Makes positions of Java's, a new object each time."""
    name, method = next((maker for maker in MAKERS if loader.has(maker[0])), MAKERS[0])
    make = getattr(loader.named(name), method)
    return lambda position: make(*position)


def position_reader(loader: Loader, name: str = POSITION) -> Callable[[Any], list[Position]]:
    """Reads a collection of Java's positions, in its own order; ``name`` is their interface, if it is another."""
    functions = loader.jpype.JClass("java.util.function.ToLongFunction")
    handles = loader.jpype.JClass("java.lang.invoke.MethodHandles").publicLookup()
    proxies = loader.jpype.JClass("java.lang.invoke.MethodHandleProxies")
    kind = loader.named(name)
    get = [
        proxies.asInterfaceInstance(functions, handles.unreflect(kind.class_.getMethod(name)))
        for name in ("getLedgerId", "getEntryId")
    ]

    def read(collection: Any) -> list[Position]:
        if collection.size() <= FEW:
            return [(int(p.getLedgerId()), int(p.getEntryId())) for p in collection]
        ledgers, entries = (memoryview(collection.stream().mapToLong(part).toArray()).tobytes() for part in get)
        return list(zip(array(LONG, ledgers), array(LONG, entries), strict=True))

    return read
