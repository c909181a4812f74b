"""Where the processor's time of tox goes: ``python scripts/costs.py`` tells it of the last run.

With ``--write`` its figures go beside the budgets, to budgets.json, and to CONTRIBUTING.md; what did not run keeps its.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LAST = HERE.parent / ".tox" / "costs.json"
BUDGETS = HERE / "budgets.json"
SLOWEST = 10
"""How many tests of an environment are told."""
OVER = 1.5
"""How many times its budget an environment costs before that is said."""
SETUP, ALL, REST = "setup", "all", "all but campaigns"
"""Rows that are no environments: what tox does itself (the wheel, the environments), and sums."""
STARTED = ("java", "spark", "python")
Cost = dict[str, Any]
"""`seconds` of processors, `clock` seconds, how many of each kind were started, the seconds of the `slowest` tests."""
Run = dict[str, Any]
"""When and where tox was run, the seconds of the clock, and the cost of each of its `environments`."""


def read(log: Path) -> Cost:
    """The cost of an environment, by its notes."""
    counts: Counter[str] = Counter()
    seconds = clock = 0.0
    tests = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        kind, *values = line.split(" ", 2)
        if kind == "command":
            seconds, clock = seconds + float(values[0]), clock + float(values[1])
        elif kind == "test":
            tests[values[1]] = float(values[0])
        else:
            counts[kind] += 1
    told = {"seconds": round(seconds, 1), "clock": round(clock)} | {kind: counts[kind] for kind in STARTED}
    return told | {"slowest": dict(sorted(tests.items(), key=lambda test: -test[1])[:SLOWEST])}


def ended(logs: Mapping[str, Path], clock: float) -> None:
    """Keep what a run of tox cost, and print it. This process has waited for all that the run has started."""
    environments = {name: read(log) for name, log in logs.items() if log.exists()}
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


def rows(run: Run) -> dict[str, Cost]:
    """The cost of each environment, and the sums of those that tox runs when it is not told which."""
    found: dict[str, Cost] = run["environments"]
    default = {name: cost for name, cost in found.items() if not name.startswith("deep-")}
    sums = {REST: added(cost for name, cost in default.items() if name != "campaigns")}
    if "campaigns" in default:
        sums[ALL] = added(default.values()) | {"clock": run["clock"]}
    return found | sums


def added(costs: Iterable[Cost]) -> Cost:
    """The sum of costs."""
    total: Counter[str] = Counter()
    for cost in costs:
        total.update({kind: cost.get(kind, 0) for kind in ("seconds", *STARTED)})
    return dict(total)


def table(run: Run, budgets: Mapping[str, float]) -> Iterator[str]:
    """The table of environments, in Markdown."""
    yield "| environment | budget, s | processor, s | clock, s | Java | Spark | Python |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, cost in rows(run).items():
        told = (
            name,
            budgets.get(name, ""),
            round(cost["seconds"]),
            *(cost.get(kind, "") for kind in ("clock", *STARTED)),
        )
        yield f"| {' | '.join(map(str, told))} |"


def slowest(run: Run) -> Iterator[str]:
    """The slowest tests of each environment, in seconds of processors."""
    for name, cost in run["environments"].items():
        if tests := cost.get("slowest"):
            yield f"{name}:"
            yield from (f"{spent:8.2f}  {test}" for test, spent in tests.items())


def over(run: Run, budgets: Mapping[str, float]) -> str:
    """The last line: what costs more than its budget by half."""
    spent = {name: cost["seconds"] for name, cost in rows(run).items() if name in budgets}
    much = [f"{name} ({s:.0f} s of {budgets[name]})" for name, s in spent.items() if s > OVER * budgets[name]]
    return f"Over the budget by half: {', '.join(much)}" if much else "Nothing is over its budget by half."


def write(run: Run) -> None:
    """Put a run's figures beside the budgets; what tox did itself, where it ran all that it runs by default."""
    budgets, before = kept()["budgets"], kept()["measured"]
    now = run["environments"]
    if not {name for name in budgets if not name.startswith(("all", "deep-"))} <= now.keys():
        now = {name: cost for name, cost in now.items() if name != SETUP}
        run = run | {"clock": before.get("clock", 0)}
    together = before.get("environments", {}) | now
    run = run | {"environments": {name: together[name] for name in budgets if name in together}}
    BUDGETS.write_text(json.dumps({"budgets": budgets, "measured": run}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Tell of the last run, or write its figures down."""
    run = json.loads(LAST.read_text(encoding="utf-8"))
    budgets = kept()["budgets"]
    sys.stdout.write("\n".join([*slowest(run), "", *table(run, budgets), "", over(run, budgets), ""]))
    if "--write" in sys.argv[1:]:
        import contributing

        write(run)
        contributing.write()


if __name__ == "__main__":
    main()
