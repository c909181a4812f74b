"""The version of the rulebook: a digest of every rule of every contract, by number and sentence."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from broker_tck.properties.engine.registry import CONTRACTS

DIGITS = 12


@cache
def rulebook() -> str:
    """The version of the rules that this kit declares; another number, or another sentence, makes another version."""
    rules = sorted(
        f"{contract.name} {rule.number} {rule.sentence}"
        for contract in CONTRACTS.values()
        for rule in contract.rules.values()
    )
    return sha256("\n".join(rules).encode()).hexdigest()[:DIGITS]
