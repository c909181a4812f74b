"""Diagnosis: which known mistake of which rule makes the model agree with the subject.

A mistake *fits* a trace when the model with that mistake agrees with the subject on every step of it. A mistake that
fits the failing trace, all traces near it, and whole walks as well, explains the subject. One that fits the failing
trace and more of those near it than others do explains it there: the subject breaks the rule under a condition of its
own. If none fits, the contract's table names a rule by the operation and what differed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from msgspec import Struct, structs

from broker_tck.implementations.interface import Hang
from broker_tck.model.reference import Reference
from broker_tck.model.rules import clauses_of
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.check import (
    Difference,
    Recorded,
    first_difference,
    observable,
    record,
    unanswered,
)
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract, Step
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import TIME, Operation, bulk, clock_of, marked, valid
from broker_tck.properties.engine.profiles import accepted_by
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk, generated, walk_seed, walks
from broker_tck.properties.mistakes.book import ABSENT, AS_SPECIFIED, Mistake, deviations_of, mistakes_of

WALKS = 20
"""Number of whole walks on which a mistake must agree with the subject to explain it."""
LIKELY = 0.75
"""A mistake that explains the first failure of this share of failing walks is likely."""
GUESSED = 0.25
"""A mistake that explains no more than this share explains nothing."""
MORE = 8
"""If mistakes of several rules explain it, this factor times as many walks tell them apart."""
MOST_NEARBY = 4_000
"""Maximum number of operations of all traces near a failing one together."""
LARGEST = 10_000
"""Maximum number of messages in bulk: a reduced trace that needs more shows no known mistake, and takes minutes."""
TAILS = 16
TAIL = 12
"""In how many ways a failing trace is continued, and by how many operations."""
SEED = 0xD1A6
SECONDS = 2.0

S = TypeVar("S", bound=Struct)
T = TypeVar("T")

Trace = tuple[Any, Sequence[Operation]]
"""Configuration and operations."""
Recording = tuple[Any, Sequence[Step]]
"""Configuration, and operations with what the subject made of them."""
KnownMistake = tuple[Mistake, type[Reference]]
"""A mistake, and the model with it."""


@dataclass(frozen=True)
class Diagnosis:
    """The rules to name, and the mistakes that explain the subject."""

    rules: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    walks: int = 0
    """Number of the diagnoser's whole walks on which the first mistake agrees with the subject."""
    shown: int = 0
    """Number of these walks whose first failure it explains."""
    telling: int = 0
    """On how many of them something goes wrong: the subject or the first mistake leaves the specification."""
    whole: bool = False
    """Whether the subject behaves so everywhere, as far as was walked."""
    invariant: bool = False
    """Whether the rule is an invariant, which no model was needed for."""

    @property
    def likely(self) -> bool:
        """Whether the first mistake explains most of the walks that can tell."""
        return self.whole or 0 < self.shown >= LIKELY * self.telling

    @property
    def support(self) -> float:
        """How well the walks support the first mistake, from 0 to 1."""
        return 1.0 if self.whole else supported(self.shown, self.telling)

    @property
    def sentence(self) -> str:
        """The subject's behaviour, in words."""
        if self.invariant:
            return "Judged by what was observed, without the model."
        if not self.mistakes:
            return "No known mistake explains this."
        behaves = "Behaves" if self.whole else "On this trace, but not everywhere, it behaves"
        return f"{behaves} as if {' or '.join(map(in_words, self.mistakes))}."


def supported(shown: int, telling: int) -> float:
    """How well walks support a mistake: the share of those that can tell which it explains; few of them say less."""
    return shown / (telling + 2)


def in_words(mistake: Mistake) -> str:
    """A mistake as the end of a sentence that begins with "behaves as if"."""
    if mistake.name == ABSENT:
        return f"{mistake.rule.number} were absent ({mistake.clause})"
    if mistake.name == AS_SPECIFIED:
        return f"{mistake.rule.number} were kept, from which the profile deviates ({mistake.clause})"
    what = mistake.name if mistake.stands_before else f"{mistake.clause}: {mistake.name.replace('_', ' ')}"
    return f"{mistake.rule.number} were done otherwise ({what})"


