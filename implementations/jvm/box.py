"""A class of the user's own, in Java, that is in no release: threads call it through a box, which is the user's too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from broker_tck.implementations.jvm.java import OLDEST, java
from broker_tck.implementations.jvm.loader import classes_in
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.jvm.weaving import Explorer, WeavingLoader

BOX = "broker_tck.threads.Box"


@dataclass(frozen=True, kw_only=True)
class JavaBox:
    """What must be declared of such a class: a subject of ``threads`` alone."""

    contract: str
    """The contract that the class keeps, and whose promises threads may rely on."""
    box: str
    """The class that makes an object and calls it. It implements ``broker_tck.threads.Box``."""
    woven: tuple[str, ...]
    """How the names of the classes begin that points are woven into; the box is none of them."""
    classpath: tuple[Path, ...]
    """The folders and jars that have all these classes, and what they use."""
    profiles: tuple[str, ...] = ("ideal",)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    """The names of operations that threads do not make at the same time."""
    forks = False
    libraries = ("jpype1",)

    @cached_property
    def explorer(self) -> Explorer:
        """What has threads call the box. Unavailable: its classes cannot be had, or are not as they must be."""
        for place in self.classpath:
            if not place.exists():
                raise Unavailable(f"{place}: there is no such folder or jar of class files; is it compiled?")
        woven = [name for place in self.classpath for name in classes_in(place, self.woven) if name != self.box]
        if not woven:
            raise Unavailable(f"{self.box}: no class on its class path begins with {' or '.join(self.woven)}")
        loader = WeavingLoader(java(OLDEST), self.classpath, woven)
        box, takes = loader.named(self.box).class_, [loader.named("java.util.Map").class_]
        made = any([*each.getParameterTypes()] == takes for each in box.getConstructors())
        if not made or not loader.named(BOX).class_.isAssignableFrom(box):
            raise Unavailable(f"{self.box} must implement {BOX}, and have a public constructor that takes a Map")
        return Explorer(loader, self.box)

    def __call__(self, *_: Any) -> Any:
        """Raise Unavailable: threads alone can call it."""
        raise Unavailable("threads alone can call a box: broker-tck threads --subject …")
