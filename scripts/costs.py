"""What each environment of tox costs: ``python scripts/costs.py`` prints it for the last run.

With ``--write`` it stores these figures in budgets.json, and writes them into CONTRIBUTING.md. Environments that did
not run keep their figures.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LAST = HERE.parent / ".tox" / "costs.json"
BUDGETS = HERE / "budgets.json"
SLOWEST = 10
"""How many tests of an environment are listed."""
OVER = 1.5
"""The last line names environments that cost more than so many times their budget."""
SETUP, ALL, REST = "setup", "all", "all but campaigns"
"""Rows that are no environments: the work of tox itself (the wheel, the environments), and sums."""
Cost = dict[str, Any]
"""`seconds` of processors, `clock` seconds, and the `slowest` tests' seconds."""
Run = dict[str, Any]
"""The `date` and `machine` of a run of tox, its `clock` seconds, and the cost of each of its `environments`."""


def read(log: Path) -> Cost:
    """The cost of an environment, by its notes."""
    seconds = clock = 0.0
    tests = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        kind, *values = line.split(" ", 2)
        if kind == "command":
            seconds, clock = seconds + float(values[0]), clock + float(values[1])
        elif kind == "test":
            tests[values[1]] = float(values[0])
    slowest = dict(sorted(tests.items(), key=lambda test: -test[1])[:SLOWEST])
    return {"seconds": round(seconds, 1), "clock": round(clock), "slowest": slowest}


def ended(logs: Mapping[str, Path], clock: float) -> None:
    """Keep what a run of tox cost, and print it. This process has waited for all that the run has started.

    An environment whose commands scripts/measure.py does not run has no log, and no row. Its time would be taken for
    that of tox itself, so there is no row of that either.
    """
    environments = {name: read(log) for name, log in logs.items() if log.exists()}
    if not environments:
        return
    if len(environments) == len(logs):
        setup = sum(os.times()[:4]) - sum(cost["seconds"] for cost in environments.values())
        environments[SETUP] = {"seconds": round(setup, 1)}
    where = f"{os.cpu_count()} processors ({platform.machine()}), Python {platform.python_version()}"
    run = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": where, "clock": round(clock)}
    run["environments"] = environments
    LAST.write_text(json.dumps(run), encoding="utf-8")
    budgets = kept()["budgets"]
    sys.stdout.write("\n".join(["", *table(run, budgets), "", over(run, budgets), ""]))


def kept() -> dict[str, Any]:
    """The budgets, and what was measured last."""
    found: dict[str, Any] = json.loads(BUDGETS.read_text(encoding="utf-8"))
    return found


def rows(run: Run, budgets: Mapping[str, float]) -> dict[str, Cost]:
    """The cost of each environment; and the sums of those that tox runs by default, if all of them are there."""
    found: dict[str, Cost] = run["environments"]
    every = by_default(budgets)
    parts = {REST: [name for name in every if name != "campaigns"], ALL: every}
    sums: dict[str, Cost] = {
        name: {"seconds": sum(found[part]["seconds"] for part in of)}
        for name, of in parts.items()
        if found.keys() >= {*of}
    }
    if ALL in sums:
        sums[ALL]["clock"] = run["clock"]
    return found | sums


def by_default(budgets: Iterable[str]) -> list[str]:
    """The rows of a run of tox that is not told which environments to run."""
    return [name for name in budgets if name not in (ALL, REST) and not name.startswith("deep-")]


def table(run: Run, budgets: Mapping[str, float]) -> Iterator[str]:
    """The table of environments, in Markdown."""
    yield "| environment | budget, s | processor, s | clock, s |"
    yield "| --- | ---: | ---: | ---: |"
    for name, cost in rows(run, budgets).items():
        cells = (name, budgets.get(name, ""), round(cost["seconds"]), cost.get("clock", ""))
        yield f"| {' | '.join(map(str, cells))} |"


def slowest(run: Run) -> Iterator[str]:
    """The slowest tests of each environment, in processor-seconds."""
    for name, cost in run["environments"].items():
        if tests := cost.get("slowest"):
            yield f"{name}:"
            yield from (f"{spent:8.2f}  {test}" for test, spent in tests.items())


def over(run: Run, budgets: Mapping[str, float]) -> str:
    """The last line: which environments cost more than one and a half times their budget."""
    spent = {name: cost["seconds"] for name, cost in rows(run, budgets).items() if name in budgets}
    much = [f"{name} ({s:.0f} s of {budgets[name]})" for name, s in spent.items() if s > OVER * budgets[name]]
    return f"Over budget by more than half: {', '.join(much)}" if much else "Nothing is over budget by more than half."


def write(run: Run) -> None:
    """Store a run's figures beside the budgets; the clock and the row of tox itself only if all environments ran."""
    budgets, before = kept()["budgets"], kept()["measured"]
    now = run["environments"]
    if not now.keys() >= {*by_default(budgets)}:
        now = {name: cost for name, cost in now.items() if name != SETUP}
        run = run | {"clock": before.get("clock", 0)}
    together = before.get("environments", {}) | now
    run = run | {"environments": {name: together[name] for name in budgets if name in together}}
    BUDGETS.write_text(json.dumps({"budgets": budgets, "measured": run}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Print what the last run cost; with ``--write``, store it."""
    run = json.loads(LAST.read_text(encoding="utf-8"))
    budgets = kept()["budgets"]
    sys.stdout.write("\n".join([*slowest(run), "", *table(run, budgets), "", over(run, budgets), ""]))
    if "--write" in sys.argv[1:]:
        import contributing

        write(run)
        contributing.write()


if __name__ == "__main__":
    main()
