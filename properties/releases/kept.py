"""The answers of a survey in a file, a line each, from which the same survey continues later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.properties.releases.survey import UNKNOWN, Answer, Question


class Kept(msgspec.Struct):
    """A line: a question, how it was answered, and what the answer was."""

    question: Question
    made: str
    verdict: str
    checked: dict[str, Any]


def known_in(file: Path, made: Mapping[Question, str]) -> list[Answer]:
    """The answers of a file to these questions, if they were made in the same way. BadInput: it cannot be read.

    ``made`` says of each question how it is answered now. A line that was not written to its end is left out.
    """
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read: {error}") from None
    found = {}
    for line in text.splitlines():
        with suppress(msgspec.MsgspecError):
            told = msgspec.json.decode(line, type=Kept)
            if made.get(told.question) == told.made:
                found[told.question] = Answer(told.question, told.verdict, told.checked)
    return [found[question] for question in made if question in found]


def lines_of(answers: Sequence[Answer], made: Mapping[Question, str]) -> str:
    """Answers as the text of a file. A check that came to no verdict is not among them: it is made again."""
    known = (each for each in answers if each.verdict != UNKNOWN)
    told = (Kept(each.question, made[each.question], each.verdict, each.checked) for each in known)
    return "".join(f"{msgspec.json.encode(line).decode()}\n" for line in told)
