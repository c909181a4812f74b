"""The book of mistakes is proved: stored proofs cover it, and a mistake that no walk notices is told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from conftest import Cli
from kit import CONTRACT

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.proving import invariants, prove
from broker_tck.properties.proving.invariants import to_break, unproven
from broker_tck.properties.proving.proofs import BY_TRACE_ALONE, Proof, stored
from broker_tck.properties.proving.prove import Proved, mistakes, proofs_of

ONE = ("--contract", "delayed-delivery")
MISTAKE = next(each for each in mistakes(CONTRACT, CONTRACT.default) if each.rule == "DD-09")
STALE = (
    Proof(CONTRACT.name, MISTAKE.name, 9_999, "delayed-delivery; add 1 0 +2000; get 1"),
    Proof(CONTRACT.name, MISTAKE.name, 0, "fly 1"),
    Proof(CONTRACT.name, MISTAKE.name, 0, ""),
)
"""Proofs that do not hold: a trace that does not fail, and two texts that are no traces."""


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_every_mistake_and_invariant_has_a_line(contract: Contract) -> None:
    mine = [proof for proof in stored() if proof.contract == contract.name]
    assert [p.mistake for p in mine if not p.invariant] == [m.name for m in mistakes(contract, contract.default)]
    assert [p.invariant for p in mine if p.invariant] == to_break(contract, contract.default)
    assert all(proof.trace.count(";") <= 30 for proof in mine), "a trace that nobody reads"


def test_every_checkable_rule_is_proved_by_its_own_mistake() -> None:
    for contract in CONTRACTS.values():
        rules = {p.mistake: p.rules for p in stored() if p.contract == contract.name and not p.invariant}
        proved = [
            Proved(each, Proof(contract.name, each.name, 0, "", rules[each.name]), 0, searched=False)
            for each in mistakes(contract, contract.default)
        ]
        broken = {p.invariant: p.mistake for p in stored() if p.contract == contract.name and p.invariant}
        assert unproven(contract, contract.default, proved, broken) == []


@pytest.mark.parametrize("known", [None, *STALE])
def test_mistake_is_searched_for_if_its_stored_proof_does_not_hold(
    known: Proof | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = prove.prove(MISTAKE)
    assert (held.searched, held.own) == (False, True)
    monkeypatch.setattr(prove, "stored", lambda: (known,) if known else ())
    again = prove.prove(MISTAKE)
    assert (again.searched, again.own, again.walk) == (True, True, held.walk)


def test_trace_is_kept_if_only_its_walk_no_longer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    held = prove.prove(MISTAKE)
    monkeypatch.setattr(prove, "failed_again", lambda *asked: None)
    monkeypatch.setattr(prove, "find", lambda *asked: pytest.fail("it was reduced again"))
    again = prove.prove(MISTAKE)
    assert again.searched
    assert again.proof == held.proof


def test_trace_is_enough_if_no_walk_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    held = prove.prove(MISTAKE)
    assert held.proof
    monkeypatch.setattr(prove, "WALKS", 0)
    monkeypatch.setattr(prove, "stored", lambda: (msgspec.structs.replace(held.proof, walk=9_999),))
    monkeypatch.setattr(prove, "failed_again", lambda *asked: None)
    alone = prove.prove(MISTAKE)
    assert (alone.own, alone.walk, alone.searched) == (True, BY_TRACE_ALONE, True)
    monkeypatch.setattr(prove, "stored", lambda: (alone.proof,))
    again = prove.prove(MISTAKE)
    assert (again.own, again.walk, again.searched) == (True, BY_TRACE_ALONE, False)


def test_rule_that_nothing_proves_is_told() -> None:
    missing = unproven(CONTRACT, CONTRACT.default, [], {"DD-07": "a mistake"})
    assert "DD-09" in missing
    assert "DD-07" not in missing
    assert proofs_of([Proved(MISTAKE, Proof(CONTRACT.name, "of another rule", rules=("DD-01",)), 0, True)]) == []


def test_known_breaker_of_an_invariant_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    known = invariants.known_to_break(CONTRACT)
    tried = list[int]()

    class Here:
        """Works in this process."""

        def map(self, work: Any, indexes: Any, wanted: Any) -> list[list[str]]:
            """Note what is tried; everything is broken by the first."""
            pairs = list(zip(indexes, wanted, strict=False))
            tried.extend(index for index, _ in pairs)
            return [sorted(names) for _, names in pairs]

    pool: Any = Here()
    assert invariants.table(CONTRACT, CONTRACT.default, 0, pool, known) == known
    assert len(tried) == len(known)
    assert invariants.table(CONTRACT, CONTRACT.default, 0, pool, dict.fromkeys(known, "")) == {}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--mistake", "duplicate-count"), "unknown mistake 'duplicate-count'"),
        (("--rule", "DD-99"), "no known mistake is in DD-99"),
        (("--write", "x.jsonl", "--seed", "7"), "--write writes all proofs of seed 0"),
    ],
)
def test_bad_input_is_told_in_a_line(cli: Cli, words: tuple[str, ...], says: str) -> None:
    status, out, err = cli("prove", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
