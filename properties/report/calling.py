"""A check called from Python: ``from broker_tck import check``. It returns typed results, and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from broker_tck.properties.engine.subjects import Subject, contract_named, declared
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.guarding import Task, run_all
from broker_tck.properties.report.made import checked_in, profile_result
from broker_tck.properties.report.result import CheckResult, check_result
from broker_tck.properties.search.budget import EXAMPLES, WALKS, Budget
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded


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
) -> CheckResult:
    """Check a subject against its contract, as ``broker-tck check`` does.

    Args:
        subject: A factory, such as the class of a tracker, or the name of a subject: a bundled one, an entry point,
            ``package.module:Factory``, ``mutant:NAME``, ``pulsar-VERSION/CLASS``, or ``exec:COMMAND``.
        contract: The name of the contract. Default: the one that the factory declares.
        profile: The name of the profile. Default: each profile that the factory declares.
        walks: Number of random walks under each profile, 1 or more. A walk has some 400 operations.
        examples: Number of examples of the Hypothesis machine, 0 or more.
        seed: The seed of the walks, from 0 to 2³¹ - 1. The same seed makes the same walks.
        accepts: The rules that the subject breaks on purpose, by number, each with the known mistake that it makes,
            or with the mistake and the reason: ``{"DD-05": ("rounded down", "our clients wait")}``. Default: what the
            factory declares, if no ``profile`` is named.
        fail_fast: Whether to end at the first walk that fails.

    Returns:
        The verdict and the findings. Nothing is printed.

    Raises:
        BadInput: The subject, contract, profile, rule or mistake is unknown, a number is out of range, or the subject
            cannot be made or lacks a method. If a subject raises later, that is a finding.
    """
    for name, number, least in (("walks", walks, 1), ("examples", examples, 0), ("seed", seed, 0)):
        see_number(name, number, least)
    found = subject_of(subject, contract, profile, accepts)
    asked = Budget(seed, walks, examples, fail_fast=fail_fast)
    tasks = [Task(found, each, partial(checked_in, each, asked), profile_result, seed) for each in found.profiles]
    return check_result(run_all(tasks, 1))


def see_number(name: str, number: Any, least: int) -> None:
    """Raise BadInput if a value is not a whole number, or out of range."""
    if not isinstance(number, int) or not least <= number < 2**31:
        raise BadInput(f"{name} is {number!r}; it must be a whole number from {least} to {2**31 - 1}")


def subject_of(subject: Callable[..., Any] | str, contract: str | None, profile: str | None, accepts: Any) -> Subject:
    """The subject. The values given here replace what its factory declares."""
    kit = contract_named(contract) if contract is not None else None
    profiles = None if profile is None else (profile,)
    said = accepts if accepts is not None or profile is None else {}
    if isinstance(subject, str):
        return resolve_unloaded(subject, kit, profiles, said)
    name = f"{getattr(subject, '__module__', '?')}:{getattr(subject, '__qualname__', '?')}"
    return declared(name, subject, kit, profiles, said)
