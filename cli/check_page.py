"""``check --html``: a check as one page that opens without a network."""

from __future__ import annotations

from broker_tck.properties.report.result import CheckResult
from broker_tck.properties.verdict import CONFORMS


def page(check: CheckResult) -> str:
    """The page of a check."""
    from broker_tck.spark_fuzz.report.rendering import rendered
    from broker_tck.spark_fuzz.report.stories import lines_of

    headline = f"{sum(each.verdict == CONFORMS for each in check.subjects)} of {len(check.subjects)} conform"
    return rendered("check.html", check=check, headline=headline, lines_of=lines_of)
