"""Reports: what is computed of a campaign's tables, and what the pages, the comparison and the XML say of it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from math import isclose
from random import Random
from time import perf_counter
from typing import Any
from xml.etree import ElementTree as ET

import kit
import pytest
from campaigns.fake_store import (
    BUNDLED,
    CONTRACT,
    FINDINGS,
    NASTY,
    SUMMARY,
    FakeSource,
    campaign,
    flood,
    found,
    manifest_of,
    rich,
    table,
)

from broker_tck.spark_fuzz.report.advice import steps
from broker_tck.spark_fuzz.report.compare import compare, compare_html, compare_text
from broker_tck.spark_fuzz.report.data import report_of
from broker_tck.spark_fuzz.report.facts import required
from broker_tck.spark_fuzz.report.figures import Summary, late_share, residual
from broker_tck.spark_fuzz.report.grouping import Listed, cover, entries, owners
from broker_tck.spark_fuzz.report.junit import junit_xml
from broker_tck.spark_fuzz.report.page import report_html
from broker_tck.spark_fuzz.report.plots import apart, brief, level_of, strip
from broker_tck.spark_fuzz.report.stories import CELL, MOST_STORIES, told
from broker_tck.spark_fuzz.report.words import clipped, counted, duration, listed, moment, one_in, short, small, visible
from broker_tck.spark_fuzz.report.words import share as percent
from broker_tck.spark_fuzz.worker.findings import row_of

TIME_BUCKET, HEAP, MUTANT = BUNDLED
MEGABYTES = 2_000_000


# ---- Words


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (one_in(1 / 27_345), "1 in 27,000"),
        (one_in(0.4), "1 in 2.5"),
        (one_in(1 / 100), "1 in 100"),
        (one_in(0), "never"),
        (small(0.0000361), "0.000037"),
        (small(0.003), "0.003"),
        (small(1.0), "1"),
        (percent(0.0001), "< 0.1 %"),
        (percent(0.9999), "> 99 %"),
        (percent(0.071), "7.1 %"),
        (percent(1), "100 %"),
        (percent(0), "0 %"),
        (short(12_345_678), "12.3 million"),
        (short(999_999_999), "1.00 billion"),
        (short(4_200), "4,200"),
        (duration(820), "0.82 s"),
        (duration(3_599_000), "1 h 0 min"),
        (duration(90_000_000), "25 h 0 min"),
        (duration(300_000_000), "3 d 11 h"),
        (counted(1, "walk"), "1 walk"),
        (counted(2000, "walk"), "2,000 walks"),
        (clipped("abcdef", 4), "abcd… (2 more characters)"),
        (moment("2026-03-02T23:15:04+01:00"), "2026-03-02 22:15 UTC"),
        (moment("some day"), "some day"),
        (listed(["a", "b", "c", "d", "e"]), "a, b, c and 2 more"),
        (listed(["a", "b"]), "a and b"),
        (brief(1_500_000), "1.5M"),
    ],
)
def test_numbers_are_said_as_people_read_them(said: str, expected: str) -> None:
    assert said == expected


def test_a_bound_is_never_said_smaller_than_it_is() -> None:
    rng = Random(1)
    for _ in range(2000):
        rate = 10 ** -(7 * rng.random())
        assert float(small(rate)) >= rate * (1 - 1e-9)
        if rate <= 0.1:
            assert 1 / int(one_in(rate).removeprefix("1 in ").replace(",", "")) >= rate * (1 - 1e-9)


def test_hidden_characters_are_written_out() -> None:
    assert visible("a\x00b\x1b\u202e\ud800\ufeff c\td\n") == "a\\u0000b\\u001b\\u202e\\ud800\\ufeff c\td\n"


# ---- Figures


def test_the_residual_is_what_so_many_walks_exclude() -> None:
    for walks in (1, 10, 1_000, 10**6):
        assert isclose(residual(walks), 1 - 0.05 ** (1 / walks), rel_tol=1e-6)
    assert isclose(residual(10**12), 2.995732e-12, rel_tol=1e-6)
    assert residual(0) == 1


def test_failing_walks_are_no_evidence_of_the_rest() -> None:
    rows = [(0, "figure", *HEAP, None, name, n) for name, n in (("walks", 1000), ("failing", 400), ("counted", 10))]
    rows.append((0, "rule_walks", *HEAP, None, "DD-06", 5))
    (lane,) = Summary(table(rows, SUMMARY)).lanes([])
    assert lane.residual == residual(600)
    assert lane.bound("DD-06") == residual(300)


@pytest.mark.parametrize(
    ("operations", "states", "expected"),
    [
        ([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], [50, 60, 70, 80, 90, 90, 90, 90, 90, 100], 0.1),
        ([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], [100] * 10, 0.0),
        ([50, 100], [0, 100], 0.2),
        ([100], [100], 0.1),
        ([1, 2], [0, 0], None),
        ([], [], None),
    ],
)
def test_what_the_last_tenth_of_the_operations_added(
    operations: list[int], states: list[int], expected: float | None
) -> None:
    share = late_share(operations, states)
    assert share is expected is None or isclose(share or 0.0, expected or 0.0, abs_tol=1e-9)


def test_the_figures_are_those_of_the_rows() -> None:
    source = campaign(rounds=7)
    lanes = {lane.lane: lane for lane in Summary(source.summary()).lanes([])}
    sums: Counter[tuple[Any, ...]] = Counter()
    for _, kind, subject, profile, shard, name, count in source.summary_rows:
        if shard is None:
            sums[kind, subject, profile, name] += count
    for key, lane in lanes.items():
        for name in ("walks", "operations", "counted", "failing", "milliseconds"):
            assert getattr(lane, name) == sums["figure", *key, name]
        assert lane.met == {r: n for (kind, *k, r), n in sums.items() if kind == "rule" and tuple(k) == key}
        assert lane.met_walks["DD-06"] == sums["rule_walks", *key, "DD-06"]
        assert lane.states == sums["states", *key, ""]
        assert lane.bound("DD-06") == residual(lane.walks * lane.met_walks["DD-06"] / lane.counted)
        assert lane.speed == lane.operations / lane.milliseconds * 1000
    assert Summary(source.summary()).duration == sums["round", None, None, "milliseconds"]


@pytest.mark.parametrize("rounds", [1, 2, 11, 12, 59, 60, 61, 119, 120, 121, 1000])
def test_every_round_falls_into_one_column(rounds: int) -> None:
    summary = Summary(table([(n + 3, "round", None, None, None, "milliseconds", 1) for n in range(rounds)], SUMMARY))
    spans = summary.spans(60)
    assert len(spans) == min(rounds, 60)
    assert [n for low, high in spans for n in range(low, high + 1)] == list(range(3, rounds + 3))
    binned = summary.binned(summary.table, 60)
    columns = dict(zip(binned["round"].to_pylist(), binned["column"].to_pylist(), strict=True))
    assert columns == {n: column for column, (low, high) in enumerate(spans) for n in range(low, high + 1)}


def test_the_heat_of_a_rule_is_the_share_of_counted_walks() -> None:
    rows = [(n, "figure", "s", "p", None, "counted", 10) for n in range(120) if n != 7 and n != 6]
    rows += [(n, "rule_walks", "s", "p", None, "DD-05", 5) for n in range(60, 120)]
    heat = Summary(table(rows, SUMMARY)).heat(1)
    cells = heat.row(("s", "p"), "DD-05")
    assert cells[:3] == [0.0, 0.0, 0.0]
    assert cells[3] is None
    assert list(cells[30:]) == [0.5] * 30
    assert heat.row(("s", "p"), "DD-06") == [None] * 60


def test_the_more_lanes_the_fewer_columns() -> None:
    summary = Summary(campaign(rounds=100).summary())
    assert [len(summary.heat(lanes).spans) for lanes in (1, 12, 24, 500)] == [60, 60, 30, 12]


def test_speeds_are_those_of_the_shards() -> None:
    rows: list[tuple[Any, ...]] = []
    for shard, time in ((0, 100), (1, 200), (2, 0)):
        rows += [
            (0, "figure", None, None, shard, "operations", 1000),
            (0, "figure", None, None, shard, "milliseconds", time),
        ]
    summary = Summary(table(rows, SUMMARY))
    assert summary.by_shard() == {0: 10_000, 1: 5_000}
    (speed,) = summary.speeds()
    assert (speed.slowest, speed.fastest) == (5_000, 10_000)
    assert isclose(speed.mean, 2000 / 300 * 1000)


def test_marks_keep_their_distance_and_their_order() -> None:
    assert apart([5, 5, 9], 2) == [5, 3, 9]
    assert apart([1, 10, 9.5], 2) == [1, 10, 8]


def test_a_row_of_the_heat_map_joins_cells_that_are_alike() -> None:
    drawn = strip([0.0, 0.0, 0.9, None, 0.9], "<DD-05>")
    assert 'class="h0" d="M0 0h2v1h-2z"' in drawn
    assert 'class="h4" d="M2 0h1v1h-1zM4 0h1v1h-1z"' in drawn
    assert "&lt;DD-05&gt;" in drawn
    assert [level_of(x) for x in (None, 0.0, 0.004, 0.05, 0.3, 0.8)] == [None, 0, 1, 2, 3, 4]


# ---- Grouping


def test_one_bug_that_is_diagnosed_in_two_ways_is_one_entry() -> None:
    rows = [
        found(*MUTANT, "DD-05", "add", 90),
        found(*MUTANT, "DD-05,DD-09", "add get", 10),
        found(*MUTANT, "DD-09,DD-05", "add has", 1),
        found(*HEAP, "DD-09", "add", 3),
    ]
    grouped = entries(table(rows, FINDINGS))
    assert [(e.place.subject, e.place.rule, e.walks, e.shapes) for e in grouped] == [
        (MUTANT[0], "DD-05", 101, 3),
        (HEAP[0], "DD-09", 3, 1),
    ]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([("A", 1, 1), ("A,B", 5, 1), ("B", 2, 1)], {"A": "A", "A,B": "B", "B": "B"}),
        ([("A,B", 5, 1), ("B,C", 5, 1), ("C", 1, 1)], {"A,B": "B", "B,C": "B", "C": "C"}),
        ([("B,A", 5, 1)], {"B,A": "A"}),
        ([("A", 9, 1), ("B", 2, 5), ("A,B", 1, 1)], {"A": "A", "B": "B", "A,B": "A"}),
        ([("A", 3, 1), ("B", 3, 2), ("A,B", 1, 1)], {"A": "A", "B": "B", "A,B": "B"}),
    ],
)
def test_the_cover_takes_the_rule_of_most_walks_then_shapes_then_number(
    lists: list[tuple[str, int, int]], expected: dict[str, str]
) -> None:
    assert cover([Listed(*each) for each in lists]) == expected


def test_entries_are_those_of_a_loop_over_the_rows() -> None:
    source = flood(4000, subjects=5, rounds=3)
    owned = owners(source.findings())
    expected: dict[tuple[str, str, str], list[Any]] = {}
    for row in source.finding_rows:
        expected.setdefault((*row[:2], owned[row[:3]]), []).append(row)
    grouped = entries(source.findings())
    assert {tuple(entry.place) for entry in grouped} == expected.keys()
    for entry in grouped:
        rows = sorted(expected[entry.place], key=lambda r: (-r[4], r[8], r[3], r[2]))
        assert (entry.walks, entry.shapes) == (sum(r[4] for r in rows), len(rows))
        assert (entry.shortest, entry.first) == (min(r[8] for r in rows), min(r[5] for r in rows))
        assert [s.key for s in entry.common] == [r[:4] for r in rows[:5]]
        assert all(entry.place.rule in s.rules for s in entry.common)
    assert [e.walks for e in grouped] == sorted((e.walks for e in grouped), reverse=True)


def test_the_order_of_the_rows_does_not_matter() -> None:
    source = flood(500, subjects=3, rounds=2)
    rows = list(source.finding_rows)
    Random(5).shuffle(rows)
    assert report_html(replace(source, finding_rows=rows), "store") == report_html(source, "store")


# ---- What is said


def test_a_rule_that_was_never_met_is_told_in_words() -> None:
    source = campaign(never={HEAP[0]: ["DD-08", "DD-35"]})
    page = report_html(source, "store")
    assert "<h1>No finding, but 2 rules never exercised; residual" in page
    assert "never exercised: DD-08 and DD-35" in page
    assert page.count('<td class="says">never exercised</td>') == 2


def test_a_rule_that_the_profile_replaces_counts_as_exercised() -> None:
    lane = ("heap", "heap")
    (found_lane,) = report_of(campaign([lane], never={"heap": ["DD-02"]}), "store").lanes
    replaced = next(each for each in found_lane.rules if each.rule.number == "DD-02")
    assert replaced.replaced
    assert found_lane.never == []
    assert ">deviation<" in report_html(campaign([lane], never={"heap": ["DD-02"]}), "store")


def test_the_rules_of_a_lane_are_those_of_a_run() -> None:
    assert "DD-29" not in required(CONTRACT, *HEAP)
    assert "DD-29" in required(CONTRACT, *TIME_BUCKET)
    assert "DD-29" not in required(CONTRACT, "campaigns.fake_store:Lacking", "timebucket-ideal")
    assert required(CONTRACT, "not_here:Tracker", "heap") == required(CONTRACT, *HEAP)


@pytest.mark.parametrize(
    ("source", "headline"),
    [
        (campaign(rounds=12), "No finding; residual &lt; 0.00013"),
        (campaign(rounds=0), "No walk was run"),
        (campaign(findings=[found(*MUTANT, "DD-05", "add", 1)]), "1 finding in 1 subject"),
        (rich(), "3 findings in 2 subjects"),
    ],
)
def test_the_headline_is_the_verdict(source: FakeSource, headline: str) -> None:
    assert re.findall(r"<h1[^>]*>(.*?)</h1>", report_html(source, "store")) == [headline]


def test_failing_walks_without_a_finding_are_told() -> None:
    rows = [(0, "figure", *HEAP, None, "walks", 9), (0, "figure", *HEAP, None, "failing", 2)]
    page = report_html(FakeSource(manifest_of([HEAP], 1, 1), rows, []), "store")
    assert "2 failing walks, and no finding" in page


def commands(source: FakeSource, where: str = "store") -> list[str]:
    report = report_of(source, where)
    return [step.command for step in steps(report, {})]


def test_what_to_run_next_follows_from_what_was_found() -> None:
    broken = campaign(findings=[found(*MUTANT, "DD-05", "add", 3)])
    assert commands(broken)[0] == "broker-tck check --subject mutant:strict-rounded-down"
    assert commands(campaign(), "a store") == [
        "broker-tck fuzz --seed 8 --store 'a store-8'",
        "broker-tck fuzz merge 'a store' 'a store-8' --into 'a store-merged'",
    ]
    assert commands(campaign(growing=["heap"])) == ["broker-tck fuzz resume store --rounds 80"]
    assert commands(campaign(rounds=2)) == ["broker-tck fuzz resume store --rounds 4"]
    some = commands(campaign(never={"heap": ["DD-08"]}))
    assert some[0] == "broker-tck check --subject heap --walks 10000"
    every = {subject: ["DD-08"] for subject, _ in BUNDLED}
    assert commands(campaign(never=every))[0] == f"broker-tck power --contract {CONTRACT}"
    assert commands(campaign(rounds=0)) == ["broker-tck fuzz resume store --rounds 2"]
    assert [step.what for step in steps(report_of(campaign(rounds=0), "store"), {})] == ["Run the campaign"]
    few = campaign(rounds=3, never={"heap": ["DD-08"]})
    assert commands(few)[0] == "broker-tck fuzz resume store --rounds 6"


def test_the_rule_of_which_least_is_known_is_told() -> None:
    lane, least = report_of(campaign(), "store").weakest or pytest.fail("nothing is known")
    assert least.rule.number == "DD-08"
    every = [each.bound for lane in report_of(campaign(), "store").lanes for each in lane.rules]
    assert least.bound == max(every)
    assert (
        f"Least is known of DD-08 on {lane[0].replace(':', ':<wbr>')}<wbr>: <b>{one_in(least.bound)}</b>"
        in report_html(campaign(), "store")
    )


def test_a_slow_shard_is_named() -> None:
    (step,) = [s for s in steps(report_of(campaign(slow=[5]), "store"), {}) if "machine" in s.what]
    assert step.what == "Look at the machine that ran shard 5"
    assert "shard 5 <span" in report_html(campaign(slow=[5]), "store")
    assert "<span" not in report_html(campaign(), "store").partition("shard 5")[2][:8]


# ---- The page


def test_the_page_is_one_file_that_asks_for_nothing() -> None:
    page = report_html(rich(), "store")
    style = page[page.index("<style>") : page.index("</style>")]
    assert not re.search(r"url\((?!#)|@import", style)
    for tag, address in re.findall(r"<(\w+)[^>]*?\s(?:src|href|action|srcset)=\"([^\"]*)\"", page):
        assert address.startswith("#") or (tag, address) == ("link", "data:,")
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("<script>") == 1


def test_what_a_subject_says_is_escaped() -> None:
    page = report_html(rich(), "store")
    assert "<script>document.title" not in page
    assert "&lt;script&gt;document.title=&#34;owned&#34;&lt;/script&gt;" in page
    assert "\\u202egnp.exe" in page
    assert not re.search("[\x00-\x08\x1b\u202e]", page)
    name = '"><img src=x onerror=alert(1)>:T'
    lane = (name, "heap")
    odd = report_html(campaign([lane], findings=[found(*lane, "DD-05", "add", 1)]), f"store {name}")
    assert "<img" not in odd


def test_the_same_input_gives_the_same_page() -> None:
    assert report_html(rich(), "store") == report_html(rich(), "store")
    code = (
        "from campaigns.fake_store import rich; from broker_tck.spark_fuzz.report.page import report_html;"
        "import hashlib;"
        "print(hashlib.sha256(report_html(rich(), 'store').encode()).hexdigest())"
    )
    path = ":".join(filter(None, [str(kit.ROOT / "tests"), *sys.path]))
    first, second = (kit.python("-c", code, PYTHONPATH=path, PYTHONHASHSEED=seed) for seed in "12")
    assert first.stdout == second.stdout != "", first.stderr


@pytest.mark.parametrize("count", [10, 1_000, 100_000])
def test_the_page_stays_small(count: int) -> None:
    source = flood(count)
    began = perf_counter()
    page = report_html(source, "store")
    assert perf_counter() - began < 20
    assert len(page.encode()) < MEGABYTES


def test_long_traces_and_long_messages_do_not_fill_the_page() -> None:
    long = flood(3_000, length=400)
    assert len(report_html(long, "store").encode()) < MEGABYTES
    assert len(long.asked) == MOST_STORIES
    loud = report_html(replace(flood(3_000), message=NASTY * 1000), "store")
    assert len(loud.encode()) < MEGABYTES
    assert f"… ({len(NASTY) * 1000 - CELL:,} more characters)" in loud
    assert len(report_html(flood(20_000, subjects=300, rounds=12), "store").encode()) < MEGABYTES


def test_stories_are_told_in_turns_and_the_rest_is_counted() -> None:
    source = rich()
    grouped = entries(source.findings())
    stories = told(source, grouped)
    assert [len(each.stories) for each in stories] == [3, 5, 1]
    assert [key[3] for key in source.asked[:3]] == [e.common[0].key[3] for e in grouped]
    assert stories[1].rest == (16, 16)
    page = report_html(source, "store")
    assert "16 further shapes, 16 failing walks, in the store" in page
    assert "98 operations left out" in page


def test_a_real_finding_is_told_in_full() -> None:
    subject = kit.subject_of(kit.OneTooMany)
    finding = kit.found(subject, kit.first_failing(subject))
    assert finding
    row = row_of(finding, "A note.")
    lane = (row.subject, row.profile)
    source = campaign([lane], findings=[found(*lane, row.name, row.key, 4, row.length)])
    source.told = {(row.subject, row.profile, row.name, row.key): row.text}
    page = report_html(source, "store")
    (each,) = told(source, entries(source.findings()))
    (story,) = each.stories
    assert story.text.splitlines()[-1].strip() == story.replay
    assert story.lines[-1].seen
    for text in (story.diagnosis, *story.sentences, story.replay, "A note.", *(line.expected for line in story.lines)):
        assert escaped(text) in page
    (broken,) = (line for line in story.text.splitlines() if " is broken by " in line)
    assert escaped(broken) not in page
    assert story.text in "".join(ET.fromstring(junit_xml(source)).itertext())


def escaped(text: str) -> str:
    """As Jinja escapes it."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&#39;"), ('"', "&#34;")):
        text = text.replace(character, entity)
    return text


