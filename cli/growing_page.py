"""The page of ``pulsar``, which grows as answers come, and the answers beside it, from which it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from broker_tck.cli.output import written
from broker_tck.properties.errors import BadInput
from broker_tck.properties.releases.kept import known_in, lines_of
from broker_tck.properties.releases.page import page
from broker_tck.properties.releases.survey import Answer, Question


class GrowingPage:
    """A page in a file, and its answers in a second one, which has ``.jsonl`` behind the name.

    ``made`` has the questions of the survey, and how each is answered. What is no file, a device say, gets the page
    when all is done. BadInput where the second file cannot be read.
    """

    def __init__(
        self, output: str, made: Mapping[Question, str], missing: Mapping[str, Sequence[str]], command: str
    ) -> None:
        self.output, self.file = output, Path(output).resolve()
        self.beside = self.file.with_name(f"{self.file.name}.jsonl")
        self.grows = self.file.is_file() or not self.file.exists()
        self.made, self.missing, self.command = made, missing, command
        self.known = known_in(self.beside, made) if self.grows else []

    def write(self, answers: Mapping[Question, Answer]) -> None:
        """Write what is known, each file whole or not at all. BadInput where one cannot be written."""
        there = [answers[question] for question in self.made if question in answers]
        left = [question for question in self.made if question not in answers]
        text = page(there, self.missing, self.command, f"{datetime.now(UTC):%Y-%m-%d}", left)
        if self.grows:
            replace(self.beside, lines_of(there, self.made))
            replace(self.file, text)
        elif not left:
            written(self.output, text)


def replace(file: Path, text: str) -> None:
    """Write a file beside its place, and put it there when it is whole. BadInput where it cannot be written."""
    begun = file.with_name(f".{file.name}.begun")
    try:
        begun.write_text(text, encoding="utf-8")
        begun.replace(file)
    except OSError as error:
        raise BadInput(f"{file}: cannot be written: {error.strerror}") from None
    finally:
        begun.unlink(missing_ok=True)
