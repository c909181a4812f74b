"""Each known mistake of each rule on each profile, accepted: it is done, or refused with the reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.mistakes import called, mistake_named
from broker_tck.properties.engine.profiles import base_of
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled, declared
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.diagnose import in_words
from broker_tck.properties.mistakes.book import ABSENT, Mistake, mistakes_of, mistakes_with_replaced
from broker_tck.properties.report.finding import way_text

APPLIED = "applied"
CAN = r"; (\S+) can$"
REASONS = {
    "the profile's own": rf"profile \S+ has its own [\w.]+, so it cannot do \S+ '.+'({CAN})?",
    "no such mistake": r"unknown mistake '.+' of \S+(; did you mean '.+'\? There|; there) are: .+",
    "no mistake known": r"profile \S+ knows no mistake of \S+",
    "no such rule": r"profile \S+ has no rule '\S+', which is one of \S.*",
    "nothing to keep": r"profile \S+ does not deviate from \S+; of its rules .+ can be kept",
}
PROFILES = [(contract, profile) for contract in CONTRACTS.values() for profile in contract.profiles]
STEPS = 20
WALK = 8
"""One on which a model that goes on with a known mistake is seen to fail."""
APART = 16
"""Of so many ways one is tried with another one."""
SHARE = 3
"""Each profile tries one mistake in so many; the default profile tries all."""

each_profile = pytest.mark.parametrize(("contract", "profile"), PROFILES, ids=lambda each: getattr(each, "name", each))


def tried(contract: Contract, profile: str) -> str:
    """What became of a profile: applied, when its model walks beside itself, or the reason why it is refused."""
    try:
        model = contract.model(profile)
    except ValueError as error:
        (reason,) = (name for name, says in REASONS.items() if re.fullmatch(says, str(error)))
        if instead := re.search(CAN, str(error)):
            assert tried(contract, f"{instead[1]}~{profile.partition('~')[2]}") == APPLIED
        return reason
    able = able_to(contract, base_of(profile))
    done = walk(contract, walk_seed(0, WALK), lambda config, _: model(config), model, able, STEPS)
    assert done.difference is None, profile
    return APPLIED


@cache
def able_to(contract: Contract, profile: str) -> Any:
    """What a subject can do that has a profile: everything, or what a bundled one can."""
    if profile == contract.default:
        return contract.capabilities()
    return next(subject.capabilities for subject in bundled(contract) if profile in subject.profiles)


def of_contract(contract: Contract) -> Iterator[Mistake]:
    """Every mistake that a profile of the contract knows, once."""
    yield from {
        spelled(mistake): mistake
        for model in contract.profiles.values()
        for mistake, _ in mistakes_with_replaced(model)
    }.values()


def shared(contract: Contract, profile: str, mistakes: Iterable[Mistake]) -> list[Mistake]:
    """The mistakes to be tried on a profile: all on the default one, a share on each other."""
    number = [*contract.profiles].index(profile)
    return [*mistakes][number % SHARE :: SHARE if number else 1]


def spelled(mistake: Mistake) -> str:
    """A mistake as a profile names it."""
    return f"{mistake.rule.number}:{mistake.clause}: {mistake.name}"


@pytest.mark.slow
@each_profile
def test_way_is_done_or_refused_with_the_reason(contract: Contract, profile: str) -> None:
    asked = [spelled(mistake) for mistake in shared(contract, profile, of_contract(contract))]
    told = Counter(tried(contract, f"{profile}~{text}") for text in asked)
    assert told[APPLIED] == len({*asked} & {spelled(mistake) for mistake in mistakes_of(contract.model(profile))})


@pytest.mark.slow
@each_profile
def test_rule_is_kept_or_that_refused_with_the_reason(contract: Contract, profile: str) -> None:
    kept = [number for number in contract.rules if tried(contract, f"{profile}+{number}") == APPLIED]
    for mistake in shared(contract, profile, of_contract(contract)):
        if mistake.rule.number in kept:
            tried(contract, f"{profile}+{mistake.rule.number}~{spelled(mistake)}")


@pytest.mark.slow
@each_profile
def test_way_is_accepted_in_the_words_of_a_finding(contract: Contract, profile: str) -> None:
    model = contract.model(profile)
    for mistake in shared(contract, profile, mistakes_of(model)):
        number = mistake.rule.number
        told = re.search(r"\((.+)\)$", in_words(mistake))
        assert told
        line = way_text(str(mistake)) or f"{mistake.name} ({told[1]})"
        texts = [line, line.replace(" ", "\n  ", 1), called(mistake, by_clause=True)]
        texts += [] if mistake.name == ABSENT else [told[1], str(mistake)]
        named, spelled = mistake_named(model, profile, f"{number}:{line}", contract.profiles)
        assert (named, " " in spelled) == (mistake, False)
        for text in (*texts, spelled.removeprefix(f"{number}:")):
            assert mistake_named(model, profile, f"{number}:{text}", contract.profiles) == (mistake, spelled), text


class Anything:
    """A factory of nothing."""

    def __init__(self, *arguments: Any) -> None:
        """Make nothing."""


@pytest.mark.parametrize(
    ("profile", "rule", "mistake", "says"),
    [
        (
            "heap",
            "DD-11",
            "kept twice (index.put)",
            r"heap has its own index.put, so it cannot do DD-11 'kept twice \(index.put\)'; heap\+DD-11 can$",
        ),
        (
            "heap",
            "DD-11",
            "as specified",
            r"'as specified' is no known mistake of DD-11; heap\+DD-11 does it so$",
        ),
        ("heap", "DD-09", "as specified", "'as specified' is no known mistake of DD-09$"),
        (
            "timebucket-ideal",
            "DD-11",
            "as heap (index.put)",
            r"'as heap \(index.put\)' is the behaviour of profile heap for DD-11; use profile heap",
        ),
    ],
)
def test_words_of_a_finding_that_are_no_way_are_bad_input(profile: str, rule: str, mistake: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        declared("it", Anything, CONTRACTS["delayed-delivery"], (profile,), {rule: mistake})


@pytest.mark.parametrize(
    ("contract", "rule", "mistake", "clause"),
    [
        ("delayed-delivery", "DD-32", "refuses_close: absent", "close"),
        ("delayed-delivery", "DD-21", "timer.forgets_cancelled: unless idle", "timer.forget"),
        ("bucket-delivery", "DD-21", "tracker.timer.forgets_cancelled: unless idle", "tracker.timer.forget"),
        ("bucket-delivery", "BD-41", "tracker.crosses: absent", "tracker.sealing.crosses"),
        ("bucket-delivery", "BD-20", "skipped (tracker.is_given_up)", "tracker.loading.is_given_up"),
        ("active-cursors", "CC-12", "version.AddsNotCounted: an add leaves the version as it is", "add_object"),
        ("active-cursors", "CC-09", "a removed cursor stays in the order", "order.take_out"),
    ],
)
def test_former_name_of_a_way_is_accepted(contract: str, rule: str, mistake: str, clause: str) -> None:
    model = CONTRACTS[contract].model(f"{CONTRACTS[contract].default}~{rule}:{mistake}")
    assert [accepted.clause for accepted in model.ACCEPTS] == [clause]
