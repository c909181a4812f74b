"""The rows that shards answer with, and the tables of a campaign's store, as schemas of Arrow and of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

FIGURE, RULE, RULE_WALKS, STATE, FINDING, MACHINE = "figure", "rule", "rule_walks", "state", "finding", "machine"
"""Kinds of rows. A finding is a failing walk, or program, or several alike; all others are counts."""
REFUSED, UNFIT, UNFINISHED = "refused", "unfit", "unfinished"
"""Kinds of rows of a shard that was not walked: the executor has other code; no executor can make the subject; the
shard ended or took too long."""
ROUND, NEW_STATES, NEW_FINDINGS = "round", "states", "findings"
"""Kinds of figures that a round's merging adds."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One row of a shard."""

    kind: str
    subject: str
    profile: str
    name: str
    """The figure, the rule's number, the state's kind of operation, the rules that a finding names, or the promise that
    a race breaks, or why a shard was not walked."""
    key: str = ""
    """The abstract state, the shape of a finding's trace, the name of a machine, or a shard with its seed."""
    count: int = 0
    walk: str = ""
    """The seed of the walk that found it, a number of more than 64 bits; or the number of the program."""
    length: int = 0
    """The operations of a finding's trace, or program."""
    text: str = ""
    """A finding as JSON."""


def trouble(kind: str, why: str, shard: int) -> Row:
    """The row of a shard that was not walked. Its key has the shard, or it would be counted with others."""
    return Row(kind, "", "", why, f"shard {shard}", 1)


PAIR = ("subject", "profile")
KEYS = ("kind", *PAIR, "name", "key")
"""Rows that have these in common are reduced to one."""
SHAPE = (*PAIR, "rules", "shape")
"""Findings that have these in common are alike."""
Key = tuple[str, str, str, str]
"""A finding's subject, profile, rules and shape."""
ROWS = (
    "kind string, subject string, profile string, name string, key string, count bigint, walk string, length int, "
    "text string, shard int"
)
"""The columns of a shard's rows, and of a round's reduced rows. No value is null."""
CAMPAIGN = "number int, at string, kind string, text string"
"""The events of the campaign: its manifest, its drivers with their times, and requests to stop."""
FIGURES = "round int, kind string, subject string, profile string, name string, key string, count bigint"
"""The figures of each round, by pair and by machine."""
STATES = "round int, subject string, profile string, name string, key string"
"""Abstract states, and the round in which each was first reached."""
FINDINGS = (
    "round int, subject string, profile string, rules string, shape string, count bigint, shard int, walk string, "
    "length int, text string"
)
"""Shapes of findings by round: how often, where first, and the trace, if it is new or shorter than those before."""
TABLES = {"campaign": CAMPAIGN, "states": STATES, "findings": FINDINGS, "figures": FIGURES}


def names(columns: str) -> list[str]:
    """The names of columns."""
    return [column.split()[0] for column in columns.split(",")]


def arrow_schema(columns: str) -> pa.Schema:
    """Columns, as Spark's DDL names them, as a schema of Arrow."""
    import pyarrow as pa

    types = {"string": pa.string(), "int": pa.int32(), "bigint": pa.int64()}
    return pa.schema([(name, types[kind]) for name, kind in map(str.split, columns.split(","))])
