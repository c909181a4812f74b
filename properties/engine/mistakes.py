"""Known mistakes by name, as a subject writes them that accepts one; or why one cannot be accepted."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from broker_tck.implementations.naming import asked_back, unknown
from broker_tck.model.reference import Reference
from broker_tck.model.rules import replaced, rules_of
from broker_tck.properties.mistakes.book import (
    AS_SPECIFIED,
    Mistake,
    deviations_of,
    mistakes_of,
    mistakes_with_replaced,
)


def mistake_named(
    model: type[Reference], profile: str, text: str, profiles: Mapping[str, type[Reference]]
) -> tuple[Mistake, str]:
    """The known mistake that ``RULE:NAME`` names, and how names of profiles spell it.

    ``profile`` is what the model is called, ``profiles`` are those of its contract. ValueError says which mistakes
    there are, that several are so called, or why the profile cannot do a rule in this way.
    """
    number, _, wanted = text.partition(":")
    wanted = " ".join(wanted.split()).removeprefix(f"{number} ")
    if number not in (rules := [rule.number for rule in rules_of(model)]):
        having = [name for name, other in profiles.items() if number in {rule.number for rule in rules_of(other)}]
        of_others = having and f", which is one of {', '.join(having)}"
        raise ValueError(f"profile {profile} has no rule {number!r}{of_others or asked_back(number, rules)}")
    mistakes = mistakes_of(model, number)
    fitting = [mistake for mistake in mistakes if plain(wanted) in spellings(mistake)]
    if len(fitting) > 1:
        there = ", ".join(repr(called(mistake, by_clause=True)) for mistake in fitting)
        raise ValueError(f"{wanted!r} names several mistakes of {number}; choose one: {there}")
    if not fitting and (renamed := [mistake for mistake in mistakes if pathless(wanted) in former_spellings(mistake)]):
        fitting = renamed[:1]
        name = next(name for name, mistake in names_of(mistakes).items() if mistake is fitting[0])
        logging.getLogger(__name__).warning("broker-tck: %s: %r is now called %r", number, wanted, name)
    if not fitting:
        raise ValueError(why_not(model, profile, number, wanted, profiles))
    (mistake,) = fitting
    return mistake, f"{number}:{spelled(mistake, mistakes)}"


def why_not(
    model: type[Reference], profile: str, number: str, wanted: str, profiles: Mapping[str, type[Reference]]
) -> str:
    """Why a profile cannot do a rule in a mistake, and what to write instead."""
    back = {} if model.ACCEPTS else {w.clause: w.instead for w in deviations_of(model) if w.rule.number == number}
    kept = f"{profile}+{number}"
    first = wanted.partition(" (")[0]
    if first == AS_SPECIFIED:
        return f"{wanted!r} is no known mistake of {number}" + (f"; {kept} does it so" if back else "")
    if first.startswith("as ") and (other := first.removeprefix("as ")) in profiles:
        return f"{wanted!r} is the behaviour of profile {other} for {number}; use profile {other}"
    for mistake, own in mistakes_with_replaced(model, number):
        if own and plain(wanted) in spellings(mistake):
            can = back and mistake in mistakes_of(replaced(model, back, kept), number)
            told = f"profile {profile} has its own {own[0]}, so it cannot do {number} {wanted!r}"
            return told + (f"; {kept} can" if can else "")
    mistakes = names_of(mistakes_of(model, number))
    if not mistakes:
        return f"profile {profile} knows no mistake of {number}"
    return unknown("mistake", wanted.replace("_", " "), mistakes, of=number)


def names_of(mistakes: Sequence[Mistake]) -> dict[str, Mistake]:
    """Ways of one rule by the names that a subject may accept them by: with the clause where several have a name."""
    return {called(mistake, is_shared(mistake, mistakes)): mistake for mistake in mistakes}


def spelled(mistake: Mistake, mistakes: Sequence[Mistake]) -> str:
    """How the name of a profile spells a mistake of one rule: ``rounded_down``, or ``wants_pause:absent``."""
    name = mistake.name.replace(" ", "_")
    return f"{mistake.clause}:{name}" if is_shared(mistake, mistakes) else name


def is_shared(mistake: Mistake, mistakes: Sequence[Mistake]) -> bool:
    """Whether several mistakes have a mistake's name."""
    return Counter(each.name for each in mistakes)[mistake.name] > 1


def called(mistake: Mistake, by_clause: bool = False) -> str:
    """What a mistake is called in words, ``rounded down``, or with its clause, ``buckets.key: rounded down``."""
    name = mistake.name.replace("_", " ")
    return f"{mistake.clause}: {name}" if by_clause else name


def spellings(mistake: Mistake) -> set[str]:
    """How a mistake may be written: as a rule lists it, as a profile spells it, as a finding names it."""
    name = called(mistake)
    return {plain(name), plain(called(mistake, by_clause=True)), plain(f"{name} ({mistake.clause})")}


def former_spellings(mistake: Mistake) -> set[str]:
    """How a mistake may be written by its former name, or without the names of parts."""
    clause, _, name = mistake.was.rpartition(": ")
    former = {name, f"{clause}: {name}", f"{name} ({clause})"} if name else set[str]()
    return {
        pathless(each) for each in (*former, f"{mistake.clause}: {mistake.name}", f"{mistake.name} ({mistake.clause})")
    }


def pathless(text: str) -> str:
    """A mistake as it is written, without the names of the parts that its clause is in."""
    return re.sub(r"(\w+\.)+(?=\w)", "", plain(text))


def plain(text: str) -> str:
    """A mistake as it is written, with one space for all that stands between words: spaces, underscores, colons."""
    return re.sub(r"[\s_:]+", " ", text).strip()
