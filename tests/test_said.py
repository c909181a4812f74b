"""What a subject does that gets a rule wrong, in words: each way's own, or made of its rule's."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from kit import CONTRACT, MODEL

from broker_tck.model import said
from broker_tck.model.rules import AS_SPECIFIED, Way, deviations_of, ways_of
from broker_tck.model.said import words_of
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.findings.diagnose import WALKS, Diagnosis
from broker_tck.properties.findings.words import how_sure, in_words

EVERY = [
    (contract, model, way)
    for contract in CONTRACTS.values()
    for model in contract.profiles.values()
    for way in [*ways_of(model), *deviations_of(model)]
]
LEAST = 10
"""So many ways of each contract, at least, have words of their own."""


def way_of(name: str) -> Way:
    return next(way for way in ways_of(MODEL) if str(way) == name)


def test_every_way_is_told_in_a_sentence() -> None:
    for contract, model, way in EVERY:
        told = in_words(way, contract.thing, model)
        assert re.fullmatch(r"[A-Z].*\.", told), told
        assert "_" not in told.replace("mark_delete", "").replace(way.rule.sentence, ""), told
        assert "  " not in told, told


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_many_ways_of_each_contract_have_words_of_their_own(contract: Contract) -> None:
    own = {words_of(way) for of, _, way in EVERY if of is contract and words_of(way)}
    assert len(own) >= LEAST


def test_words_are_of_one_way_alone() -> None:
    """A function that is the way of several clauses would have the words of one of them."""
    known: dict[object, set[tuple[str, str, str]]] = {}
    for _, _, way in EVERY:
        if words_of(way) and way.name != AS_SPECIFIED:
            known.setdefault(way.instead, set()).add((way.rule.number, way.clause.rpartition(".")[2], way.name))
    assert {len(ways) for ways in known.values()} == {1}
    assert len(known) == len(said._SAID)


def test_words_for_no_way_are_an_error() -> None:
    clause = MODEL.Buckets.due
    with pytest.raises(KeyError, match="sideways"):
        said.said(sideways="Your tracker goes sideways.")(clause)


def test_own_words_say_what_the_subject_does() -> None:
    assert in_words(way_of("DD-05 buckets.key: rounded_down"), "tracker", MODEL) == (
        "In strict mode, your tracker rounds a delivery time down; it has to round up."
    )


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("DD-02 absent", "Your tracker does as if there were no such rule: a bucket is P ms wide, "),
        ("DD-02 buckets.width_of: always_ten_bits", "Your tracker gets this wrong ('always ten bits'): a bucket is P "),
        ("DD-27 a new tick brings the timer up to date", "A new tick moves your tracker's timer; "),
        ("DD-24 a firing asks for a read while something is due", "In your tracker, a firing asks for a read while "),
    ],
)
def test_words_are_made_where_a_way_has_none(way: str, told: str) -> None:
    assert in_words(way_of(way), "tracker", MODEL).startswith(told)


def test_way_back_says_what_the_profile_does() -> None:
    model = CONTRACT.profiles["timebucket-2026"]
    (way, *_) = [way for way in deviations_of(model) if way.rule.number == "DD-33"]
    assert in_words(way, "tracker", model).startswith("Your tracker keeps DD-33, from which this profile deviates: ")


@pytest.mark.parametrize(
    ("diagnosis", "told"),
    [
        (Diagnosis(("DD-01",), (), 0), "open: no known wrong way fits; the rule is the one that a table gives"),
        (Diagnosis(("DD-07",), (), 0, law=True), "certain: judged on what was observed alone"),
        (
            Diagnosis(("DD-01",), (EVERY[0][2],), 160, True),
            "certain: on this trace and on 160 whole walks a model ",
        ),
        (Diagnosis(("DD-01", "DD-02"), (EVERY[0][2],), 3), "but on 3 of 20 whole walks; DD-02 may be the one instead"),
        (Diagnosis(("DD-01",), (EVERY[0][2],), 0), "here, though not everywhere: "),
        (Diagnosis(("DD-01",), (EVERY[0][2],), 0), "but on none of 20 whole walks"),
        (Diagnosis(("DD-01",), (EVERY[0][2],), WALKS), "but on 20 whole walks and not on all traces near it"),
    ],
)
def test_it_is_said_how_sure_a_diagnosis_is(diagnosis: Diagnosis, told: str) -> None:
    assert told in how_sure(diagnosis, CONTRACT)


def test_units_are_those_of_observables() -> None:
    for contract in CONTRACTS.values():
        assert contract.units.keys() <= contract.observables.keys(), contract.name
    kinds = chain.from_iterable(contract.units for contract in CONTRACTS.values())
    assert {"count", "armed", "memory", "caches"} <= {*kinds}
