"""Reports: what is computed of a campaign's tables, and what the pages, the comparison and the XML say of it."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from dataclasses import replace
from math import isclose
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import kit
import msgspec
import pytest
from campaigns.fake_store import (
    BUNDLED,
    CONTRACT,
    FINDINGS,
    NASTY,
    FakeSource,
    campaign,
    flood,
    found,
    manifest_of,
    rich,
    table,
    tiny,
)

from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.run import failure_bound
from broker_tck.properties.threads.search import Budget
from broker_tck.properties.verdict import at_most
from broker_tck.spark_fuzz.driver.manifest import Goal
from broker_tck.spark_fuzz.report.advice import Step, steps
from broker_tck.spark_fuzz.report.compare import GONE, NEW, STILL, compare, compare_html, compare_text
from broker_tck.spark_fuzz.report.data import FEW, report_of
from broker_tck.spark_fuzz.report.facts import required
from broker_tck.spark_fuzz.report.figures import late_share
from broker_tck.spark_fuzz.report.grouping import cover, entries
from broker_tck.spark_fuzz.report.junit import junit_xml
from broker_tck.spark_fuzz.report.page import report_html
from broker_tck.spark_fuzz.report.stories import CELL, MOST_STORIES, told
from broker_tck.spark_fuzz.report.words import clipped, counted, duration, listed, moment, one_in, short
from broker_tck.spark_fuzz.report.words import share as percent
from broker_tck.spark_fuzz.worker.findings import row_of

TIME_BUCKET, HEAP, MUTANT = BUNDLED
MEGABYTES = 2_000_000


# ---- Words


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (one_in(1 / 27_345), "1 in 27,000"),
        (one_in(1 / 100), "1 in 100"),
        (one_in(0.1), "1 in 10"),
        (one_in(0.423), "43 %"),
        (one_in(1.0), "100 %"),
        (at_most(0.0000361), "0.000037"),
        (at_most(0.003), "0.003"),
        (at_most(1.0), "1"),
        (at_most(0.0), "0"),
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
    ],
)
def test_numbers_are_said_as_people_read_them(said: str, expected: str) -> None:
    assert said == expected


def test_a_bound_is_never_said_smaller_than_it_is() -> None:
    rng = Random(1)
    for _ in range(500):
        bound = 10 ** -(7 * rng.random())
        assert bound <= float(at_most(bound)) < bound * 1.1
        part, _, whole = one_in(bound).replace(",", "").removesuffix(" %").rpartition(" in ")
        said = int(part) / int(whole) if part else int(whole) / 100
        assert bound <= said < bound * 1.1


# ---- Figures


def test_the_bound_of_a_rule_is_by_the_counted_walks_that_met_it_and_that_of_a_pair_by_all_that_passed() -> None:
    rows = [figure(name, count) for name, count in (("walks", 1000), ("failing", 400), ("counted", 120))]
    rows += [(0, "rule_walks", *HEAP, "DD-06", "", 37)]
    (pair,) = report_of(FakeSource(manifest_of([HEAP], 1, 1), rows, []), "store").pairs
    assert pair.failure_bound == failure_bound(600)
    rules = {each.rule.number: each for each in pair.rules}
    assert (rules["DD-06"].met, rules["DD-06"].bound) == (37, failure_bound(37))
    assert rules["DD-07"].missing
    page = report_html(FakeSource(manifest_of([HEAP], 1, 1), rows, []), "store")
    assert '<td class="num">37</td><td class="says">1 in 12</td>' in page
    assert "met in 37 of 120 counted walks. Fewer than <b>1 in 12</b> of such walks break it." in page


def figure(name: str, count: int, number: int = 0) -> tuple[Any, ...]:
    """A figure of the heap in a round."""
    return (number, "figure", *HEAP, name, "", count)


@pytest.mark.parametrize(
    ("operations", "states", "expected"),
    [
        ([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], [0, 50, 60, 70, 80, 90, 90, 90, 90, 90, 100], 0.1),
        ([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], [0] + [100] * 10, 0.0),
        ([0, 50, 100], [0, 0, 100], 0.2),
        ([0, 100], [0, 100], 0.1),
        ([0, 1, 2], [0, 0, 0], None),
        ([0], [0], None),
    ],
)
def test_what_the_last_tenth_of_the_operations_added(
    operations: list[int], states: list[int], expected: float | None
) -> None:
    share = late_share(operations, states)
    assert share is expected is None or isclose(share or 0.0, expected or 0.0, abs_tol=1e-9)


def test_the_figures_are_those_of_the_rows() -> None:
    source = campaign(rounds=70, hosts=["north", "south"])
    report = report_of(source, "store")
    sums: Counter[tuple[Any, ...]] = Counter()
    for _, *key, count in source.figure_rows:
        sums[tuple(key)] += count
    for pair in report.pairs:
        for name in ("walks", "operations", "counted", "failing", "milliseconds"):
            assert getattr(pair, name) == sums["figure", *pair.name, name, ""]
        assert {rule: met for rule, met in pair.met.items() if met} == {
            key[3]: count for key, count in sums.items() if key[:3] == ("rule_walks", *pair.name)
        }
        assert (pair.curve.operations[-1], pair.curve.states[-1]) == (
            pair.operations,
            sums["states", *pair.name, "", ""],
        )
        assert pair.speed == pair.operations / pair.milliseconds * 1000
    assert sum(report.figures.milliseconds) == sums["round", "", "", "milliseconds", ""]


def test_machines_are_told_with_what_they_did_and_how_fast() -> None:
    rows = [
        (number, "machine", "", "", name, host, count)
        for number in (0, 1)
        for host, counts in (("north", (3, 6000, 100)), ("south", (1, 2000, 50)))
        for name, count in zip(("shards", "operations", "milliseconds"), counts, strict=True)
    ]
    rows += [(0, "round", "", "", "milliseconds", "", 1000), (1, "round", "", "", "milliseconds", "", 2000)]
    rows += [figure("operations", 8000, number) for number in (0, 1)]
    source = FakeSource(manifest_of([HEAP], 1, 4), rows, [])
    figures = report_of(source, "store").figures
    assert figures.speeds == [8000, 4000]
    north, south = figures.machines
    assert (north.host, north.shards, north.operations, north.speed, north.speeds) == (
        "north",
        6,
        12000,
        60_000,
        [6000, 3000],
    )
    assert (south.host, south.shards, south.operations, south.speed, south.speeds) == (
        "south",
        2,
        4000,
        40_000,
        [2000, 1000],
    )
    page = report_html(source, "store")
    assert "2 machines made 5,333 operations a second by the clock." in page
    cells = [*re.findall(r'<td class="num" data-of="[^"]*">([^<]*)</td>', page.partition("north</th>")[2])[:5]]
    assert cells == ["6", "12,000", "75 %", "4,000", "60,000"]


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
    assert cover({rules: (walks, shapes) for rules, walks, shapes in lists}) == expected


# ---- What is said


def test_a_rule_that_the_profile_replaces_counts_as_exercised() -> None:
    pair = ("heap", "heap")
    (found_pair,) = report_of(campaign([pair], never={"heap": ["DD-02"]}), "store").pairs
    replaced = next(each for each in found_pair.rules if each.rule.number == "DD-02")
    assert replaced.replaced
    assert found_pair.never == []
    assert ">deviation<" in report_html(campaign([pair], never={"heap": ["DD-02"]}), "store")


GOOD, BAD, NEITHER = ' class="good"', ' class="bad"', ""


@pytest.mark.parametrize(
    ("source", "headline", "colour"),
    [
        (campaign(rounds=12), "No finding; failures &lt; 0.00013", GOOD),
        (
            campaign(rounds=12, never={"heap": ["DD-08"]}),
            "No finding, but 1 rule never exercised; failures &lt; 0.00013",
            NEITHER,
        ),
        (tiny(), "No finding in a small campaign; failures &lt; 0.025", NEITHER),
        (campaign(rounds=0), "No walk was run", NEITHER),
        (campaign(findings=[found(*MUTANT, "DD-05", "add", 1)]), "1 finding in 1 subject", BAD),
        (campaign(unfinished=[3]), "No finding, 1 shard not finished", BAD),
        (rich(), "3 findings in 2 subjects, 2 shards not finished", BAD),
        (
            FakeSource(manifest_of([HEAP], 1, 1), [figure("walks", 9), figure("failing", 2)], []),
            "2 failing walks, no finding",
            BAD,
        ),
    ],
)
def test_the_headline_is_the_verdict(source: FakeSource, headline: str, colour: str) -> None:
    assert re.findall(r"<h1([^>]*)>(.*?)</h1>", report_html(source, "store")) == [(colour, headline)]


def test_a_small_campaign_is_called_small_and_what_it_did_not_count_is_no_failure() -> None:
    page = report_html(tiny(), "store")
    assert "<b>This campaign is small.</b> It counted rules in only 6 walks of time-bucket" in page
    assert page.count("broker-tck fuzz resume store --rounds 10</code>") == 2
    assert "never exercised" not in page
    assert '<td class="says">not counted yet</td>' in page
    assert "weakest bound" not in page
    assert not re.search(r'class="(never|warn|bad)"', page)
    fails = report_of(FakeSource(manifest_of([HEAP], 1, 1), [figure("walks", 9), figure("failing", 9)], []), "store")
    assert fails.small is None
    enough = [figure("walks", 99), figure("counted", FEW)]
    page = report_html(FakeSource(manifest_of([HEAP], 1, 1), enough, []), "store")
    assert "This campaign is small" not in page
    assert re.search(r"heap never exercised <b>DD-01, .* more</b> in 30 counted walks", page)
    assert '<td class="says">never exercised</td>' in page
    assert "weakest bound" not in page


def test_shards_that_were_not_finished_are_told_after_the_findings() -> None:
    page = report_html(campaign(unfinished=[3, 17], message="<killed>"), "store")
    (section,) = re.findall(r'<section id="unfinished">.*?</section>', page, re.DOTALL)
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', section)
    assert rows == [
        ("round 3, shard 3, seed 291", "its process ended with status -9: &lt;killed&gt;"),
        ("round 17, shard 3, seed 1649", "its process ended with status -9: &lt;killed&gt;"),
    ]
    assert page.index('id="findings"') < page.index('id="unfinished"') < page.index('id="rules"')
    assert 'id="unfinished"' not in report_html(campaign(), "store")


def advice(source: FakeSource, where: str = "store") -> list[Step]:
    return steps(report_of(source, where), {})


def commands(source: FakeSource, where: str = "store") -> list[str]:
    return [step.command for step in advice(source, where)]


def test_what_to_run_next_follows_from_what_was_found() -> None:
    broken = campaign(findings=[found(*MUTANT, "DD-05", "add", 3)])
    assert commands(broken)[0] == "broker-tck check --subject mutant:strict-rounded-down"
    assert commands(campaign(), "a store") == [
        "broker-tck fuzz --seed 8 --store 'a store-8'",
        "broker-tck fuzz merge 'a store' 'a store-8' --into 'a store-merged'",
    ]
    assert commands(campaign(growing=["heap"])) == ["broker-tck fuzz resume store --rounds 80"]
    some = commands(campaign(never={"heap": ["DD-08"]}))
    assert some[0] == "broker-tck check --subject heap --walks 10000"
    every = {subject: ["DD-08"] for subject, _ in BUNDLED}
    assert commands(campaign(never=every))[0] == f"broker-tck prove --contract {CONTRACT}"
    assert [(step.what, step.command) for step in advice(campaign(rounds=0))] == [
        ("Run the campaign", "broker-tck fuzz resume store")
    ]


def test_advice_that_few_rounds_cannot_support_is_not_given() -> None:
    hosts = {"hosts": ["north", "south", "west"], "slow": ["west"]}
    few = advice(campaign(rounds=1, growing=["heap"], **hosts))
    assert [(step.what, step.why) for step in few] == [
        ("Go on with this campaign", "Twice the walks exclude failures that are half as frequent.")
    ]
    first = tiny()
    goal = msgspec.structs.replace(first.manifest, goal=Goal(rounds=80))
    asked = [("Run a larger campaign", f"broker-tck fuzz resume store --rounds {rounds}") for rounds in (10, 80)]
    both = advice(first) + advice(replace(first, manifest=goal))
    assert [(step.what, step.command) for step in both] == asked
    many = advice(campaign(rounds=10, growing=["heap"], **hosts))
    assert [step.what for step in many] == ["Go on with this campaign", "Look at west"]
    assert "of its states in the last tenth" in many[0].why
    assert "west ran at 5" in many[1].why


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
    pair = (name, "heap")
    odd = report_html(campaign([pair], findings=[found(*pair, "DD-05", "add", 1)]), f"store {name}")
    assert "<img" not in odd


def test_the_same_input_gives_the_same_page() -> None:
    code = (
        "from campaigns.fake_store import rich; from broker_tck.spark_fuzz.report.page import report_html;"
        "import hashlib;"
        "print(hashlib.sha256(report_html(rich(), 'store').encode()).hexdigest())"
    )
    path = ":".join(filter(None, [str(kit.ROOT / "tests"), *sys.path]))
    other = kit.python("-c", code, PYTHONPATH=path, PYTHONHASHSEED="1")
    here = hashlib.sha256(report_html(rich(), "store").encode()).hexdigest()
    assert other.stdout.strip() == here, other.stderr


def test_many_findings_long_traces_and_long_messages_do_not_fill_the_page() -> None:
    assert len(report_html(flood(30_000, subjects=300, rounds=12), "store").encode()) < MEGABYTES
    loud = replace(flood(3_000, length=400), message=NASTY * 20)
    page = report_html(loud, "store")
    assert len(page.encode()) < MEGABYTES
    assert len(loud.asked) == MOST_STORIES
    assert f"… ({len(NASTY) * 20 - CELL:,} more characters)" in page


def test_stories_are_told_in_turns_and_the_rest_is_counted() -> None:
    source = rich()
    grouped = entries(source.findings())
    stories = told(source, grouped)
    assert [len(each.stories) for each in stories] == [3, 5, 1]
    assert [key[3] for key in source.asked[:3]] == [e.common[0].key[3] for e in grouped]
    assert stories[1].rest == (16, 16)
    page = report_html(source, "store")
    assert "The store has 16 further shapes, of 16 failing walks." in page
    assert "98 operations left out" in page


def test_a_real_finding_is_told_in_full() -> None:
    subject = kit.subject_of(kit.OneTooMany)
    finding = kit.found(subject, kit.first_failing(subject))
    assert finding
    row = row_of(replace(finding, note="A note."))
    pair = (row.subject, row.profile)
    source = campaign([pair], findings=[found(*pair, row.name, row.key, 4, row.length)])
    source.told = {(row.subject, row.profile, row.name, row.key): row.text}
    page = report_html(source, "store")
    (each,) = told(source, entries(source.findings()))
    (story,) = each.stories
    assert story.lines[-1].seen
    for text in (
        story.diagnosis,
        *story.found.sentences,
        story.replay,
        "A note.",
        *(line.expected for line in story.lines),
    ):
        assert escaped(text) in page
    (failure,) = ET.fromstring(junit_xml(source)).iter("failure")
    assert str(failure.text).splitlines()[-1].strip() == story.replay


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
    assert [tuple(c.entry.place) for c in both.changes[NEW]] == [(*TIME_BUCKET, "DD-20")]
    assert [tuple(c.entry.place) for c in both.changes[GONE]] == [(*HEAP, "DD-09")]
    assert [tuple(c.entry.place) for c in both.changes[STILL]] == [(*MUTANT, "DD-05")]
    assert both.verdict == "1 new, 1 gone, 1 in both"
    assert both.worse
    rows = {section.title: section.rows for section in compare_text(a, b, ("a", "b"))}
    assert rows["New"][0][-1] == "not chance: at that rate 7 walks would have failed"
    assert rows["Gone"][0][-1].startswith("may be chance")
    assert rows["In both"][0][-1].endswith("times as rare")


def test_slower_and_no_longer_exercised() -> None:
    a = campaign(never={"heap": ["DD-27", "DD-35"]})
    b = campaign(speed=0.8, never={"heap": ["DD-08", "DD-27"]})
    both = compare(a, b, ("a", "b"))
    assert both.slower == BUNDLED
    assert both.unexercised == [(HEAP, "DD-08")]
    assert both.verdict == "0 new, 0 gone, 0 in both, 3 pairs slower, 1 rule no longer exercised"
    rows = {section.title: section.rows for section in compare_text(a, b, ("a", "b"))}
    assert [row[-1] for row in rows["Rules not exercised"]] == [
        "no longer exercised",
        "not exercised in either",
        "exercised now",
    ]
    assert {row[-1] for row in rows["Speed"]} == {"\N{MINUS SIGN}20 %"}
    small = compare(a, tiny(), ("a", "tiny"))
    assert (small.unexercised, small.worse) == ([], False)
    rows = {section.title: section.rows for section in compare_text(b, tiny(), ("b", "tiny"))}
    assert [row[-1] for row in rows["Rules not exercised"]] == ["not counted yet", "exercised now"]
    assert compare(b, a, ("b", "a")).slower == []
    assert compare(campaign(), campaign(speed=0.95), ("a", "b")).slower == []
    assert compare(campaign(rounds=1), campaign(rounds=1, speed=0.5), ("a", "b")).slower == []
    assert not compare(campaign(), campaign(), ("a", "b")).worse


def test_walks_are_not_compared_with_programs_of_threads() -> None:
    races = campaign(rounds=1)
    races.manifest = msgspec.structs.replace(races.manifest, threads=Budget(9))
    with pytest.raises(BadInput, match="b: a campaign of programs; a is of walks"):
        compare_text(campaign(rounds=1), races, ("a", "b"))


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
    odd = source.manifest.pairs[1]
    pair = f"{CONTRACT}.{odd.subject}.{odd.profile}"
    assert cases[pair, "DD-08"].find("skipped") is not None
    failure = cases[f"{CONTRACT}.mutant:strict-rounded-down.timebucket-ideal", "DD-05"].find("failure")
    assert failure is not None
    assert failure.get("message") == "950 walks failed, in 3 shapes; first in round 0"
    assert "bell \\u0007, null \\u0000, half \\ud800" in str(failure.text)
    assert "broker-tck replay --subject" in str(failure.text)
    assert cases[f"{CONTRACT}.shards", "round"].get("name") == "round 17, shard 3, seed 1649"
    assert (root.get("failures"), root.get("skipped")) == ("5", "2")
    rules = sum(len(required(CONTRACT, *each)) for each in pairs(source))
    assert root.get("tests") == str(len(list(root.iter("testcase")))) == str(rules + 2)
    assert [suite.get("failures") for suite in root] == ["0", "2", "1", "2"]
    skipped = [each.get("message") for each in ET.fromstring(junit_xml(tiny())).iter("skipped")]
    assert "not counted yet in 6 counted walks" in skipped


def pairs(source: FakeSource) -> list[tuple[str, str]]:
    return [(pair.subject, pair.profile) for pair in source.manifest.pairs]
