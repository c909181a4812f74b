"""The bench of the entry cache as a picture: seconds a pass, the policies beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from broker_tck.implementations.cache_bench import PASSES, POLICIES, Measurement
from broker_tck.properties.errors import BadInput

COLOURS = ("#0a5bab", "#b34700")


def drawn(measurements: Sequence[Measurement], path: str) -> None:
    """Draw the median of each pass with its spread. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, (policy, colour) in enumerate(zip(POLICIES, COLOURS, strict=True)):
        of_policy = [m.seconds for m in measurements if m.policy == policy]
        columns = [*zip(*of_policy, strict=True)]
        middles = [1_000 * median(column) for column in columns]
        spread = [
            [middle - 1_000 * min(column) for middle, column in zip(middles, columns, strict=True)],
            [1_000 * max(column) - middle for middle, column in zip(middles, columns, strict=True)],
        ]
        places = [place + 0.36 * number for place in range(len(PASSES))]
        axes.barh(places, middles, 0.34, xerr=spread, color=colour, label=policy)
    axes.set_yticks([place + 0.18 for place in range(len(PASSES))], PASSES)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="milliseconds a pass")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, axis="x")
    axes.legend(frameon=False)
    try:
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {error}") from None