# ---- Two campaigns


def test_new_gone_and_still_there() -> None:
    a = campaign(findings=[found(*MUTANT, "DD-05,DD-09", "add", 90), found(*HEAP, "DD-09", "get", 2)])
    b = campaign(findings=[found(*MUTANT, "DD-05", "add", 5), found(*TIME_BUCKET, "DD-20", "get", 7)])
    both = compare(a, b, ("a", "b"))
    assert [tuple(c.place) for c in both.new] == [(*TIME_BUCKET, "DD-20")]
    assert [tuple(c.place) for c in both.gone] == [(*HEAP, "DD-09")]
    assert [tuple(c.place) for c in both.still] == [(*MUTANT, "DD-05")]
    assert both.verdict == "1 new, 1 gone, 1 in both"
    assert both.worse
    rows = {section.title: section.rows for section in compare_text(a, b, ("a", "b"))}
    assert rows["New"][0][-1] == "not chance: at that rate 7 walks would have failed"
    assert rows["Gone"][0][-1].startswith("may be chance")
    assert rows["In both"][0][-1].endswith("times as rare")


def test_what_the_diagnosis_left_open_is_settled_for_both() -> None:
    a = campaign(findings=[found(*MUTANT, "DD-05,DD-09", "add", 90)])
    b = campaign(findings=[found(*MUTANT, "DD-09", "get", 5)])
    both = compare(a, b, ("a", "b"))
    assert [tuple(c.place) for c in both.changes] == [(*MUTANT, "DD-09")]
    assert (len(both.still), both.worse) == (1, False)


