"""Where the processor's time of tox goes: ``python scripts/costs.py`` tells it of the last run.

With ``--write`` that run's figures go beside the budgets, to budgets.json, and the table to CONTRIBUTING.md.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).with_name("budgets.json")
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- costs: begin -->\n", "<!-- costs: end -->\n"
SLOWEST = 10
"""How many tests of an environment are told."""
OVER = 1.5
"""By how many times its budget an environment is over it, before that is said."""
SETUP = "setup"
"""What tox does itself, and has pip do: the wheel and the environments."""
TOTALS = {"all": (), "all but campaigns": ("campaigns",)}
"""The rows of sums, and what is not in them. Environments that are not run by default are in none."""
Cost = dict[str, Any]
Run = dict[str, Any]


def read(log: Path) -> Cost:
    """The cost of an environment, by its notes: seconds of processors and of the clock, what it started, slowest tests."""
    counts: Counter[str] = Counter()
    seconds = wall = 0.0
    tests = []
    for line in log.read_text(encoding="utf-8").splitlines():
        kind, *values = line.split(" ", 2)
        if kind == "command":
            seconds, wall = seconds + float(values[0]), wall + float(values[1])
        elif kind == "test":
            tests.append((float(values[0]), values[1]))
        else:
            counts[kind] += 1
    told = {"seconds": round(seconds, 1), "wall": round(wall, 1)}
    told |= {kind: counts[kind] for kind in ("java", "spark", "python")}
    return told | {"slowest": [[name, spent] for spent, name in sorted(tests, reverse=True)[:SLOWEST]]}


def ended(folder: Path, logs: Mapping[str, Path], wall: float) -> None:
    """Keep what a run of tox cost in its folder, and print it. This process has waited for all that the run started."""
    environments = {name: read(log) for name, log in logs.items() if log.exists()}
    setup = sum(os.times()[:4]) - sum(cost["seconds"] for cost in environments.values())
    environments[SETUP] = {"seconds": round(setup, 1)}
    run = {"machine": machine(), "date": f"{datetime.now(UTC):%Y-%m-%d}", "wall": round(wall)}
    run["environments"] = environments
    (folder / "costs.json").write_text(json.dumps(run), encoding="utf-8")
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))["budgets"]
    sys.stdout.write("\n".join(["", *table(run, budgets), "", over(run, budgets), ""]))


def machine() -> str:
    """What the run was measured on."""
    return f"{os.cpu_count()} processors ({platform.machine()}), Python {platform.python_version()}"


def rows(run: Run, budgets: Mapping[str, float]) -> dict[str, Cost]:
    """The cost of each environment, in the order of the budgets, and of all that has run by default."""
    environments: dict[str, Cost] = run["environments"]
    found = {name: environments[name] for name in budgets if name in environments}
    found |= environments
    for total, without in TOTALS.items():
        parts = [cost for name, cost in environments.items() if name not in without and not name.startswith("deep")]
        found[total] = {"seconds": round(sum(cost["seconds"] for cost in parts), 1)}
        found[total] |= {kind: sum(cost.get(kind, 0) for cost in parts) for kind in ("java", "spark", "python")}
    found["all"]["wall"] = run["wall"]
    return found


def table(run: Run, budgets: Mapping[str, float]) -> Iterator[str]:
    """The table of environments, in Markdown."""
    kinds = ("wall", "java", "spark", "python")
    yield "| environment | budget, s | processor, s | clock, s | Java | Spark | Python |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, cost in rows(run, budgets).items():
        told = [name, budgets.get(name, ""), round(cost["seconds"]), *(cost.get(kind, "") for kind in kinds)]
        yield f"| {' | '.join(map(str, told))} |"


def slowest(run: Run) -> Iterator[str]:
    """The slowest tests of each environment."""
    for name, cost in run["environments"].items():
        if tests := cost.get("slowest"):
            yield f"{name}:"
            yield from (f"{spent:8.2f}  {test}" for test, spent in tests)


def over(run: Run, budgets: Mapping[str, float]) -> str:
    """The last line: what costs more than its budget by half."""
    found = {name: cost["seconds"] for name, cost in rows(run, budgets).items()}
    much = [
        f"{name} ({seconds:.0f} s of {budgets[name]})"
        for name, seconds in found.items()
        if name in budgets and seconds > OVER * budgets[name]
    ]
    return f"Over the budget by half: {', '.join(much)}" if much else "Nothing is over its budget by half."


def block(measured: Run, budgets: Mapping[str, float]) -> str:
    """What CONTRIBUTING.md says of a run."""
    head = f"Measured on {measured['date']}, {measured['machine']}:"
    hidden = ["<details><summary>The slowest tests, in processor-seconds</summary>", "", "```text", *slowest(measured)]
    return "\n".join([head, "", *table(measured, budgets), "", *hidden, "```", "", "</details>", ""])


def write(run: Run) -> None:
    """Put a run's figures beside the budgets, and the table into CONTRIBUTING.md. What has not run keeps its figures.

    What tox did itself is kept where all ran that runs by default.
    """
    kept = json.loads(BUDGETS.read_text(encoding="utf-8"))
    budgets, before = kept["budgets"], kept.get("measured", {})
    now = run["environments"]
    default = {name for name in budgets if name not in TOTALS and not name.startswith("deep")}
    if not default <= now.keys():
        now = {name: cost for name, cost in now.items() if name != SETUP}
        run = run | {"wall": before.get("wall", run["wall"])}
    together = before.get("environments", {}) | now
    measured = run | {"environments": {name: together[name] for name in [*budgets, *together] if name in together}}
    BUDGETS.write_text(json.dumps({"budgets": budgets, "measured": measured}, indent=1) + "\n", encoding="utf-8")
    head, _, rest = CONTRIBUTING.read_text(encoding="utf-8").partition(BEGIN)
    CONTRIBUTING.write_text(head + BEGIN + block(measured, budgets) + END + rest.partition(END)[2], encoding="utf-8")


def main() -> None:
    """Tell of the last run, or write its figures down."""
    run = json.loads((ROOT / ".tox" / "costs.json").read_text(encoding="utf-8"))
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))["budgets"]
    sys.stdout.write("\n".join([*slowest(run), "", *table(run, budgets), "", over(run, budgets), ""]))
    if "--write" in sys.argv[1:]:
        write(run)


if __name__ == "__main__":
    main()
