"""Proves the book of mistakes: each one runs as the subject, a walk notices it, and its own rule is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject, as_subject, contract_named, mutants, resolve
from broker_tck.properties.engine.trace import to_text
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.explain.deviating import along, breaks
from broker_tck.properties.explain.diagnose import Diagnoser, known_mistakes
from broker_tck.properties.explain.finding import Finding, find, find_breach
from broker_tck.properties.mistakes.book import Mistake, mistakes_of
from broker_tck.properties.proving.proofs import BY_TRACE_ALONE, Proof, failed_again, found_again, stored
from broker_tck.properties.search.isolation.pool import in_parallel

WALKS = 1_000
"""Number of walks in which a mistake must be noticed: as many as a check makes."""
SHORT = 12
"""A reduced trace of more operations is reduced again from another failing walk."""
REDUCED = 3
"""Number of failing walks that are reduced at most."""


class Candidate(NamedTuple):
    """A known mistake that can be the subject: a wrong model, or a broken implementation."""

    contract: str
    profile: str
    rule: str
    name: str
    says: str
    seen: str
    implementation: bool = False


class Proved(NamedTuple):
    """What became of a mistake."""

    mistake: Candidate
    proof: Proof | None
    """None: no walk notices it."""
    walk: int
    """The number of the walk that fails, or :data:`BY_TRACE_ALONE`."""
    searched: bool
    """Whether a failing walk was searched for: none is stored, or the stored one no longer fails."""

    @property
    def own(self) -> bool:
        """Whether its own rule was named, alone or with one other."""
        return self.proof is not None and self.mistake.rule in self.proof.rules

    @property
    def alone(self) -> bool:
        """Whether its own rule was named alone."""
        return self.proof is not None and self.proof.rules == (self.mistake.rule,)


def mistakes(contract: Contract, profile: str) -> list[Candidate]:
    """The known mistakes of a profile; with those of the contract's own profile, the broken implementations."""
    found = [
        Candidate(contract.name, profile, known.rule.number, name_of(known), known.says, known.seen)
        for known in mistakes_of(contract.model(profile))
    ]
    broken = mutants(contract) if profile == contract.default else ()
    return found + [
        Candidate(contract.name, "", m.rule, m.name, m.wrong, m.source, implementation=True) for m in broken
    ]


def name_of(known: Mistake) -> str:
    """A name that no other mistake of the model has."""
    return f"{known.rule.number} {known.clause}: {known.name}"


def prove_all(
    chosen: Sequence[Candidate],
    seed: int = 0,
    anew: bool = False,
    progress: Callable[[int, Proved | None], None] | None = None,
) -> list[Proved]:
    """Prove mistakes on all cores. ``anew`` ignores what is stored, which is of seed 0."""
    return in_parallel(partial(prove, seed=seed, anew=anew or seed != 0), list(chosen), progress)


def prove(mistake: Candidate, seed: int = 0, anew: bool = False) -> Proved:
    """Run a mistake as the subject: on the stored walk and trace, or else from the first walk on.

    If the trace still shows the mistake and only the walk does not, the trace is kept.
    """
    subject, model, itself = suspect(mistake)
    if subject.contract.rules[mistake.rule].invariant:
        return prove_alone(mistake, subject, model, seed)
    known = None if anew else next((p for p in stored() if is_of(p, mistake)), None)
    finding = found_again(known.trace, mistake.rule, subject, model, itself) if known else None
    if known and finding and (known.walk == BY_TRACE_ALONE or failed_again(subject, model, known.walk, seed)):
        return Proved(mistake, proof_of(mistake, known.walk, finding), known.walk, searched=False)
    diagnoser = Diagnoser(subject, model, itself)
    number, found = searched(diagnoser, seed, finding)
    return Proved(mistake, proof_of(mistake, number, found) if found else None, number, searched=True)


def prove_alone(mistake: Candidate, subject: Subject, model: type[Reference], seed: int) -> Proved:
    """Prove a mistake that only an invariant shows: a subject that makes it breaks that one on a walk, judged alone."""
    for number, done in enumerate(along(subject, model, seed, WALKS)):
        if breaks(subject, mistake.rule, done):
            finding = find_breach(subject, model, mistake.rule, done)
            return Proved(mistake, proof_of(mistake, number, finding) if finding else None, number, searched=False)
    return Proved(mistake, None, BY_TRACE_ALONE, searched=False)


def is_of(proof: Proof, mistake: Candidate) -> bool:
    """Whether a stored proof is one of a mistake, under the contract's own profile."""
    own = mistake.profile in ("", contract_named(mistake.contract).default)
    return own and (proof.contract, proof.mistake, proof.invariant) == (mistake.contract, mistake.name, "")


def suspect(mistake: Candidate) -> tuple[Subject, type[Reference], type[Reference] | None]:
    """A mistake as a subject, the model that it is checked against, and the model that it is, if it is one."""
    contract = contract_named(mistake.contract)
    if mistake.implementation:
        subject = resolve(f"mutant:{mistake.name}")
        return subject, contract.model(subject.profiles[0]), None
    model = contract.model(mistake.profile)
    known = next(known for known in mistakes_of(model) if name_of(known) == mistake.name)
    wrong = dict(known_mistakes(model))[known]
    return as_subject(str(known), contract, wrong), model, wrong


def proof_of(mistake: Candidate, number: int, finding: Finding) -> Proof:
    """The line of a mistake."""
    trace = to_text(finding.contract, finding.profile, finding.config, finding.operations)
    return Proof(mistake.contract, mistake.name, number, trace, finding.diagnosis.rules)


def searched(diagnoser: Diagnoser, seed: int, known: Finding | None) -> tuple[int, Finding | None]:
    """The number of the first walk that fails, and the finding that is known or that it comes to.

    If none of :data:`WALKS` does, the finding that is known, or None.
    """
    subject, numbers = diagnoser.subject, range(WALKS)
    made = walks(
        subject.contract, seed, numbers, subject.adapter, diagnoser.model, subject.capabilities, subject.seconds
    )
    for number, done in enumerate(made):
        if done.difference:
            return number, known or shortest(diagnoser, done, made)
    return BY_TRACE_ALONE, known


def shortest(diagnoser: Diagnoser, failed: Walk, others: Iterator[Walk]) -> Finding | None:
    """The finding with the shortest trace, of a failing walk and, while that is long, of a few others."""
    best: Finding | None = None
    for _ in range(REDUCED):
        finding = find(diagnoser, failed)
        if finding and (best is None or len(finding.operations) < len(best.operations)):
            best = finding
        if best and len(best.operations) <= SHORT:
            break
        failed = next((other for other in others if other.difference), failed)
    return best


def proofs_of(proved: Iterable[Proved]) -> list[Proof]:
    """The lines of what was proved by its own rule."""
    return [each.proof for each in proved if each.proof and each.own]
