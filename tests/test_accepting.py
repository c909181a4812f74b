"""Subjects that do a rule otherwise by their own word, and profiles of somebody's own."""

from __future__ import annotations

import json
from typing import Any

import kit
import pytest
from kit import CONTRACT, ROOT, subject_of

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.mutants import MUTANTS
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.conforming import check_subject
from broker_tck.properties.engine.subjects import Accepted
from broker_tck.properties.engine.trace import from_text, to_text
from broker_tck.properties.errors import BadInput
from broker_tck.properties.verdict import BROKEN, CONFORMS

EARLY = "timebucket-ideal~DD-05:rounded_down"


class RoundsDown(MUTANTS["strict-rounded-down"].factory):  # type: ignore[misc]
    """Rounds down in strict mode as well, and says so."""

    accepts = {"DD-05": ("rounded down", "our clients wait")}  # noqa: RUF012 # as plug-ins write it


class SaysSo(TimeBucketTracker):
    """Says that it does, and does not."""

    accepts = {"DD-05": "rounded down"}  # noqa: RUF012


class NoPause(DelayedDelivery):
    """A profile of its own: deliveries never pause."""

    PROFILE = "test_accepting:NoPause"

    def pauses(self) -> bool:
        return False


# ---- One's word


def test_subject_that_does_as_it_says_conforms() -> None:
    subject = subject_of(RoundsDown)
    assert subject.accepts == (Accepted("DD-05", "rounded_down", "our clients wait"),)
    assert subject.profiles == (EARLY,)
    checked = check_subject(subject, EARLY, (), 0, 100, 5)
    assert checked.verdict == CONFORMS, checked.complaints
    assert checked.run.deviations == {"DD-05 (buckets.key)": True}
    assert check_subject(subject, CONTRACT.default, (), 0, 20, 0, fail_fast=True).run.findings[0].rule == "DD-05"


def test_subject_that_does_not_do_as_it_says_is_broken() -> None:
    checked = check_subject(subject_of(SaysSo), EARLY, (), 0, 100, 0, fail_fast=True)
    assert checked.verdict == BROKEN
    assert [finding.rule for finding in checked.run.findings] == ["DD-05"]


def test_report_shows_what_is_accepted(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "RoundsDown", RoundsDown, raising=False)
    arguments = ("check", "--subject", "kit:RoundsDown", "--walks", "100", "--examples", "2")
    status, out, _ = cli(*arguments)
    said = "kit:RoundsDown is accepted to do DD-05 buckets.key: rounded_down: our clients wait\n"
    assert (status, said in out) == (0, True)
    (subject,) = json.loads(cli(*arguments, "--json")[1])["subjects"]
    assert subject["accepted"] == [
        {"rule": "DD-05", "way": "DD-05 buckets.key: rounded_down", "reason": "our clients wait"}
    ]


def test_trace_of_such_a_profile_is_read_as_it_is_written() -> None:
    trace = from_text(f"delayed-delivery {EARLY} strict=true; add 0 0 +1")
    assert (trace.profile, trace.config.strict) == (EARLY, True)
    assert to_text(CONTRACT, trace.profile, trace.config, trace.operations) == (
        f"delayed-delivery {EARLY} strict=true; add 0 0 +1"
    )


@pytest.mark.parametrize(
    ("accepts", "says"),
    [
        (["DD-05"], r"accepts is \['DD-05'\]; it has to be such as"),
        ({"DD-05": 1}, "it has to be such as"),
        ({"DD-05": ("rounded down", 1)}, "it has to be such as"),
        (
            {"DD-05": "sideways"},
            "DD-05:sideways: the way is unknown; there are: buckets.key:absent",
        ),
        ({"DD-99": "absent"}, "DD-99:absent: profile timebucket-ideal has no such rule"),
        ({"DD-08": "absent"}, "DD-08:absent: profile timebucket-ideal knows no way to do it otherwise"),
    ],
)
def test_word_that_nobody_understands_is_bad_input(accepts: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        subject_of(type("Wordy", (TimeBucketTracker,), {"accepts": accepts}))


def test_rule_with_several_clauses_needs_the_clause() -> None:
    with pytest.raises(ValueError, match=r"one of several; there are: wants_pause:absent, asks_availability:a"):
        CONTRACT.model("timebucket-ideal~DD-17:absent")
    model = CONTRACT.model("timebucket-ideal~DD-17:wants_pause:absent")
    assert [str(way) for way in model.ACCEPTS] == ["DD-17 absent"]


# ---- A profile of one's own


def test_class_below_a_model_is_a_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests"))
    model = CONTRACT.model("test_accepting:NoPause")
    assert model.PROFILE == "test_accepting:NoPause"
    config = CONTRACT.config()
    assert model(config).pause() is False


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no.such.module:Profile", "the module 'no.such.module' cannot be imported: ModuleNotFoundError"),
        ("kit:Nothing", "the module 'kit' has no 'Nothing'"),
        ("kit:OneTooMany", "kit:OneTooMany is no subclass of a reference model of delayed-delivery"),
    ],
)
def test_what_is_none_is_told(name: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        CONTRACT.model(name)
