"""The pages as a reader gets them: in Chromium, on a phone and on a desk, in light and in dark.

The pictures are kept in the folder that SCREENSHOTS names, if it is set.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import pytest
from campaigns.browser import Browser
from campaigns.fake_store import BUNDLED, campaign, flood, found, rich, tiny

from broker_tck.cli.compare import page as subjects_html
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.explain.deviating import deviation
from broker_tck.properties.report.compare import Column, Verdict, compared_rules
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.report.threads import RaceResult
from broker_tck.spark_fuzz.report.compare import compare_html
from broker_tck.spark_fuzz.report.grouping import entries
from broker_tck.spark_fuzz.report.page import report_html
from broker_tck.spark_fuzz.report.races import races_html
from broker_tck.spark_fuzz.report.stories import told

SCREENS = {"phone": (390, 844, "dark"), "desk": (1280, 900, "light")}
"""Sizes decide the layout, and schemes the contrast, so two screens show each of both."""
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}
OPENED = "for (const each of document.querySelectorAll('details')) each.open = true"
FETCHED = """[...document.querySelectorAll("[src], link[href]")]
  .map((each) => each.getAttribute("src") ?? each.getAttribute("href"))
  .filter((place) => !place.startsWith("data:"))"""
DRAWN = "[...document.body.querySelectorAll('*')].filter((each) => each.checkVisibility()).length"
MOST_DRAWN = 25_000
"""A page opens with so many elements at most: one of 3,000 findings, folded, has 22,939."""
NAMES = [
    "sorted-buckets",
    "pip-393-java",
    "my_package.tracker:MyTracker",
    "broker_negative_acks.clients.pulsar_rust:MultiTopicTracker",
    "go-old",
    "mutant:strict-rounded-down",
    "my_package.tracker:MyOtherTracker",
    "fsharp",
]
MARKS = {("✓", "keeps"), ("✗", "breaks"), ("\N{EN DASH}", "not exercised")}
PLACES = """(() => {
  const box = (node) => node.getBoundingClientRect();
  const mark = (cell) => [cell.innerText, cell.title, (box(cell.firstChild).left + box(cell.firstChild).right) / 2];
  return [
    [...document.querySelectorAll("thead a")].map((a) => [a.textContent, box(a).left, box(a).right]),
    [...document.querySelectorAll(".grid tbody tr")].map((row) => [...row.querySelectorAll("td[title]")].map(mark)),
  ];
})()"""
LED = """[...document.querySelectorAll(".grid td a")].map((a) => {
  const finding = document.getElementById(a.hash.slice(1));
  const cells = [a.closest("td").title, a.closest("tr").querySelector("th").textContent];
  return [...cells, finding.innerText.split(/\\s+/).join(" "), finding.querySelectorAll(".story .last .seen").length];
})"""
SWITCHES = """[...document.querySelectorAll("svg.switch")].map((svg) => {
  const middle = (node) => { const { left, right } = node.getBoundingClientRect(); return (left + right) / 2; };
  const row = svg.closest("tr"), lane = (row) => row.querySelector("td[class]").getBoundingClientRect().left;
  const [from, , to] = svg.querySelectorAll(".goes");
  const dashed = getComputedStyle(from).strokeDasharray !== "none";
  const places = [middle(from), middle(to), middle(svg.querySelector(".head path"))];
  const lanes = [lane(row.previousElementSibling), lane(row.nextElementSibling)];
  return [svg.querySelector("title").textContent, dashed, ...places, ...lanes];
})"""
LANES = "[...document.querySelectorAll('.lanes td[class]')].map((cell) => cell.textContent)"
CHECKED = (Path(__file__).parent / "checks.js").read_text(encoding="utf-8")


def compared() -> str:
    a = campaign(findings=[found(*BUNDLED[2], "DD-05,DD-09", "add", 9), found(*BUNDLED[1], "DD-09", "x", 2)])
    new = [found(*BUNDLED[2], "DD-05", "add", 5), found(*BUNDLED[0], "DD-20", "get", 7, 40)]
    b = campaign(findings=new, never={"heap": ["DD-02"]}, speed=0.8, seed=8)
    return compare_html(a, b, ("stores/monday", "/var/lib/campaigns/a-store-with-a-rather-long-name/tuesday"))


def subjects() -> str:
    java = resolve("pip-393-java")
    rules = [rule.number for rule in compared_rules(java.contract)]
    broken = {number: deviation(java, "pip-393-java", number, 0) for number in ("NA-16", "NA-23")}
    traces = {number: finding_result(finding) for number, finding in broken.items() if finding}
    columns = []
    for count, name in enumerate(NAMES):
        profile = "pip-393-java" if name != NAMES[-1] else None
        kept = cycle([Verdict.KEEPS] * (count if profile else 0) + [Verdict.NOT_EXERCISED])
        breaks = dict(list(traces.items())[: count % 3])
        verdicts = dict(zip(rules, kept, strict=False)) | dict.fromkeys(breaks, Verdict.BREAKS)
        columns.append(Column(name, profile, verdicts, breaks, 60, 24_215))
    return subjects_html(java.contract, columns)


TWO = [
    ["", "get 0 1 1"],
    ["", "  … 5 points"],
    ["", "  RangeCacheEntryWrapper.getValue:115 write accessed"],
    ["put 0 1 2 5 0", ""],
    ["  AbstractCASReferenceCounted.release0:100 AtomicIntegerFieldUpdater.compareAndSet", ""],
    ["-> true", ""],
    ["", "  AbstractCASReferenceCounted.retain0:64 read refCnt"],
    ["", "-> miss"],
]
LAST = ((3, "size"), (0, "clear"), (2, "<b>x</b>"))
FOUR = [[text if i == thread else "" for i in range(4)] for thread, text in LAST]
"""The lines of two runs, by thread."""


def races() -> str:
    subject, promise = ("my_package.caches:MyOwnRangeCache", "pip-430-5.0"), "A mark falls on nothing else."
    told = {"program": "", "schedule": "", "history": "", "replay": "broker-tck threads --replay 'entry-cache …'"}
    wrong = {"broken": promise, "rule": "EC-11", "sentence": "A read marks.", "where": "ttl 0", "seen": "[0 entries]"}
    before = ["put 0 1 1 10 0 -> true, caches [[1 entry, 10 bytes] [0 entries, 0 bytes]], references 1 value"]
    found = [
        RaceResult(*subject, threads=TWO, before=before, after=["ttl 0"], expected=("[1 entry]",), **told, **wrong),
        RaceResult(*subject, threads=FOUR, before=[], after=[], **told),
    ]
    head = ["verdict", "subject", "profile", "programs", "schedules", "histories", "failing"]
    quiet = ["no race found", "pulsar-5.0.1/cursor-tree-set", "pulsar-tree-set", "1,000", "447,388", "12,345", "0"]
    return races_html(found, head, [["RACE", *subject, "400", "370,123", "9,876", "1"], quiet])


PAGES: dict[str, Callable[[], str]] = {
    "findings": lambda: report_html(rich(), "/var/campaigns/nightly"),
    "green": lambda: report_html(campaign(), "store"),
    "tiny": lambda: report_html(tiny(), "store"),
    "many": lambda: report_html(flood(3000), "store"),
    "empty": lambda: report_html(campaign(rounds=0), "store"),
    "comparison": compared,
    "subjects": subjects,
    "races": races,
}


def written(folder: Path, name: str) -> Path:
    page = folder / f"{name}.html"
    page.write_text(PAGES[name](), encoding="utf-8")
    return page


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off_faint_or_squashed_and_little_is_drawn(chromium: Browser, shots: Path, name: str) -> None:
    page = written(shots, name)
    for screen, (width, height, scheme) in SCREENS.items():
        chromium.open(page, width, height, scheme)
        assert chromium.evaluate(FETCHED) == []
        assert chromium.evaluate(DRAWN) < MOST_DRAWN
        assert chromium.evaluate("getComputedStyle(document.body).backgroundColor") == GROUND[scheme]
        chromium.picture(shots / f"{name}-{screen}.png")
        assert chromium.evaluate(CHECKED) == []
        chromium.evaluate(OPENED)
        assert chromium.evaluate(CHECKED) == []


@pytest.mark.parametrize("screen", SCREENS)
def test_an_arrow_leads_from_the_lane_of_a_thread_to_that_of_the_next(
    chromium: Browser, shots: Path, screen: str
) -> None:
    chromium.open(written(shots, "races"), *SCREENS[screen])
    switches = chromium.evaluate(SWITCHES)
    said = [(said, dashed) for said, dashed, *_ in switches]
    assert said == [
        ("thread 0 goes on after thread 1", False),
        ("thread 1 goes on after thread 0", True),
        ("thread 0 goes on after thread 3", True),
        ("thread 2 goes on after thread 0", True),
    ]
    for *_, begins, ends, head, before, after in switches:
        assert (begins, ends, head) == pytest.approx((before, after, after), abs=2)
    assert [text for text in chromium.evaluate(LANES) if "<b>" in text] == ["<b>x</b>"]


@pytest.mark.parametrize("screen", SCREENS)
def test_the_marks_of_subjects_stand_below_their_names_and_lead_to_the_traces(
    chromium: Browser, shots: Path, screen: str
) -> None:
    width, height, scheme = SCREENS[screen]
    chromium.open(written(shots, "subjects"), width, height, scheme)
    assert chromium.evaluate("document.documentElement.scrollWidth") == width
    names, rows = chromium.evaluate(PLACES)
    assert [name for name, *_ in names] == NAMES
    assert all(right <= left for (*_, right), (_, left, _) in pairwise(names))
    assert {(mark, says.rpartition(": ")[2]) for row in rows for mark, says, _ in row} == MARKS
    for row in rows:
        for (name, left, right), (_, says, middle) in zip(names, row, strict=True):
            assert says.startswith(f"{name}: ")
            assert middle == pytest.approx((left + right) / 2, abs=1)
    led = chromium.evaluate(LED)
    assert len(led) == 7
    for says, rule, finding, last in led:
        assert says.endswith(": breaks")
        assert finding.startswith(f"{rule} ")
        assert f"Broken by {says.removesuffix(': breaks')}." in finding
        assert last == 1


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (
            "h1.style.whiteSpace = 'nowrap'; h1.textContent += 'x'.repeat(99)",
            "the page scrolls sideways",
        ),
        (
            "h1.style.cssText = 'overflow: hidden; white-space: nowrap; width: 20px'",
            "cut off",
        ),
        ("facts.style.color = '#999'", "contrast 2.85"),
        ("facts.style.width = '12px'", "squashed"),
        ("facts.style.fontSize = '6px'", "too small"),
    ],
)
def test_the_checks_see_what_is_wrong(chromium: Browser, shots: Path, breaks: str, says: str) -> None:
    chromium.open(written(shots, "green"), 390, 844, "light")
    names = "const h1 = document.querySelector('h1'), facts = document.querySelector('.facts')"
    chromium.evaluate(f"{{ {names}; {breaks} }}")
    assert any(each.startswith(says) for each in chromium.evaluate(CHECKED))


def test_a_subject_s_message_is_text_and_nothing_is_fetched(chromium: Browser, shots: Path) -> None:
    page = written(shots, "findings")
    chromium.open(page, 1280, 900, "light")
    asked = [e["params"]["request"]["url"] for e in chromium.events if e.get("method") == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]
    assert chromium.evaluate("document.title").startswith("3 findings in 2 subjects")
    assert chromium.evaluate("document.querySelectorAll('main script, .story b').length") == 0


def test_the_copy_button_copies_the_whole_replay_line(chromium: Browser, shots: Path) -> None:
    chromium.open(written(shots, "findings"), 1280, 900, "light")
    (short, *_), (long, *_) = (
        [s.replay for s in each.stories] for each in told(rich(), entries(rich().findings()))[:2]
    )
    assert len(long) > 1000
    for number, line in ((1, short), (2, long)):
        command = f"document.querySelector('#finding-{number} .command')"
        assert copied(chromium, command) == [line]
        assert chromium.evaluate(f"{command}.querySelector('button').textContent") == "Copied"


def copied(chromium: Browser, command: str) -> Any:
    """What a click on a command's button puts on the clipboard."""
    return chromium.evaluate(
        f"""(async () => {{
          const written = [];
          navigator.clipboard.writeText = async (text) => {{ written.push(text); }};
          {command}.querySelector("button").click();
          await new Promise((done) => setTimeout(done));
          return written;
        }})()"""
    )


def test_the_page_works_without_scripts(chromium: Browser, shots: Path) -> None:
    chromium.open(written(shots, "findings"), 390, 844, "light", scripts=False)
    chromium.picture(shots / "findings-no-scripts.png")
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    assert "Copy" not in {node.get("name", {}).get("value") for node in nodes}
    assert any("broker-tck replay" in str(node.get("name", {}).get("value")) for node in nodes)
