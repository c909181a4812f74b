"""The released entry caches: what each release conforms to, and what it does otherwise than another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from jvm.bytecode import Slip, slipped
from kit import run_subject

from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.replay import on_subject
from broker_tck.properties.search.run import Run

CONFORM = {"4.0.8": "legacy-4.0", "4.2.4": "pip-430", "5.0.0-M1": "pip-430", "5.0.1": "pip-430-5.0"}
CONFORMING, WALKS = 300, 20
"""So many walks bring up every rule, and so many what a release does otherwise."""
SHORT = 10
CACHE = "org.apache.bookkeeper.mledger.impl.cache.RangeCache"

DIFFER = {
    "freed-size-is-kept-in-4.2": ("4.2.4", "ideal", "put 0 0 0 10 0; spoil 0 0 0; size 1"),
    "freed-size-is-kept-in-5.0": ("5.0.1", "ideal", "put 0 0 0 10 0; spoil 0 0 0; size 1"),
    "count-of-0-is-one": ("5.0.1", "pip-430", "put 0 0 0 0 0; expect 0 0 0"),
    "count-has-a-floor": ("5.0.1", "pip-430", "put 0 0 0 0 1; read 0 0 0; read 0 0 0"),
    "one-round": ("5.0.1", "pip-430", "put 0 0 0 1 1; put 0 0 1 1 0; get 0 0 1; size 1; get 0 0 0"),
    "refusal-hands-its-count-over": ("5.0.1", "pip-430", "put 0 0 0 1 3; put 0 0 0 1 0; pinned"),
}
"""A release, another profile, and a trace that tells them apart."""
READS = {
    "larger-than-the-limit": ("4.2.4", "max_reads_in_flight=100; fetch 0 0 0 0 1 0"),
    "removal-counts": ("4.2.4", "; fetch 1 0 0 0 1 0; cursor 1 0 0 0 0; complete 0; size 1; share 0"),
    "removal-counts-in-5.0": ("5.0.1", "; fetch 1 0 0 0 1 0; cursor 1 0 0 0 0; complete 0; size 1; share 0"),
    "refusal-counts": ("4.2.4", "; fetch 0 1 0 0 1 0; cursor 0 1 0 0 0; put 0 0 0 0 0; complete 0"),
    "permits-are-lost": ("4.2.4", "max_reads_in_flight=52000; storage 3; fetch 0 0 0 0 1 0; permits"),
    "permits-are-lost-in-5.0": ("5.0.1", "max_reads_in_flight=52000; storage 3; fetch 0 0 0 0 1 0; permits"),
    "kept-though-it-raised": ("5.0.1", "; append 0 0; storage 3; fetch 0 0 0 0 3 0"),
    "cached-though-nobody-reads": ("5.0.1", "; fetch 0 0 0 0 1 0; complete 0"),
    "reopened-from-the-first": ("5.0.1", "; fetch 0 0 0 0 2 0; short 0 1; fail 0 2"),
    "hit-as-a-whole-in-4.0": ("4.0.8", "; append 0 0; fetch 0 0 0 0 2 0"),
    "asked-with-the-request-in-4.0": ("4.0.8", "; fetch 0 0 0 0 1 0"),
    "forgotten-though-it-was-busy-in-4.0": (
        "4.0.8",
        "; cursor 0 0 0 0 0; single 0 0 0; single 0 0 1; fail 0 0; single 0 0 1",
    ),
    "not-reopened-in-4.0": ("4.0.8", "; single 0 0 0; fail 0 2"),
    "permits-are-lost-in-4.0": ("4.0.8", "max_reads_in_flight=52000; storage 3; single 0 0 0; permits"),
    "as-old-as-the-threshold-in-4.0": ("4.0.8", "; put 0 0 0 1 0; ttl 0"),
    "one-byte-stays-in-4.0": ("4.0.8", "; put 0 0 0 1 0; size 1"),
}
"""A release, and a trace whose last step is otherwise than specified."""
FOUND = {
    "4.2.4": {"EC-12", "EC-26"},
    "5.0.1": {"EC-05", "EC-12", "EC-26", "EC-34", "RC-01", "RC-08"},
}
"""The rules of the specification that walks find a release to break, each alone."""

SLIPS = {
    "as-old-is-old": (
        Slip(f"{CACHE}RemovalQueue", "lambda$evictLEntriesBeforeTimestamp$0", 1, "IFGE", "IFGT"),
        "EC-20",
    ),
    "requeued-twice": (Slip(f"{CACHE}EntryWrapper", "markRequeued", 1, "ICONST_1", "ICONST_2"), "EC-24"),
    "range-ends-early": (Slip(CACHE, "getRange", 2, "ICONST_1", "ICONST_0"), "EC-10"),
}
"""In one class each, which stands alone before the release's others."""


def released(version: str) -> Subject:
    return resolve(f"pulsar-{version}/range-cache")


def rules(run: Run) -> set[str]:
    """All rules that the findings of a run name."""
    return {rule for finding in run.findings for rule in finding.diagnosis.rules}


@pytest.mark.deep
@pytest.mark.parametrize("version", CONFORM)
def test_release_conforms_to_its_profile(version: str) -> None:
    """So many walks bring up every rule."""
    subject = released(version)
    assert subject.profiles == (CONFORM[version],)
    run = run_subject(subject, CONFORM[version], seed=0, count=CONFORMING)
    assert run.green, (run.findings, run.breaches, run.gone)
    assert not run.vacuous


@pytest.mark.parametrize("name", DIFFER)
def test_release_differs_from_another_profile(name: str) -> None:
    version, profile, text = DIFFER[name]
    trace = from_text(f"entry-cache {profile}; {text}")
    seen = on_subject(trace, released(version), profile)
    assert seen
    assert seen.step == len(trace.operations) - 1
    assert on_subject(trace, released(version), CONFORM[version]) is None


@pytest.mark.parametrize("name", READS)
def test_reads_of_a_release_differ_from_the_specification(name: str) -> None:
    version, text = READS[name]
    config, _, steps = text.partition(";")
    for profile, differs in (("ideal", True), (CONFORM[version], False)):
        trace = from_text(f"entry-cache {profile} {config};{steps}")
        seen = on_subject(trace, released(version), profile)
        assert (seen is not None) == differs, (profile, seen)
        assert seen is None or seen.step == len(trace.operations) - 1


@pytest.mark.parametrize("version", CONFORM)
def test_reads_are_asked_of_a_release(version: str) -> None:
    assert released(version).capabilities.reads


@pytest.mark.deep
@pytest.mark.parametrize("version", FOUND)
def test_walks_find_what_a_release_does_otherwise_than_specified(version: str) -> None:
    """Walks find the rules that a released cache breaks, each with a short trace."""
    run = run_subject(released(version), "ideal", seed=0, count=WALKS, failing=1)
    assert rules(run) >= FOUND[version]
    assert all(len(finding.operations) <= SHORT for finding in run.findings)


@pytest.mark.parametrize("name", SLIPS)
def test_slip_in_one_class_is_found_by_its_rule(name: str, tmp_path: Path) -> None:
    slip, rule = SLIPS[name]
    subject = resolve(f"pulsar-4.2.4/range-cache@{slipped('4.2.4', slip, tmp_path)}")
    run = run_subject(subject, "pip-430", seed=0, count=WALKS, failing=1)
    assert rule in rules(run), run.findings
    assert min(len(finding.operations) for finding in run.findings) <= SHORT
