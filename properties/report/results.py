"""A check as a call of Python: ``from broker_tck import check``. It answers with typed results, and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any, NamedTuple

import broker_tck
from broker_tck.properties.conforming import Checked, check_subject, golden_traces
from broker_tck.properties.engine.subjects import Subject, contract_named, declared
from broker_tck.properties.engine.trace import to_text
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.finding import Finding as Found
from broker_tck.properties.report.document import document
from broker_tck.properties.report.guarding import Task, run_all
from broker_tck.properties.report.story import story
from broker_tck.properties.rulebook import rulebook
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.properties.search.run import Progress
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH

WALKS, EXAMPLES = 1000, 60
"""What a subject is put through where nothing else is said."""
SHORT = 100
"""So much of a diagnosis stands in the `repr` of a finding."""


@dataclass(frozen=True, repr=False)
class Finding:
    """A rule that a subject violates, with its reduced trace."""

    rule: str
    """The number of the rule that is most likely broken, such as ``DD-05``; of a variation, its name."""
    rules: tuple[str, ...]
    """All that it may be: this one and those that cannot be told from it."""
    diagnosis: str
    """What the subject behaves like, in a sentence."""
    story: str
    """All there is to tell, as people read it: the rule in words, the trace, the line that replays it."""
    trace: str
    """The reduced trace as a line of text, times in milliseconds."""
    replay: str
    """The command line that replays it."""

    def __repr__(self) -> str:
        return f"<Finding {' or '.join(self.rules)}: {shorten(self.diagnosis, SHORT, placeholder=' …')}>"


@dataclass(frozen=True, repr=False)
class ProfileResult:
    """What became of a subject under one profile."""

    profile: str
    verdict: str
    """``conforms``, ``broken`` or ``not enough``."""
    findings: tuple[Finding, ...]
    """One for each rule that is broken."""
    complaints: tuple[str, ...]
    """What is wrong besides, a sentence each: a law that did not hold, a recorded trace that was not reproduced."""
    unseen: tuple[str, ...]
    """What never came up, the numbers of rules among it, where that alone keeps the subject from conforming."""
    walks: int
    """How many walks were made."""
    operations: int
    """How many operations were checked, in walks and by the Hypothesis machine."""
    residual: float
    """With 95 % confidence, fewer than this share of walks fail, from 0 to 1, if none has."""

    def __repr__(self) -> str:
        return f"<ProfileResult {self.profile}: {summary(self)}>"


@dataclass(frozen=True, repr=False)
class Result:
    """What became of a subject, under each of the profiles that it was checked under."""

    subject: str
    contract: str
    profiles: tuple[ProfileResult, ...]
    version: str
    """That of the kit."""
    rulebook: str
    """That of the rules, see ``broker_tck.RULEBOOK``."""

    @property
    def conforms(self) -> bool:
        """Whether it conforms under each of the profiles."""
        return self.verdict == CONFORMS

    @property
    def verdict(self) -> str:
        """``broken`` where it is so under one profile; else ``not enough`` where that is so; else ``conforms``."""
        found = {each.verdict for each in self.profiles}
        return next((verdict for verdict in (BROKEN, NOT_ENOUGH) if verdict in found), CONFORMS)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those under all profiles."""
        return tuple(finding for each in self.profiles for finding in each.findings)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Those under all profiles."""
        return tuple(complaint for each in self.profiles for complaint in each.complaints)

    @property
    def unseen(self) -> tuple[str, ...]:
        """What never came up under one profile or another, each once."""
        return tuple(dict.fromkeys(unseen for each in self.profiles for unseen in each.unseen))

    @property
    def walks(self) -> int:
        """How many walks were made under all profiles."""
        return sum(each.walks for each in self.profiles)

    @property
    def operations(self) -> int:
        """How many operations were checked under all profiles."""
        return sum(each.operations for each in self.profiles)

    @property
    def residual(self) -> float:
        """That of the profile of which least is known, from 0 to 1."""
        return max(each.residual for each in self.profiles)

    def __repr__(self) -> str:
        return f"<Result {self.subject} ({', '.join(each.profile for each in self.profiles)}): {summary(self)}>"


def summary(result: ProfileResult | Result) -> str:
    """What a check comes to, in a line: the verdict, how much is wrong, and how much was tried."""
    counts = [
        f"{count:,} {noun}{'' if count == 1 else 's'}"
        for count, noun in (
            (len(result.findings), "finding"),
            (len(result.complaints), "complaint"),
            (len(result.unseen), "unseen rule"),
            (result.walks, "walk"),
            (result.operations, "operation"),
        )
        if count
    ]
    return ", ".join([result.verdict, *counts])


def check(
    subject: Callable[..., Any] | str,
    *,
    contract: str | None = None,
    profile: str | None = None,
    walks: int = WALKS,
    examples: int = EXAMPLES,
    seed: int = 0,
    accepts: Mapping[str, str | tuple[str, str]] | None = None,
    fail_fast: bool = False,
) -> Result:
    """Check a subject against its contract, as ``broker-tck check`` does.

    Args:
        subject: A factory, such as the class of a tracker, or the name of a subject: a bundled one, an entry point,
            ``package.module:Factory``, ``mutant:NAME``, or ``pulsar-VERSION/CLASS``.
        contract: The name of the contract. Default: the one that the factory declares.
        profile: The name of the profile. Default: each of those that the factory declares.
        walks: How many random walks to make under each profile, 1 or more. A walk is some 400 operations.
        examples: How many examples the Hypothesis machine makes of it, 0 or more.
        seed: What the walks are drawn from: the same seed makes the same walks. From 0 on and below 2³¹.
        accepts: The rules that the subject does otherwise on purpose, by number, each with the known way in which it
            does them, or with the way and the reason: ``{"DD-05": ("rounded down", "our clients wait")}``. Default:
            what the factory declares, if no ``profile`` is named.
        fail_fast: Whether to end at the first walk that fails.

    Returns:
        The verdict with what was found. It is printed nowhere.

    Raises:
        BadInput: There is no such subject, contract, profile, rule or way, a number is out of range, or the subject
            cannot be made, or lacks a method. What a subject raises otherwise is a finding.
    """
    for name, number, least in (("walks", walks, 1), ("examples", examples, 0), ("seed", seed, 0)):
        see_number(name, number, least)
    found = subject_of(subject, contract, profile, accepts)
    budget = Budget(seed, walks, examples, fail_fast)
    tasks = [Task(found, each, partial(checked, each, budget), result_of, seed) for each in found.profiles]
    results = tuple(run_all(tasks, 1))
    return Result(found.name, found.contract.name, results, broker_tck.__version__, rulebook())


def see_number(name: str, number: Any, least: int) -> None:
    """BadInput where something is no whole number, or out of range."""
    if not isinstance(number, int) or not least <= number < 2**31:
        raise BadInput(f"{name} is {number!r}; it has to be a whole number from {least} on and below {2**31}")


def subject_of(subject: Callable[..., Any] | str, contract: str | None, profile: str | None, accepts: Any) -> Subject:
    """The subject that is meant, with what is said of it here in the place of what its factory declares."""
    kit = contract_named(contract) if contract is not None else None
    profiles = None if profile is None else (profile,)
    said = accepts if accepts is not None or profile is None else {}
    if isinstance(subject, str):
        return resolve_unloaded(subject, kit, profiles, said)
    name = f"{getattr(subject, '__module__', '?')}:{getattr(subject, '__qualname__', '?')}"
    return declared(name, subject, kit, profiles, said)


class Budget(NamedTuple):
    """What a subject is put through."""

    seed: int
    walks: int
    examples: int
    fail_fast: bool


def checked(profile: str, budget: Budget, subject: Subject, progress: Progress) -> ProfileResult:
    """Check a subject under a profile, in its own process."""
    golden = golden_traces(subject.contract.name, profile)
    seed, walks, examples, fail_fast = budget
    return result_of(check_subject(subject, profile, golden, seed, walks, examples, fail_fast, progress))


def result_of(checked: Checked) -> ProfileResult:
    """The result of a check."""
    run = checked.run
    return ProfileResult(
        run.profile,
        checked.verdict,
        tuple(finding_of(*each) for each in checked.findings),
        tuple(checked.complaints),
        tuple(checked.unseen),
        run.walks,
        run.operations + checked.machine_steps,
        run.residual,
    )


def finding_of(found: Found, note: str) -> Finding:
    """A finding as it is handed out."""
    told = document(found, note)
    trace = to_text(found.contract, found.profile, found.config, found.operations)
    return Finding(found.rule, told.rules, told.diagnosis, story(told), trace, told.replay)
