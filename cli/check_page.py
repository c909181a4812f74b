"""``check --html``: a check as one page that opens without a network."""

from __future__ import annotations

from typing import Any

from broker_tck.properties.verdict import CONFORMS


def page(check: dict[str, Any]) -> str:
    """The page of a check, made of its JSON, see :mod:`~broker_tck.properties.report.check_document`."""
    from broker_tck.spark_fuzz.report.rendering import rendered
    from broker_tck.spark_fuzz.report.stories import lines_of

    return rendered("check.html", check=check, headline=headline(check), lines_of=lines_of)


def headline(check: dict[str, Any]) -> str:
    """How many conform, in a line."""
    green = sum(each["verdict"] == CONFORMS for each in check["subjects"])
    return f"{green} of {len(check['subjects'])} conform"
