"""What the pages show of released classes is what is printed, where nothing has to be compiled for it."""

from __future__ import annotations

from typing import Any

import pytest
from test_docs import of_java, outputs, see_output

SHOWN = [each for each in outputs() if of_java(each[1]) and "--classpath" not in each[1]]


@pytest.mark.parametrize(("page", "words", "told"), SHOWN, ids=lambda value: str(value)[:40])
def test_output_is_what_is_printed(page: str, words: list[str], told: list[str], capfd: Any) -> None:
    see_output(page, words, told, capfd)
