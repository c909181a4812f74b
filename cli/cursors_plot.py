"""The table of what containers of cursors cost as a picture: comparisons over the number of cursors."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.cursor_bench import WORKLOADS, CursorRow
from broker_tck.properties.errors import BadInput

OPERATIONS = ("update", "slowest", "rank")
COLORS = ("#0a5bab", "#b34700", "#1b7f4b", "#8a3ffc", "#a2191f", "#555d66")


def drawn(table: Sequence[CursorRow], path: str) -> None:
    """Draw a panel for each workload and operation. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    panels = figure.subplots(len(WORKLOADS), len(OPERATIONS), sharex=True, sharey=True, squeeze=False)
    names = [*dict.fromkeys(row.container for row in table)]
    for workload, line in zip(WORKLOADS, panels, strict=True):
        for operation, axes in zip(OPERATIONS, line, strict=True):
            for name, color in zip(names, COLORS, strict=False):
                rows = [r for r in table if (r.container, r.workload, r.operation) == (name, workload, operation)]
                if rows:
                    axes.plot(
                        [r.cursors for r in rows], [r.comparisons for r in rows], "o-", color=color, ms=3, label=name
                    )
            axes.set(xscale="log", title=f"{operation}, {workload}")
            axes.set_yscale("symlog", linthresh=1)
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.25)
    panels[0][0].set_ylabel("comparisons")
    panels[1][0].set(xlabel="cursors", ylabel="comparisons")
    panels[0][0].legend(frameon=False, fontsize="small")
    try:
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {error}") from None
