"""A survey: every class of some releases, checked against its own profile and against the specification.

Each check has a process of its own, as there is one Java a process, and one that dies takes nothing with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from subprocess import PIPE
from typing import Any

from broker_tck.implementations.jvm.jars import folder
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.released import KINDS, made
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.explain.deviating import broken_rules
from broker_tck.properties.search.isolation.pool import as_they_end

CHECK = (sys.executable, "-m", "broker_tck.cli.main", "check", "--isolated", "--json", "--examples", "0")
UNKNOWN = "no verdict"
Check = subprocess.Popen[str]


@dataclass(frozen=True)
class Question:
    """A subject and a profile that it is checked against."""

    release: str
    kind: str
    profile: str

    @property
    def subject(self) -> str:
        """The subject's name."""
        return f"pulsar-{self.release}/{self.kind}"

    @property
    def contract(self) -> str:
        """The contract's name."""
        contract: str = KINDS[self.kind].contract
        return contract

    @property
    def own(self) -> bool:
        """Whether the profile is the one that the release's class is known to have; else it is the specification's."""
        line = KINDS[self.kind].line(Release(self.release))
        return line is not None and line.profile == self.profile


@dataclass(frozen=True)
class Answer:
    """The result of a check; ``checked`` is what ``check --json`` says of it, empty if its process died."""

    question: Question
    verdict: str
    checked: dict[str, Any]
    why: str = ""

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings."""
        found: list[dict[str, Any]] = self.checked.get("findings", [])
        return found

    @property
    def not_seen(self) -> list[str]:
        """The rules that the class's own profile breaks, without a trace from the check against the specification."""
        if self.question.own or self.verdict == UNKNOWN:
            return []
        question = self.question
        subject = declared(question.subject, made(question.release, question.kind, "", folder()))
        told = {each["rule"] for finding in self.findings for each in finding.get("also", ())}
        told.update(finding["rules"][0] for finding in self.findings)
        broken = broken_rules(subject.contract, subject.profiles[0])
        return [number for number in broken if number not in told | subject.out_of_reach]


def questions(releases: Sequence[str], contract: str | None = None) -> Iterator[Question]:
    """What a survey of some releases asks, of one contract or of all."""
    for kind in KINDS.values():
        for release in releases:
            line = kind.line(Release(release))
            if line and contract in (None, kind.contract):
                profiles = dict.fromkeys((line.profile, CONTRACTS[kind.contract].default))
                yield from (Question(release, kind.name, profile) for profile in profiles)


def to_be_had(asked: Iterable[Question]) -> Iterator[Question]:
    """The questions, except those whose class is in no repository. Raises Unavailable if that is unknown.

    A folder of jars that the user names must have the classes that are asked for.
    """
    return (each for each in asked if folder() or not Release(each.release).lacks(KINDS[each.kind].jars[0]))


def lacking(release: str, asked: Sequence[Question]) -> list[str]:
    """The jars of a release that are not available, of those that classes of the same contracts need."""
    needed = dict.fromkeys(jar for each in asked for jar in KINDS[each.kind].jars)
    return [jar for jar in needed if Release(release).lacks(jar)]


def survey(
    asked: Sequence[Question], walks: int, seed: int, at_once: int, told: Callable[[Answer | None], None]
) -> None:
    """Answer questions, several at once. ``told`` gets each answer, and None in each second without one.

    An exception, such as an interrupt, ends the checks that are under way. The last kind of class takes longest, so it
    comes first: no core waits for it at the end.
    """
    under_way: set[Check] = set()
    with ThreadPoolExecutor(at_once) as pool:
        try:
            checks = [pool.submit(answer, question, walks, seed, under_way) for question in reversed(asked)]
            for ended in as_they_end(checks):
                told(ended.result() if ended else None)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for check in [*under_way]:
                check.kill()


def answer(question: Question, walks: int, seed: int, under_way: set[Check]) -> Answer:
    """The answer to a question, given by a process of its own, which is ``under_way`` until it ends.

    Each rule that the class's own profile breaks is searched for in at most as many walks.
    """
    options = {"--subject": question.subject, "--profile": question.profile, "--walks": walks}
    options |= {"--search": walks, "--seed": seed}
    asked = [*CHECK, *(str(word) for option in options.items() for word in option)]
    with subprocess.Popen(asked, stdin=subprocess.DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as check:
        under_way.add(check)
        told, complained = check.communicate()
        under_way.discard(check)
    try:
        checked: dict[str, Any] = json.loads(told)["subjects"][0]
    except (ValueError, LookupError):
        last = complained.strip().rpartition("\n")[2]
        return Answer(question, UNKNOWN, {}, f"its process ended with status {check.returncode}: {last}")
    return Answer(question, checked["verdict"], checked)
