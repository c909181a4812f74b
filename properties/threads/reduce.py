"""A race made shorter and plainer, as long as it breaks the same promise: fewer calls and switches, plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import structs

from broker_tck.properties.engine.operation import CLOCK, TIME, Operation, clock_of, letters, marked, shifted, valid
from broker_tck.properties.search.reduction.numbers import all_renumbered, position, with_field
from broker_tck.properties.search.reduction.plainer import plainer_values, try_each
from broker_tck.properties.threads.program import Program, promised, shorter
from broker_tck.properties.threads.search import Race

MOST_SCHEDULES = 100_000
"""After so many schedules no other program is tried."""
Likewise = Callable[[Program, Race], tuple[Race | None, int]]
"""Finds a race of another program that breaks the same promise; answers with it, if there is one, and with the number
of schedules that it took."""


class Reducer:
    """Makes one race shorter. ``tell`` is called after each program that was tried."""

    def __init__(self, race: Race, likewise: Likewise, tell: Callable[[Reducer], None] = lambda _: None) -> None:
        self.race, self.likewise, self.tell = race, likewise, tell
        self.schedules = 0
        """The number of schedules that it has taken."""

    def reduced(self) -> Race:
        """The race, made as short and plain as it becomes."""
        self.without_operations()
        self.plain_config()
        self.plain_names()
        self.plain_fields()
        self.without_operations()
        return self.race

    def tries(self, program: Program) -> bool:
        """Whether another program has such a race as well, which is then the one."""
        possible = self.schedules < MOST_SCHEDULES and all(map(valid, (program.config, *program.operations)))
        if not possible or not all(map(promised(program.contract).happens, program.operations)):
            return False
        found, schedules = self.likewise(program, self.race)
        self.race = found or self.race
        self.schedules += schedules
        self.tell(self)
        return found is not None

    def without_operations(self) -> None:
        """Leave out threads and operations."""
        candidates = shorter(self.race.program)
        while candidates and self.schedules < MOST_SCHEDULES:
            if self.tries(candidates.pop(0)):
                candidates = shorter(self.race.program)

    def plain_config(self) -> None:
        """Put the configuration back to its defaults, field by field; times move with the clock."""
        config = self.race.program.config
        default = type(config)()
        for field in config.__struct_fields__:
            program, value = self.race.program, getattr(default, field)
            if getattr(program.config, field) != value:
                by = value - getattr(program.config, field) if field in marked(type(config), CLOCK) else 0
                moved = replace(program, config=structs.replace(program.config, **{field: value}))
                self.tries(moved.with_operations([shifted(operation, by) for operation in program.operations]))

    def plain_names(self) -> None:
        """Make what names a message or a cursor plain, wherever it is named."""
        named = dict.fromkeys(part for operation in self.race.program.operations for part in position(operation))
        for number, (field, value) in enumerate(named):
            attempt = partial(self.changed, partial(all_renumbered, field, value=value))
            if isinstance(value, str):
                attempt(letters(number).lower())
            else:
                try_each(plainer_values(value, 0), attempt)

    def plain_fields(self) -> None:
        """Make all other fields plain."""
        for i, operation in enumerate(self.race.program.operations):
            names = {field for field, _ in position(operation)}
            for field in operation.__struct_fields__:
                if field not in names and not isinstance(getattr(operation, field), str):
                    zero = (clock_of(self.race.program.config) or 0) if field in marked(type(operation), TIME) else 0
                    value = getattr(operation, field)
                    try_each(
                        plainer_values(value, zero), partial(self.changed, partial(with_field, i, field, _value=value))
                    )

    def changed(self, change: Callable[..., Sequence[Operation] | None], other: Any) -> bool:
        """Whether a change of all operations leaves a race."""
        program = self.race.program
        operations = change(operations=[*program.operations], other=other)
        return operations is not None and self.tries(program.with_operations(operations))
