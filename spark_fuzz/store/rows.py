"""The rows that shards answer with, and what a round's rows are merged into, as schemas of Arrow and of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

FIGURE, RULE, RULE_WALKS, STATE, FINDING, REFUSED = "figure", "rule", "rule_walks", "state", "finding", "refused"
UNFIT = "unfit"
"""The name of what is refused where it is the subject that cannot be made, whatever the executor has."""
"""Kinds of rows. A figure, a rule and a state are counts; a finding is a failing walk or several alike."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One row of a shard."""

    kind: str
    subject: str
    profile: str
    name: str
    """The figure, the rule's number, the state's kind of operation, or the rules that a finding names."""
    key: str = ""
    """The abstract state, or the shape of a finding's trace."""
    count: int = 0
    walk: str = ""
    """The seed of the walk that found it; a number of more than 64 bits."""
    length: int = 0
    """The operations of a finding's trace."""
    text: str = ""
    """A finding as JSON; what is wrong with an executor that refused."""


ROW_COLUMNS = (
    "kind string, subject string, profile string, name string, key string, count bigint, walk string, length int, "
    "text string"
)
ROWS = f"driver string, shard int, {ROW_COLUMNS}"
"""What a task writes: ``driver`` tells the rows of a driver that lives from those that a killed one left behind."""
SUMMARY = "kind string, subject string, profile string, shard int, name string, count bigint"
"""A round, merged: a few rows a lane, and two a shard."""
STATES = "subject string, profile string, name string, key string, count bigint, round int"
"""Abstract states, and the round in which each was first reached."""
FINDINGS = (
    "subject string, profile string, rules string, shape string, count bigint, round int, shard int, walk string, "
    "length int, text string"
)
"""Findings by subject, profile, rules and shape: how often, where first, and the shortest trace."""


def arrow_schema(columns: str) -> pa.Schema:
    """Columns, as Spark's DDL names them, as a schema of Arrow."""
    import pyarrow as pa

    types = {"string": pa.string(), "int": pa.int32(), "bigint": pa.int64()}
    return pa.schema([(name, types[kind]) for name, kind in map(str.split, columns.split(","))])
