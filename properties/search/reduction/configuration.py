"""Plainer configurations: their defaults, small numbers, short lists."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import structs

from broker_tck.properties.engine.operation import CLOCK, marked, shifted
from broker_tck.properties.search.reduction.leaving_out import one_by_one
from broker_tck.properties.search.reduction.plainer import plainer_lists, try_each
from broker_tck.properties.search.reduction.prober import Prober, Trace

SMALL = (1, 2)
"""Numbers of a configuration with which few operations may do: so many of something make something happen."""
FEW = 6
"""So many operations are few enough, whatever is configured."""


def simpler_config(prober: Prober, trace: Trace) -> Trace:
    """Put the configuration back to its defaults, field by field."""
    for field in trace[0].__struct_fields__:
        trace = put_back(prober, trace, field)
    return trace


def put_back(prober: Prober, trace: Trace, field: str) -> Trace:
    """Put a field of the configuration back to its default, and times with the clock."""
    config, operations = trace
    default = getattr(prober.defaults, field)
    if getattr(config, field) == default:
        return trace
    if field in marked(type(config), CLOCK):
        operations = [shifted(o, default - getattr(config, field)) for o in operations]
    return prober.cut(structs.replace(config, **{field: default}), operations) or trace


def smaller_config(prober: Prober, trace: Trace) -> Trace:
    """Configure small numbers, field by field, where fewer operations will do then."""
    config, operations = trace
    for field in numbers_of(config) if len(operations) > FEW else ():
        for small in (small for small in SMALL if small < getattr(config, field)):
            less = prober.cut(structs.replace(config, **{field: small}), operations)
            less = less and one_by_one(prober, less)
            if less and len(less[1]) < len(operations):
                config, operations = less
                break
    return config, operations


def shorter_lists(prober: Prober, trace: Trace) -> Trace:
    """Make the lists of the configuration short, and their numbers plain."""
    config, operations = trace

    def attempt(plainer: Any) -> bool:
        nonlocal config, operations
        other = set_to(config, field, plainer)
        shorter = prober.cut(other, operations) if other else None
        config, operations = shorter or (config, operations)
        return shorter is not None

    for field in config.__struct_fields__:
        if isinstance(value := getattr(config, field), tuple):
            try_each(plainer_lists(value), attempt)
    return config, operations


def set_to(config: Any, field: str, value: Any) -> Any:
    """A configuration with another value of a field; None where it may not have that: a multiplier has three parts."""
    try:
        return msgspec.convert({**msgspec.to_builtins(config), field: value}, type(config))
    except msgspec.ValidationError:
        return None


def numbers_of(config: Any) -> list[str]:
    """The fields of a configuration that have numbers which are no times."""
    clocks = marked(type(config), CLOCK)
    return [f for f in config.__struct_fields__ if type(getattr(config, f)) is int and f not in clocks]
