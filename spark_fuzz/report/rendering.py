"""Pages made from templates: each is one HTML file that needs no network."""

from __future__ import annotations

from functools import cache
from inspect import getmembers, isfunction
from pathlib import Path
from typing import Any

from broker_tck.properties.mistakes.book import look
from broker_tck.properties.report.finding import config_text
from broker_tck.spark_fuzz.report import words
from broker_tck.spark_fuzz.report.lanes import lanes_of
from broker_tck.spark_fuzz.report.stories import lines_of

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Any:
    """Jinja, escaping everything: what a subject says is not trusted. The functions of `words` are its filters."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    settings: Any = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, **settings)
    made.filters.update(getmembers(words, isfunction), number="{:,.0f}".format)
    made.globals.update(config_text=config_text, look=look, lines_of=lines_of, lanes_of=lanes_of)
    return made


def rendered(template: str, **given: Any) -> str:
    """A page made of a template."""
    return str(environment().get_template(template).render(**given))
