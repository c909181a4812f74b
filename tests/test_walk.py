"""Walks: the same from the same seed everywhere, no more clock steps than they need, and everything in them."""

from __future__ import annotations

import gc
import json
from collections import Counter
from functools import cache
from typing import Any

import pytest
import refresh
from kit import CONTRACT, MODEL, ROOT, python, walked

from broker_tck.model.rules import replaced
from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.subjects import bundled
from broker_tck.properties.engine.walk import COLLECTED, Walk, walk, walk_seed

pytestmark = pytest.mark.smoke

PAIRS = [(s, profile) for s in bundled(CONTRACT) for profile in s.profiles]
IDS = [profile for _, profile in PAIRS]


@cache
def some(index: int) -> tuple[Walk, ...]:
    subject, profile = PAIRS[index]
    return tuple(walked(subject, number, profile) for number in range(80))


@pytest.fixture(params=range(len(PAIRS)), ids=IDS)
def walks(request: pytest.FixtureRequest) -> tuple[Walk, ...]:
    return some(request.param)


def committed() -> dict[str, str]:
    found = json.loads(refresh.DIGESTS.read_text(encoding="utf-8"))
    del found["shard"]
    return dict(found)


@pytest.mark.slow
def test_digest_is_the_committed_one_under_another_hash_seed() -> None:
    """`python tests/refresh.py` writes it, where walks are meant to change."""
    code = "import json, refresh; print(json.dumps(refresh.digests()))"
    done = python("-c", code, cwd=ROOT / "tests", PYTHONHASHSEED="4242")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == committed()


@pytest.mark.slow
def test_walks_get_near_every_edge() -> None:
    """Times at the cut-off and one beside it, budgets about what is held, entry ids about a container's end."""
    beside: Counter[int] = Counter()
    budgets: Counter[str] = Counter()
    highest = 0
    for done in some(0):
        model = MODEL(done.config)
        operations: list[Any] = done.operations
        for operation in operations:
            if operation.tag == "add":
                beside[operation.at - model.buckets.cutoff(model.timer.now)] += 1
                highest = max(highest, operation.entry)
            if operation.tag == "get" and model.count() > 2:
                budgets["all" if operation.most >= model.count() else "some"] += 1
            operation.on(model)
    assert min(beside[-1], beside[0], beside[1]) > 20
    assert min(budgets["all"], budgets["some"]) > 100
    assert highest > 2**31


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(PAIRS)), ids=IDS)
def test_bucket_filled_at_once_is_as_one_filled_singly(index: int) -> None:
    """A model adds messages for one time at once, and one by one if a clause is replaced; both must agree."""
    model = CONTRACT.model(PAIRS[index][1])
    single = replaced(model, {}, "singly")
    filled = [done for done in some(index) if any(o.tag == "fill" for o in done.operations)]
    assert len(filled) > 5
    for done in filled:
        assert first_difference(done.operations, model(done.config), single(done.config)) is None


def test_garbage_is_collected_as_before_when_a_walk_ends() -> None:
    subject, profile = PAIRS[0]
    before, during = gc.get_threshold(), []

    def fails(config: Any, capabilities: Any) -> Any:
        during.append(gc.get_threshold())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        walk(CONTRACT, 1, fails, CONTRACT.model(profile), subject.capabilities)
    assert during == [COLLECTED]
    assert gc.get_threshold() == before != COLLECTED


def test_seeds_of_runs_do_not_meet() -> None:
    assert len({walk_seed(seed, number) for seed in range(20) for number in range(50)}) == 1000