def test_slower_and_no_longer_exercised() -> None:
    a = campaign(never={"heap": ["DD-27", "DD-35"]})
    b = campaign(speed=0.8, never={"heap": ["DD-08", "DD-27"]})
    both = compare(a, b, ("a", "b"))
    assert both.slower == BUNDLED
    assert both.unexercised == [(HEAP, "DD-08")]
    assert both.verdict == "0 new, 0 gone, 0 in both, 3 lanes slower, 1 rule no longer exercised"
    rows = {section.title: section.rows for section in compare_text(a, b, ("a", "b"))}
    assert [row[-1] for row in rows["Rules not exercised"]] == [
        "no longer exercised",
        "never exercised in either",
        "exercised now",
    ]
    assert {row[-1] for row in rows["Speed"]} == {"slower"}
    assert compare(b, a, ("b", "a")).slower == []
    assert compare(campaign(), campaign(speed=0.95), ("a", "b")).slower == []
    assert not compare(campaign(), campaign(), ("a", "b")).worse


def test_a_lane_that_was_not_run_is_not_gone_for_good() -> None:
    a = campaign([HEAP, MUTANT], findings=[found(*MUTANT, "DD-05", "add", 90)])
    rows = {s.title: s.rows for s in compare_text(a, campaign([HEAP]), ("monday", "tuesday"))}
    assert rows["Gone"][0][-2:] == ["not run", "this lane is not in tuesday"]