@cache
def known_mistakes(model: type[Reference]) -> tuple[KnownMistake, ...]:
    """The model with each of its known mistakes, those that lead back from a deviation included."""
    return tuple((mistake, mistake.applied_to(model)) for mistake in [*mistakes_of(model), *deviations_of(model)])


@cache
def back_models(contract: Contract, model: type[Reference]) -> tuple[KnownMistake, ...]:
    """For each accepted deviation, the models that do the rule in another way, or as specified.

    If the deviation replaces a clause, :func:`known_mistakes` has the model that does it as specified.
    """
    found: list[KnownMistake] = []
    for accepted, (_, profile) in zip(model.ACCEPTS, accepted_by(model.PROFILE), strict=True):
        without = contract.model(profile)
        if accepted.clause not in {clause.path for clause in clauses_of(without)}:
            found.append((replace(accepted, name=AS_SPECIFIED), without))
        others = (mistake for mistake in mistakes_of(without) if mistake.rule == accepted.rule and mistake != accepted)
        found += [(mistake, mistake.applied_to(without)) for mistake in others]
    return tuple(found)


class Diagnoser:
    """Explains what one subject does wrong under one model, and remembers what it learns of mistakes.

    ``itself`` is the subject's model, if the subject is a model: no walk must show that it agrees with itself.
    ``count`` is the number of whole walks on which a mistake must agree with the subject to explain it.
    """

    def __init__(
        self,
        subject: Subject,
        model: type[Reference],
        itself: type[Reference] | None = None,
        count: int = WALKS,
    ) -> None:
        self.subject = subject
        self.contract = subject.contract
        self.model = model
        self.itself = itself
        self.count = count
        self._walks: dict[Mistake, int] = {}
        self._borne_out: dict[Mistake, tuple[int, int]] = {}

    def recorded(self, config: Any, operations: Sequence[Operation]) -> Recording | None:
        """What the subject does on a trace; None if it hangs, or cannot be asked for it."""
        if not self.contract.can_ask(operations, self.subject.capabilities):
            return None
        try:
            with Limit(SECONDS if self.itself else 0):
                return config, record(operations, self.subject.fresh(config))
        except (Hang, Exception):
            return None

    def fits(self, model: type[Reference], recording: Recording) -> bool:
        """Whether a model agrees with the subject on every step of a trace."""
        BOX.alive()
        config, steps = recording
        try:
            with Limit(SECONDS):
                return first_difference((s.operation for s in steps), model(config), Recorded(steps)) is None
        except (Hang, Exception):
            return False

    def fitting(
        self, config: Any, operations: Sequence[Operation], chosen: Iterable[KnownMistake] | None = None
    ) -> list[KnownMistake]:
        """The mistakes that fit a trace, of all or of those chosen; none if the model does, too.

        If a subject fails only while some observables are not asked for, a recording shows nothing.
        """
        recording = self.recorded(config, operations)
        if recording is None or self.fits(self.model, recording):
            return []
        return [wrong for wrong in (self.known if chosen is None else chosen) if self.fits(wrong[1], recording)]

    @property
    def known(self) -> list[KnownMistake]:
        """All mistakes that may explain a subject."""
        return [*known_mistakes(self.model), *back_models(self.contract, self.model)]

    def explains(self, diagnosis: Diagnosis, config: Any, operations: Sequence[Operation]) -> bool:
        """Whether a mistake of a diagnosis holds on every step of another failing trace as well."""
        mistakes = self.named(diagnosis)
        return bool(mistakes and self.fitting(config, operations, mistakes))

    def comes_up(self, diagnosis: Diagnosis, config: Any, operations: Sequence[Operation]) -> bool:
        """Whether a mistake of a diagnosis leaves the specification on a trace, be it otherwise than the subject does.

        On a reduced trace each operation matters: the subject has the mistake under a condition of its own.
        """
        mistakes = [wrong for _, wrong in self.named(diagnosis)]
        try:
            with Limit(SECONDS):
                return any(first_difference(operations, self.model(config), wrong(config)) for wrong in mistakes)
        except (Hang, Exception):
            return False

    def named(self, diagnosis: Diagnosis) -> list[KnownMistake]:
        """The mistakes that a diagnosis names, each with its model.

        One that is no known mistake is applied to this model; one of a part that only another profile has is left out.
        """
        known, found = dict(self.known), list[KnownMistake]()
        for mistake in diagnosis.mistakes:
            with suppress(LookupError):
                found.append((mistake, known.get(mistake) or mistake.applied_to(self.model)))
        return found

    def walks(self, mistake: Mistake, wrong: type[Reference]) -> int:
        """The number of walks, made with the model of this mistake, on which the subject agrees with it."""
        if mistake not in self._walks:
            self._walks[mistake] = sum(self._walk_agrees(wrong, number) for number in range(self.count))
        return self._walks[mistake]

    def borne_out(self, mistake: Mistake, wrong: type[Reference]) -> tuple[int, int]:
        """The number of these walks whose first failure it explains, and the number of failing walks.

        A subject with several mistakes agrees with none of them to the end of a walk.
        """
        if mistake not in self._borne_out:
            told = [self._explains_the_first(wrong, number) for number in range(self.count)]
            self._borne_out[mistake] = told.count(True), self.count - told.count(None)
        return self._borne_out[mistake]

    def _explains_the_first(self, wrong: type[Reference], number: int) -> bool | None:
        done = self._walked(wrong, number)
        if done is None:
            return False
        alike = done.operations[:-1] if done.difference else done.operations
        models = self.model(done.config), wrong(done.config)
        if first_difference(alike, *models, glimpse=self.contract.expensive):
            return True
        return False if done.difference else None

    def _walk_agrees(self, wrong: type[Reference], number: int) -> bool:
        if wrong is self.itself:
            return True
        done = self._walked(wrong, number)
        return done is not None and done.difference is None

    def _walked(self, wrong: type[Reference], number: int) -> Walk | None:
        try:
            return next(
                walks(self.contract, SEED, (number,), self.subject.adapter, wrong, self.subject.capabilities, SECONDS)
            )
        except Exception:
            return None

    def diagnose(self, trace: Trace, difference: Difference) -> Diagnosis:
        """Name the rules that the subject breaks on a failing trace.

        The mistakes that fit it are ranked by how many traces near it, then by how many whole walks, they fit as well.
        If the best of them explains the subject everywhere, it is the diagnosis. If not, it is what the walks
        support, see :meth:`best_supported`. Only then does it matter how many traces a mistake fits that does not fit
        all; such a mistake may come to no end on each of them.
        """
        config, operations = trace
        guess = fallback_rule(self.contract, operations, difference)
        fitting = [] if unanswered(difference) or bulk(operations) > LARGEST else self.fitting(config, operations)
        if not fitting:
            return Diagnosis((guess,), ())
        near = [r for t in chain(nearby(*trace), self.continued(*trace)) if (r := self.recorded(*t))]
        whole = [fit for fit in fitting if all(self.fits(fit[1], recording) for recording in near)]
        fits = self.in_order(whole, guess)
        if not fits or self.walks(*fits[0]) < self.count:
            scored = [(len(near) if fit in whole else sum(self.fits(fit[1], r) for r in near), fit) for fit in fitting]
            return self.best_supported(guess, scored, self.in_order(best(scored), guess))
        mistakes = self.told_apart([fit for fit in fits if self.walks(*fit) == self.count])
        rules = tuple(dict.fromkeys(mistake.rule.number for mistake in mistakes))[:2]
        return Diagnosis(
            rules, tuple(mistake for mistake in mistakes if mistake.rule.number in rules)[:3], self.count, whole=True
        )

    def in_order(self, fits: Iterable[KnownMistake], guess: str) -> list[KnownMistake]:
        """Mistakes by the number of whole walks that they fit; of those that fit as many, those of a rule first."""
        return sorted(fits, key=lambda fit: (-self.walks(*fit), fit[0].rule.number != guess))

    def best_supported(self, guess: str, scored: list[tuple[int, KnownMistake]], fits: list[KnownMistake]) -> Diagnosis:
        """The diagnosis if no mistake explains the subject everywhere: the mistake that the walks support best.

        ``scored`` are the mistakes that fit the trace, ``fits`` those that fit most traces near it. The second rule
        is that of a mistake that is supported as well, else ``guess``. A mistake that few walks support explains
        nothing, but the rule of the best such mistake is named second.
        """
        ranked = [(supported(*self.borne_out(*fit)), score, fit) for score, fit in scored]
        first = max((support, score) for support, score, _ in ranked)
        alike = [fit for support, score, fit in ranked if (support, score) == first]
        alike.sort(key=lambda fit: (-self.walks(*fit), fit[0].rule.number != guess))
        shown, telling = self.borne_out(*alike[0])
        if shown <= GUESSED * telling:
            return Diagnosis(tuple(dict.fromkeys([guess, fits[0][0].rule.number])), ())
        rules = tuple(dict.fromkeys([mistake.rule.number for mistake, _ in alike] + [guess]))[:2]
        named = tuple(mistake for mistake, _ in alike if mistake.rule.number in rules)[:3]
        return Diagnosis(rules, named, self.walks(*alike[0]), shown, telling)

    def continued(self, config: Any, operations: Sequence[Operation]) -> Iterator[Trace]:
        """The failing trace and how it might go on, several times."""
        for number in range(TAILS):
            model: Any = self.model(config)
            choices = SeededChoices(walk_seed(SEED, number))
            on = list(operations)
            record(on, model)
            for operation in generated(self.contract, model, choices, self.subject.capabilities, TAIL):
                on.append(operation)
                record([operation], model)
            yield config, on

    def told_apart(self, tied: list[KnownMistake]) -> list[Mistake]:
        """Of mistakes of several rules that agree with the subject on every walk: those that agree longest."""
        for number in range(self.count, MORE * self.count):
            if len({mistake.rule.number for mistake, _ in tied}) < 2:
                break
            tied = [fit for fit in tied if self._walk_agrees(fit[1], number)] or tied
        return [mistake for mistake, _ in tied]


