"""The subjects of `examples/subjects`: each conforms, and each mistake is named by its rule, as their page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kit import run_subject

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.replay import on_subject
from broker_tck.properties.search.run import Run, checked

FOLDER = Path(__file__).parents[1] / "examples" / "subjects"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
WALKS, FEW = 200, 8


@pytest.fixture(autouse=True)
def _in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.chdir(FOLDER)


def rows() -> list[tuple[str, str, str]]:
    """The table of the page: the subject that conforms, the one that does not, and the rule that this one breaks."""
    row = r"^\| `(\w+)\.py` \| [^|]+ \| `(\w+)`[^|]* \| `(\w+)` \| ([A-Z]+-\d+) \|$"
    found = re.findall(row, PAGE, flags=re.MULTILINE)
    return [(f"{module}:{right}", f"{module}:{wrong}", rule) for module, right, wrong, rule in found]


def resolved(name: str) -> tuple[Subject, str]:
    """A subject, and the one profile that it declares."""
    subject = resolve(name)
    (profile,) = subject.profiles
    return subject, profile


def test_page_tells_of_every_file_and_of_every_other_contract() -> None:
    told = [right for right, _, _ in rows()]
    assert sorted(f"{name.partition(':')[0]}.py" for name in told) == sorted(path.name for path in FOLDER.glob("*.py"))
    assert {resolve(name).contract.name for name in told} == CONTRACTS.keys() - {"delayed-delivery"}


@pytest.mark.parametrize(("right", "wrong", "rule"), rows())
def test_page_shows_the_check_of_each_mistake(right: str, wrong: str, rule: str) -> None:
    """`test_docs` makes these checks, and deep ones of the subjects that conform, and sees that this is printed."""
    assert issubclass(resolve(wrong).factory, resolve(right).factory)
    assert f"$ broker-tck check --subject {wrong} --fail-fast\n" in PAGE
    assert f"\n{rule} is broken by {wrong} (" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("right", [right for right, _, _ in rows()])
def test_walks_find_nothing(right: str) -> None:
    run = Run(*resolved(right), seed=0)
    assert [done for done in checked(run, range(FEW), FEW, judged=4) if done.difference] == []
    assert (run.walks, run.breaches) == (FEW, [])


@pytest.mark.deep
def test_subject_whose_check_is_not_shown_conforms_and_exercises_every_rule() -> None:
    """The example of a topic passes the check with every rule exercised; few walks find nothing in it either."""
    (shown,) = [right for right, _, _ in rows() if f"$ broker-tck check --subject {right} " not in PAGE]
    assert shown == "topics:Topic"
    run = run_subject(*resolved(shown), seed=0, count=WALKS)
    assert run.green, run.complaints
    assert len(run.exercised) == len(run.rules) == 55


def test_subject_that_waits_takes_no_message_before_its_calls_end_at_once() -> None:
    contract, able = CONTRACTS["bucket-delivery"], resolve("buckets:Tracker").capabilities
    trace = from_text("bucket-delivery ideal; add 1 0 +1; storage 0; storage 1; add 1 0 +1; complete 0; storage 0; has")
    assert [*contract.asks(trace.operations, able)] == [False, False, True, True, False, False, True]
    assert contract.can_ask(trace.operations, contract.capabilities())


def test_backoff_is_the_longest_however_often_a_message_was_redelivered() -> None:
    trace = from_text("negative-acks pip-393-spec multiplier=[250,20000,3.0]; nack 0 0 30; nack 0 1 1000; adv 20000")
    assert on_subject(trace, resolve("nacks:Tracker"), "pip-393-spec") is None
