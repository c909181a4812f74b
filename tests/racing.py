"""Explores programs of threads on subjects in Python whose calls are generators: each ``yield`` is a point."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

from broker_tck.implementations.jvm.weaving import Explored, Passed, Seen
from broker_tck.properties.threads.program import Plain, Schedule

FUEL = 1_000
"""So many points at most are in a run."""


class Option(NamedTuple):
    """Another thread that could have gone on at a point, and whether that is a preemption."""

    point: int
    thread: int
    preempts: bool


class Run:
    """One run of a program."""

    def __init__(self, box: Any, program: Plain, schedule: Schedule) -> None:
        self.box, self.program, self.switches = box, program, dict(schedule)
        self.lines: list[str] = []
        self.trail: list[Passed] = []
        self.options: list[Option] = []
        self.waiting: set[int] = set()

    def history(self) -> str:
        """Run it to its end."""
        self.at_rest(self.program.before)
        if self.threads():
            self.at_rest(self.program.after)
        return "\n".join(self.lines)

    def at_rest(self, calls: list[list[Any]]) -> None:
        """Make calls one after the other."""
        for name, *arguments in calls:
            going = self.called(name, arguments)
            try:
                while True:
                    next(going)
            except StopIteration as end:
                self.lines.append(f"={json.dumps([end.value, self.box.seen()])}")

    def called(self, name: str, arguments: list[Any]) -> Generator[str, None, Any]:
        """A call, and what it answers or raises."""
        try:
            return (yield from self.box.call(name, arguments))
        except Exception as error:
            return {"raises": type(error).__name__}

    def thread(self, number: int) -> Iterator[str]:
        for i, (name, *arguments) in enumerate(self.program.threads[number]):
            self.lines.append(f"+{number} {i}")
            self.trail.append(Passed(number, "", f"begins {i}"))
            result = yield from self.called(name, arguments)
            self.lines.append(f"-{number} {i} {json.dumps(result)}")
            self.trail.append(Passed(number, "", f"ends {i}"))

    def threads(self) -> bool:
        """Run the threads; whether all came to their end."""
        left = {number: self.thread(number) for number in range(len(self.program.threads))}
        running = -1
        for point in range(FUEL):
            able = sorted(left.keys() - self.waiting)
            if not able:
                if left:
                    self.lines.append("!deadlock")
                return not left
            default = running if running in able else able[0]
            chosen = self.switches.get(point, default)
            chosen = chosen if chosen in able else default
            self.options += [Option(point, other, running in able) for other in able if other != chosen]
            running = chosen
            try:
                what = next(left[running])
            except StopIteration:
                del left[running]
                self.waiting.clear()
                continue
            if what == "waits":
                self.waiting.add(running)
            else:
                self.waiting.clear()
                self.trail.append(Passed(running, f"{type(self.box).__name__}.call:{point}", what))
        self.lines.append("!endless")
        return False


class ByHand:
    """An explorer of boxes in Python: ``box(config)`` makes one, with ``call(name, arguments)`` and ``seen()``."""

    def __init__(self, box: Callable[[dict[str, Any]], Any]) -> None:
        self.box = box

    def explore(self, program: Plain, preemptions: int, most: int, drawn: int, seed: int) -> Explored:
        """Try all schedules with so few preemptions, those with fewer first."""
        assert not drawn, seed
        queues = [deque[Schedule]([()]), *(deque[Schedule]() for _ in range(preemptions))]
        found: dict[str, tuple[int, Schedule]] = {}
        schedules = points = 0
        for used, queue in enumerate(queues):
            while queue and schedules < most:
                schedule = queue.popleft()
                run = Run(self.box(program.config), program, schedule)
                text = run.history()
                schedules, points = schedules + 1, max(points, len(run.trail))
                times, first = found.get(text, (0, schedule))
                found[text] = times + 1, first
                last = schedule[-1][0] if schedule else -1
                for option in run.options:
                    cost = used + option.preempts
                    if option.point > last and cost <= preemptions:
                        queues[cost].append((*schedule, (option.point, option.thread)))
        histories = tuple(Seen(text, times, first) for text, (times, first) in found.items())
        return Explored(schedules, points, not any(queues), histories)

    def follow(self, program: Plain, schedule: Schedule) -> tuple[str, list[Passed]]:
        """Run one schedule."""
        run = Run(self.box(program.config), program, schedule)
        return run.history(), run.trail