def test_the_comparison_as_a_page_tells_what_is_new() -> None:
    a, b = campaign(), replace(rich(), finding_rows=[found(*MUTANT, "DD-05", "add", 5)])
    page = compare_html(a, b, ("a", "<b>"))
    assert page.count('class="finding"') == 1
    assert "&lt;b&gt;" in page
    assert "<script>document.title" not in page
    assert compare_html(b, a, ("b", "a")).count('class="finding"') == 0


# ---- JUnit


def test_a_finding_is_a_failure_and_a_rule_never_exercised_is_skipped() -> None:
    source = replace(rich(), message="bell \x07, null \x00, half \ud800")
    root = ET.fromstring(junit_xml(source).encode())
    assert root.tag == "testsuites"
    cases = {(c.get("classname"), str(c.get("name"))[:5]): c for c in root.iter("testcase")}
    odd = source.manifest.lanes[1]
    lane = f"{CONTRACT}.{odd.subject}.{odd.profile}"
    assert cases[lane, "DD-08"].find("skipped") is not None
    failure = cases[f"{CONTRACT}.mutant:strict-rounded-down.timebucket-ideal", "DD-05"].find("failure")
    assert failure is not None
    assert failure.get("message") == "950 walks failed, in 3 shapes; first in round 0"
    assert "bell \\u0007, null \\u0000, half \\ud800" in str(failure.text)
    assert "broker-tck replay --subject" in str(failure.text)
    assert root.get("failures") == "3"
    assert root.get("skipped") == "2"
    assert root.get("tests") == str(len(cases)) == str(sum(len(required(CONTRACT, *each)) for each in lanes(source)))
    assert [len(c) for c in cases.values()].count(1) == 5


def lanes(source: FakeSource) -> list[tuple[str, str]]:
    return [(lane.subject, lane.profile) for lane in source.manifest.lanes]
