"""Races as an HTML page: the threads of each side by side, as lanes, and an arrow for each switch between them."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.properties.report.threads import RaceResult
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.words import counted


def races_html(races: Sequence[RaceResult], head: Sequence[str] = (), rows: Sequence[Sequence[str]] = ()) -> str:
    """The page of some runs, with a table of the searches that led to them."""
    broken = sum(bool(race.broken) for race in races)
    headline = counted(broken, "race") if broken else "No race"
    table = {"head": head, "rows": rows}
    return rendered("races.html", races=races, headline=headline, broken=broken, **table)