def best(scored: list[tuple[int, T]]) -> list[T]:
    """The items with the highest score."""
    most = max((score for score, _ in scored), default=0)
    return [scoring for score, scoring in scored if score == most]


def nearby(config: Any, operations: Sequence[Operation]) -> list[Trace]:
    """Traces that differ in one place: an operation left out, repeated or swapped, a number a little other."""
    near: list[Trace] = []
    for i, operation in enumerate(operations):
        before, after = operations[:i], operations[i + 1 :]
        near += [(config, [*before, *after]), (config, [*before, operation, operation, *after])]
        near += [(config, [*before, after[0], operation, *after[1:]])] if after else []
        near += [(config, [*before, other, *after]) for other in changed(operation, config)]
    near += [(other, operations) for other in changed(config, config)]
    cost = len(operations) + bulk(operations)
    return near[:: 1 + len(near) * cost // MOST_NEARBY]


def changed(record: S, config: Any) -> Iterator[S]:
    """A configuration or an operation with one field changed."""
    times = marked(type(record), TIME)
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, bool):
            yield structs.replace(record, **{name: not value})
        if type(value) is not int:
            continue
        zero = (clock_of(config) or 0) if name in times else 0
        for other in (value - 1, value + 1, value - 100, value + 100, zero + 2 * (value - zero)):
            near = structs.replace(record, **{name: other})
            if other > 0 and other != value and valid(near):
                yield near


def fallback_rule(contract: Contract, operations: Sequence[Operation], difference: Difference) -> str:
    """The rule that the contract's table names for a difference at the end of a trace."""
    expected, seen = plain(difference.expected), plain(difference.seen)
    return contract.fallback_rule(operations, observable(contract, difference), expected, seen)
