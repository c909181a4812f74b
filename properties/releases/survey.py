"""A survey: every class of some releases, checked against its own profile and the specification, and for races.

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
from typing import Any, NamedTuple

from broker_tck.implementations.go.client import KIND as TRACKER
from broker_tck.implementations.go.client import GoClient
from broker_tck.implementations.jvm.jars import folder
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.subject import Kind
from broker_tck.implementations.released import KINDS, made
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import declared, resolve
from broker_tck.properties.explain.deviating import broken_rules
from broker_tck.properties.search.isolation.pool import as_they_end
from broker_tck.properties.threads.verdict import Promise

COMMAND = (sys.executable, "-m", "broker_tck.cli.main")
CHECK = (*COMMAND, "check", "--isolated", "--json", "--examples", "0")
RACES = (*COMMAND, "threads", "--json")
UNKNOWN = "no verdict"
RACE, QUIET = "race", "no race found"
THREADS = "threads"
"""In place of a profile: whether there are races is asked."""
GO = "client-go-"
"""How a release of the Go client begins here; its version follows. Of its classes the kit knows one."""
Check = subprocess.Popen[str]


class Effort(NamedTuple):
    """How much is done for each question."""

    walks: int
    programs: int
    seed: int


@dataclass(frozen=True)
class Question:
    """A subject and a profile that it is checked against."""

    release: str
    kind: str
    profile: str
    """Or :data:`THREADS`."""

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
        return profile_of(self.release, self.kind) == self.profile

    @property
    def of_races(self) -> bool:
        """Whether races are searched."""
        return self.profile == THREADS

    def command(self, effort: Effort) -> list[str]:
        """The command that answers it. Each rule that the class's own profile breaks is searched for in its walks."""
        options: dict[str, Any] = {"--subject": self.subject, "--seed": effort.seed}
        if self.of_races:
            options |= {"--programs": effort.programs}
        else:
            options |= {"--profile": self.profile, "--walks": effort.walks, "--search": effort.walks}
        return [*(RACES if self.of_races else CHECK), *(str(word) for option in options.items() for word in option)]


@dataclass(frozen=True)
class Answer:
    """The result; ``checked`` is what ``check --json`` or ``threads --json`` says, empty if its process died."""

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
    def races(self) -> dict[Promise, dict[str, Any]]:
        """The races, by the promise that each breaks."""
        return {Promise(race["broken"]): race for race in self.checked.get("races", ())}

    @property
    def not_seen(self) -> list[str]:
        """The rules that the class's own profile breaks, without a trace from the check against the specification."""
        if self.question.own or self.question.of_races or self.verdict == UNKNOWN:
            return []
        question = self.question
        name = question.subject
        is_go = question.release.startswith(GO)
        subject = resolve(name) if is_go else declared(name, made(question.release, question.kind, "", folder()))
        told = {each["rule"] for finding in self.findings for each in finding.get("also", ())}
        told.update(finding["rules"][0] for finding in self.findings)
        broken = broken_rules(subject.contract, subject.profiles[0])
        return [number for number in broken if number not in told | subject.out_of_reach]


def profile_of(release: str, kind: str) -> str | None:
    """The profile that a class of a release is known to have; None: it has no such class. Unavailable: no release."""
    if release.startswith(GO):
        return GoClient(release.removeprefix(GO), None).line.profile if kind == TRACKER else None
    line = KINDS[kind].line(Release(release))
    return line.profile if line else None


def questions(releases: Sequence[str], contract: str | None = None, races: bool = False) -> Iterator[Question]:
    """What a survey of some releases asks, of one contract or of all, with races or without."""
    for kind in KINDS.values():
        for release in releases if contract in (None, kind.contract) else ():
            profile = profile_of(release, kind.name)
            profiles = dict.fromkeys((profile, CONTRACTS[kind.contract].default) if profile else ())
            searched = races and not release.startswith(GO) and threads_call(kind, Release(release))
            asked = [*profiles, THREADS] if searched else profiles
            yield from (Question(release, kind.name, profile) for profile in asked)


def threads_call(kind: Kind, release: Release) -> bool:
    """Whether threads can call a class of a release."""
    return CONTRACTS[kind.contract].concurrent is not None and kind.line_of_threads(release) is not None


def to_be_had(asked: Iterable[Question]) -> Iterator[Question]:
    """The questions, except those whose class is in no repository. Raises Unavailable if that is unknown.

    A folder of jars that the user names must have the classes that are asked for.
    """
    for each in asked:
        if folder() or each.release.startswith(GO) or not Release(each.release).lacks(KINDS[each.kind].jars[0]):
            yield each


def lacking(release: str, asked: Sequence[Question]) -> list[str]:
    """The jars of a release that are not available, of those that classes of the same contracts need."""
    if release.startswith(GO):
        return []
    needed = dict.fromkeys(jar for each in asked for jar in KINDS[each.kind].jars)
    return [jar for jar in needed if Release(release).lacks(jar)]


def survey(asked: Sequence[Question], effort: Effort, at_once: int, told: Callable[[Answer | None], None]) -> None:
    """Answer questions, several at once. ``told`` gets each answer, and None in each second without one.

    An exception, such as an interrupt, ends the checks that are under way. The last kind of class takes longest, so it
    comes first: no core waits for it at the end.
    """
    under_way: set[Check] = set()
    with ThreadPoolExecutor(at_once) as pool:
        try:
            checks = [pool.submit(answer, question, effort, under_way) for question in reversed(asked)]
            for ended in as_they_end(checks):
                told(ended.result() if ended else None)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for check in [*under_way]:
                check.kill()


def answer(question: Question, effort: Effort, under_way: set[Check]) -> Answer:
    """The answer to a question, given by a process of its own, which is ``under_way`` until it ends."""
    asked = question.command(effort)
    with subprocess.Popen(asked, stdin=subprocess.DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as check:
        under_way.add(check)
        told, complained = check.communicate()
        under_way.discard(check)
    try:
        checked: dict[str, Any] = json.loads(told)["subjects"][0]
    except (ValueError, LookupError):
        last = complained.strip().rpartition("\n")[2]
        return Answer(question, UNKNOWN, {}, f"its process ended with status {check.returncode}: {last}")
    if question.of_races:
        return Answer(question, RACE if checked["races"] else QUIET, checked)
    return Answer(question, checked["verdict"], checked)
