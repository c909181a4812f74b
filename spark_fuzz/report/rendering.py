"""Pages made of templates: each is one HTML file that opens without a network."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from broker_tck.spark_fuzz.report import words

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Any:
    """Jinja, escaping everything: what a subject says is not trusted."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter_ in (
        words.visible,
        words.short,
        words.share,
        words.duration,
        words.one_in,
        words.small,
        words.counted,
        words.moment,
        words.parts,
        words.listed,
    ):
        made.filters[filter_.__name__] = filter_
    made.filters["number"] = "{:,}".format
    made.filters["whole"] = "{:,.0f}".format
    return made


def rendered(template: str, **given: Any) -> str:
    """A page made of a template."""
    return str(environment().get_template(template).render(**given))
