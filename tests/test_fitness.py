"""Subjects that cannot be made, lack a method, raise, are slow, or do not always do the same."""

from __future__ import annotations

import re
from typing import Any

import kit
import pytest
from kit import MODEL, run_subject, subject_of

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties.engine.check import Difference
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import PARTS, check_subject
from broker_tck.properties.explain.failing_walks import flaky
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.fitness import methods, see_made

IDEAL = "timebucket-ideal"


class TakesNothing:
    """Cannot be called as the contract does."""

    def __init__(self) -> None:
        pass


class Lacking:
    """Has hardly a method."""

    def __init__(self, config: Any, clock: Any, timer: Any) -> None:
        pass

    def get_number_of_delayed_messages(self) -> int:
        return 0


class Deep(TimeBucketTracker):
    """Raises out of a method of its own, called by itself."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return self.looked_up({}) if self._count else super().get_scheduled_messages(max_messages)

    def looked_up(self, known: dict[str, Any]) -> Any:
        return known["missing"]


# ---- What cannot be asked


def test_subject_that_cannot_be_made_breaks_no_rule() -> None:
    where = r"File \".*kit\.py\", line \d+, in __init__; raise OSError\(\"no disk\"\)"
    with pytest.raises(BadInput, match=rf"^kit:Unmakeable cannot be made: OSError: no disk \({where}"):
        see_made(subject_of(kit.Unmakeable))
    with pytest.raises(BadInput, match=r"its factory is called as Factory\(config, clock, timer\)"):
        see_made(subject_of(TakesNothing))
    see_made(subject_of(TimeBucketTracker))


def test_subject_that_lacks_a_method_breaks_no_rule() -> None:
    with pytest.raises(BadInput, match=r"^kit:Lacking lacks \w+, which delayed-delivery asks it for with `\w+`"):
        check_subject(subject_of(Lacking), IDEAL, Budget(0, 10, 0), parts=PARTS[1:])


def test_check_says_so_and_exits_with_2(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "Lacking", Lacking, raising=False)
    for name, says in (("Lacking", "lacks "), ("Unmakeable", "cannot be made: OSError: no disk")):
        status, out, err = cli("check", "--subject", f"kit:{name}")
        assert (status, out) == (2, "")
        assert err.startswith(f"broker-tck: kit:{name} {says}")
        assert err.count("\n") == 1


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_interface_names_methods(contract: Any) -> None:
    assert methods(contract) >= {name for name in vars(contract.interface) if not name.startswith("_")}


# ---- What it raises


def test_traceback_begins_in_the_subject() -> None:
    (finding,) = run_subject(subject_of(Deep), IDEAL, 0, 20, fail_fast=True).findings
    told = [line.strip() for line in finding.traceback if not line.strip(" ").startswith(("^", "~"))]
    assert told[0] == "Traceback (most recent call last):"
    assert [line.rpartition(" ")[2] for line in told if line.startswith("File")] == [
        "get_scheduled_messages",
        "looked_up",
    ]
    assert told[-2:] == ['return known["missing"]', "KeyError: 'missing'"]


# ---- Doing the same


def test_both_values_of_a_fickle_subject_are_told() -> None:
    good = kit.walked(subject_of(TimeBucketTracker), 3)
    at = next(i for i, operation in enumerate(good.operations) if operation.tag == "has")
    difference = Difference("result", False, True)
    failed = Walk(3, good.config, good.operations[: at + 1], difference)
    assert flaky(subject_of(TimeBucketTracker), MODEL, failed) == (
        f"the subject is not deterministic: at operation {at + 1} of walk 3, `has`, it answered true and then false"
    )


def test_subject_whose_shorter_traces_alone_are_fickle_is_told_so() -> None:
    always = kit.walked(subject_of(kit.OneTooMany), 0)
    assert always.difference
    told = flaky(subject_of(kit.OneTooMany), MODEL, always)
    assert re.search(
        r"at operation \d+ of walk \d+, `.+`, it .+ each time, but shorter traces fail only sometimes$", told
    )
