"""Known wrong ways by name, as people write them who accept one: the way of a rule, or why it cannot be accepted."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from broker_tck.implementations.naming import asked_back, unknown
from broker_tck.model.reference import Reference
from broker_tck.model.rules import replaced, rules_of
from broker_tck.properties.mistakes.book import AS_SPECIFIED, Way, deviations_of, known_ways, ways_of


def way_named(
    model: type[Reference], profile: str, text: str, profiles: Mapping[str, type[Reference]]
) -> tuple[Way, str]:
    """One known way to do a rule otherwise, as ``RULE:WAY`` says, and how names of profiles spell that.

    ``profile`` is what the model is called, ``profiles`` are those of its contract. ValueError says which ways there
    are, that several are so called, or why the profile cannot do a rule in this way.
    """
    number, _, wanted = text.partition(":")
    wanted = " ".join(wanted.split()).removeprefix(f"{number} ")
    if number not in (rules := [rule.number for rule in rules_of(model)]):
        having = [name for name, other in profiles.items() if number in {rule.number for rule in rules_of(other)}]
        of_others = having and f", which is one of {', '.join(having)}"
        raise ValueError(f"profile {profile} has no rule {number!r}{of_others or asked_back(number, rules)}")
    ways = ways_of(model, number)
    fitting = [way for way in ways if plain(wanted) in spellings(way)]
    if len(fitting) > 1:
        there = ", ".join(repr(called(way, by_clause=True)) for way in fitting)
        raise ValueError(f"{wanted!r} is one of several ways of {number}; say which: {there}")
    if not fitting and (renamed := [way for way in ways if pathless(wanted) in former_spellings(way)]):
        fitting = renamed[:1]
        name = next(name for name, way in names_of(ways).items() if way is fitting[0])
        logging.getLogger(__name__).warning("broker-tck: %s: %r is now called %r", number, wanted, name)
    if not fitting:
        raise ValueError(why_not(model, profile, number, wanted, profiles))
    (way,) = fitting
    return way, f"{number}:{spelled(way, ways)}"


def why_not(
    model: type[Reference], profile: str, number: str, wanted: str, profiles: Mapping[str, type[Reference]]
) -> str:
    """Why a profile cannot do a rule in a way, and what to write instead."""
    back = {} if model.ACCEPTS else {w.clause: w.instead for w in deviations_of(model) if w.rule.number == number}
    kept = f"{profile}+{number}"
    first = wanted.partition(" (")[0]
    if first == AS_SPECIFIED:
        return f"{wanted!r} is no way to do {number} otherwise" + (f"; {kept} does it so" if back else "")
    if first.startswith("as ") and (other := first.removeprefix("as ")) in profiles:
        return f"{wanted!r} is how {other} does {number}; write {other} for the profile"
    for way, own in known_ways(model, number):
        if own and plain(wanted) in spellings(way):
            can = back and way in ways_of(replaced(model, back, kept), number)
            told = f"profile {profile} has its own {own[0]}, so it cannot do {number} {wanted!r}"
            return told + (f"; {kept} can" if can else "")
    ways = names_of(ways_of(model, number))
    if not ways:
        return f"profile {profile} knows no way to do {number} otherwise"
    return unknown("way", wanted.replace("_", " "), ways, of=number)


def names_of(ways: Sequence[Way]) -> dict[str, Way]:
    """Ways of one rule by the names that a subject may accept them by: with the clause where several have a name."""
    return {called(way, is_shared(way, ways)): way for way in ways}


def spelled(way: Way, ways: Sequence[Way]) -> str:
    """A way of one rule in the name of a profile, ``rounded_down`` or ``wants_pause:absent``, among its known ways."""
    name = way.name.replace(" ", "_")
    return f"{way.clause}:{name}" if is_shared(way, ways) else name


def is_shared(way: Way, ways: Sequence[Way]) -> bool:
    """Whether several ways have a way's name."""
    return Counter(each.name for each in ways)[way.name] > 1


def called(way: Way, by_clause: bool = False) -> str:
    """What a way is called in words, ``rounded down``, or with its clause, ``buckets.key: rounded down``."""
    name = way.name.replace("_", " ")
    return f"{way.clause}: {name}" if by_clause else name


def spellings(way: Way) -> set[str]:
    """How a way may be written: as a rule lists it, as a profile has it, and as a finding tells it; each as plain."""
    name = called(way)
    return {plain(name), plain(called(way, by_clause=True)), plain(f"{name} ({way.clause})")}


def former_spellings(way: Way) -> set[str]:
    """How a way might be written by its former name, or with its clause in another part: without the parts' names."""
    clause, _, name = way.was.rpartition(": ")
    former = {name, f"{clause}: {name}", f"{name} ({clause})"} if name else set[str]()
    return {pathless(each) for each in (*former, f"{way.clause}: {way.name}", f"{way.name} ({way.clause})")}


def pathless(text: str) -> str:
    """A way as it is written, without the names of the parts that its clause is in."""
    return re.sub(r"(\w+\.)+(?=\w)", "", plain(text))


def plain(text: str) -> str:
    """A way as it is written, with one space for all that stands between words: spaces, underscores, colons."""
    return re.sub(r"[\s_:]+", " ", text).strip()
