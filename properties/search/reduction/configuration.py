"""Plainer configurations: their defaults, small numbers, short lists."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from msgspec import structs

from broker_tck.properties.engine.operation import CLOCK, marked, shifted
from broker_tck.properties.search.reduction.leaving_out import one_by_one
from broker_tck.properties.search.reduction.plainer import plainer_lists, try_each
from broker_tck.properties.search.reduction.prober import Prober

SMALL = (1, 2)
"""Numbers of a configuration with which few operations may do: so many of something make something happen."""
FEW = 6
"""So many operations are few enough, whatever is configured."""


def simpler_config(prober: Prober) -> None:
    """Put the configuration back to its defaults, field by field; times move with the clock."""
    for field in prober.config.__struct_fields__:
        value, default = getattr(prober.config, field), getattr(prober.defaults, field)
        if value != default:
            by = default - value if field in marked(type(prober.config), CLOCK) else 0
            plainer = structs.replace(prober.config, **{field: default})
            prober.cut([shifted(operation, by) for operation in prober.operations], plainer)


def smaller_config(prober: Prober) -> None:
    """Configure small numbers, field by field, where fewer operations will do then."""
    for field in numbers_of(prober.config) if len(prober.operations) > FEW else ():
        for small in SMALL:
            before = config, operations = prober.config, prober.operations
            if small < getattr(config, field) and prober.cut(operations, structs.replace(config, **{field: small})):
                one_by_one(prober)
                if len(prober.operations) < len(operations):
                    break
            prober.config, prober.operations = before


def shorter_lists(prober: Prober) -> None:
    """Make the lists of the configuration short, and their numbers plain."""

    def attempt(field: str, plainer: Any) -> bool:
        other = set_to(prober.config, field, plainer)
        return other is not None and prober.cut(prober.operations, other)

    for field in prober.config.__struct_fields__:
        if isinstance(value := getattr(prober.config, field), tuple):
            try_each(plainer_lists(value), partial(attempt, field))


def set_to(config: Any, field: str, value: Any) -> Any:
    """A configuration with another value of a field; None if it may not have that: a multiplier has three parts."""
    try:
        return msgspec.convert({**msgspec.to_builtins(config), field: value}, type(config))
    except msgspec.ValidationError:
        return None


def numbers_of(config: Any) -> list[str]:
    """The fields of a configuration that have numbers which are no times."""
    clocks = marked(type(config), CLOCK)
    return [f for f in config.__struct_fields__ if type(getattr(config, f)) is int and f not in clocks]
