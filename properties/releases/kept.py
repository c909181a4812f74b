"""The answers of a survey in a file, a line each, from which the same survey goes on later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from broker_tck.properties.errors import BadInput
from broker_tck.properties.releases.survey import UNKNOWN, Answer, Question


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
        try:
            told = json.loads(line)
            answer = Answer(Question(**told["question"]), told["verdict"], told["checked"])
            if made.get(answer.question) == told["made"]:
                found[answer.question] = answer
        except (ValueError, LookupError, TypeError):
            continue
    return [found[question] for question in made if question in found]


def lines_of(answers: Sequence[Answer], made: Mapping[Question, str]) -> str:
    """Answers as the text of a file. A check that came to no verdict is not among them: it is made again."""
    told = (
        {
            "question": asdict(each.question),
            "made": made[each.question],
            "verdict": each.verdict,
            "checked": each.checked,
        }
        for each in answers
        if each.verdict != UNKNOWN
    )
    return "".join(f"{json.dumps(line)}\n" for line in told)
