"""The races of a class of Java: programs are drawn for it, run and judged, and each race is made shorter."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.implementations.jvm.box import JavaBox
from broker_tck.implementations.jvm.subject import JavaFactory
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.errors import BadInput
from broker_tck.properties.threads.drawn import drawn
from broker_tck.properties.threads.program import Program, promised
from broker_tck.properties.threads.reduce import Reducer
from broker_tck.properties.threads.search import Budget, Searched, Searcher


def java_of(subject: Subject) -> JavaFactory | JavaBox:
    """The class of Java that a subject is. Raises BadInput if threads cannot call it, or if nothing is promised."""
    if not isinstance(subject.factory, JavaFactory | JavaBox):
        such = "threads call only classes of a release, such as pulsar-5.0.1/range-cache, and boxes of your own"
        raise BadInput(f"{subject.name}: {such}")
    promised(subject.contract)
    return subject.factory


def search_races(
    subject: Subject,
    model: type[Reference],
    budget: Budget,
    seed: int,
    tell: Callable[[Searched, float], None],
    first: int = 0,
) -> Searcher:
    """Search races in the programs of a seed from one on; the searcher has what was found.

    ``tell`` is called after each program, with what was found and the seconds.
    """
    java = java_of(subject)
    explorer, apart = java.explorer, java.apart
    searcher = Searcher(explorer, model, budget, seed)

    def draw(number: int) -> Program:
        choices = SeededChoices(walk_seed(seed, number))
        return drawn(subject.contract, model, subject.capabilities, choices, apart)

    searcher.search(draw, tell, first)
    return searcher


def shorter_races(searcher: Searcher, tell: Callable[[Reducer], None] = lambda _: None) -> Searched:
    """What a searcher has found, with the least race of each promise made shorter.

    ``tell`` is called after each program that was tried for that.
    """
    found = searcher.found
    found.races = {promise: Reducer(race, searcher.likewise, tell).reduced() for promise, race in found.races.items()}
    return found
