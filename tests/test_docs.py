"""The documentation: generated pages are as the code is, links lead somewhere, examples are replayed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import click
import jsonschema
import msgspec
import pytest
from kit import replay

from broker_tck import check, fixtures
from broker_tck.cli.main import cli, run
from broker_tck.cli.plugin import names_of, plugin
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled
from broker_tck.properties.engine.trace import from_text, load, to_json
from broker_tck.properties.proving.proofs import stored
from broker_tck.properties.search.replay import declaring

REPO = Path(__file__).parents[1]
DOCS = REPO / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted((REPO / "examples").rglob("*.md"))]
TOP = [REPO / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PASTED = ("check", "replay", "rules", "threads")
"""The commands whose output is compared with what pages show."""
BLOCK = re.compile(r"^ *```.*?^ *```$", flags=re.DOTALL | re.MULTILINE)
TRACES = (DOCS / "trace-format.md").read_text(encoding="utf-8")


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that writes the pages, which is in no package."""
    monkeypatch.syspath_prepend(DOCS)
    return import_module("generate")


@pytest.mark.slow
def test_generated_pages_are_up_to_date(generator: ModuleType) -> None:
    for name, text in generator.pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"docs/{name} is old; run python docs/generate.py"


def test_walks_crash_wherever_a_broker_can(generator: ModuleType) -> None:
    page = (DOCS / "crash-points.md").read_text(encoding="utf-8")
    met = dict(re.findall(r"^\| (C\d+) \|.*\| (\d+) \|$", page, flags=re.MULTILINE))
    conditions = import_module("crash_conditions")
    assert met.keys() == {*conditions.CRASH_POINTS, *conditions.IN_TIME}
    assert min(map(int, met.values())) > 0


def cells(page: Path, column: str) -> Iterator[str]:
    """What is in backticks below a column of this name, in the tables of a page."""
    where = None
    for line in page.read_text(encoding="utf-8").splitlines():
        row = [cell.strip() for cell in line.split("|")[1:-1]]
        where = None if not row else row.index(column) if column in row else where
        if where is not None and where < len(row):
            yield from re.findall("`([^`]+)`", row[where])


@pytest.mark.parametrize("column", ["mutant", "broken by, among others"])
def test_tables_name_known_mistakes(column: str) -> None:
    known = {proof.mistake for proof in stored()}
    named = [(page.name, name) for page in (REPO / "docs").glob("*.md") for name in cells(page, column)]
    assert named
    assert [each for each in named if each[1] not in known] == []


# ---- Counts


class Recorded(msgspec.Struct):
    """A recorded trace; only its steps are counted."""

    profile: str
    steps: list[msgspec.Raw]


def recorded() -> dict[str, tuple[int, int]]:
    """How many traces and steps were recorded, by profile, worked examples aside; and of each contract in all."""
    counts: dict[str, tuple[int, int]] = {}
    for name in CONTRACTS:
        files = [path for path in fixtures.golden(name) if not path.name.startswith("worked-")]
        for line in (line for path in files for line in path.read_bytes().splitlines()):
            trace = msgspec.json.decode(line, type=Recorded)
            for kind in (trace.profile if trace.profile != "ideal" else f"{name} ideal", name):
                traces, steps = counts.get(kind, (0, 0))
                counts[kind] = traces + 1, steps + len(trace.steps)
    return counts


def test_as_many_traces_were_recorded_as_pages_say() -> None:
    counts = {f"{traces:,} of {steps:,}" for traces, steps in recorded().values()}
    told = {
        f"{traces} of {steps}"
        for page in PAGES
        for text in [re.sub(BLOCK, "", page.read_text(encoding="utf-8"))]
        for traces, steps in re.findall(r"(\d[\d,]*) (?:traces )?of (\d[\d,]*) steps", text)
    }
    assert len(told) == 5
    assert told <= counts


def test_first_page_shows_every_bundled_subject() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    pairs = {(s.name, profile) for contract in CONTRACTS.values() for s in bundled(contract) for profile in s.profiles}
    shown = re.findall(r"^conforms +(\S+) +(\S+) +(?:none recorded|(\d+)/(\d+)) ", page, flags=re.MULTILINE)
    assert f"{len(pairs)} of {len(pairs)} conform" in page
    assert {(name, profile) for name, profile, *_ in shown} <= pairs
    counts = recorded()
    for _, profile, agreed, steps in shown:
        assert agreed == steps == (str(counts[profile][1]) if profile in counts else "")


# ---- Links and words


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as mkdocs and GitHub make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[str]:
    """The links of a page that lead to no other host."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield from (target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target)


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name}: {link} is not there"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link} has no such heading"


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_page_of_a_contract_says_what_everything_is(contract: Contract) -> None:
    page = (DOCS / "contracts" / f"{contract.name}.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([\w.-]+)(.+)", page, flags=re.MULTILINE))
    records = (contract.config, contract.capabilities)
    fields = [name for record in records for name in record.__struct_fields__]
    tags = [str(kind.__struct_config__.tag) for kind in get_args(contract.operations)]
    for name in [*tags, *fields, *contract.observables, *contract.profiles]:
        assert re.search(r"\| [^|]{9,}\. \|", told[name]), f"{name} is not told"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (REPO / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert sorted(re.findall(r"[\w/-]+\.md", navigation)) == pages


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=lambda page: page.name)
def test_rules_that_are_named_exist(page: Path) -> None:
    known = {number for contract in CONTRACTS.values() for number in contract.rules}
    prefixes = {number.partition("-")[0] for number in known}
    named = set(re.findall(rf"\b(?:{'|'.join(prefixes)})-\d\d\b", page.read_text(encoding="utf-8")))
    assert named <= known


# ---- Output

BUILT = {"exec:./adapter", "exec:./target/release/adapter", "exec:node main.js"}
ELSEWHERE = {*BUILT, "my-tracker", "my_tracker:MyTracker", "my_policy:MyPolicy", "cut.jsonl", "readers:slowest_reader"}
"""What the pages make as they go."""


def outputs() -> Iterator[tuple[str, list[str], list[str]]]:
    """Page, command and output of what is pasted, where it needs no plug-in and no file, and takes no time."""
    for page in [*PAGES, *TOP]:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            for part in block.replace("\\\n", "").removeprefix("$ ").split("\n$ "):
                first, *rest = part.rstrip("\n").splitlines()
                words = shlex.split(first)
                plain = "|" not in words and not ELSEWHERE & {*words}
                if plain and words[0] == "broker-tck" and len(words) > 2 and words[1] in PASTED:
                    yield page.name, words[1:], rest


def of_java(words: list[str]) -> bool:
    """Whether a command has a class of a release as its subject: those are run with the other tests of Java."""
    return any(re.match(r"pulsar-\d", word) for word in words)


def of_the_go_client(words: list[str]) -> bool:
    """Whether a command has the Go client as its subject: those are run with the other tests of Go."""
    return any(word.startswith("pulsar-client-go") for word in words)


def of_a_contract(words: list[str]) -> bool:
    """Whether a command checks all subjects of a contract, with the default number of walks."""
    return "--contract" in words


def of_an_example_that_conforms(words: list[str]) -> bool:
    """Whether a command checks an example of a subject, with enough walks for every rule."""
    modules = {path.stem for path in (REPO / "examples" / "subjects").glob("*.py")}
    return "--fail-fast" not in words and any(word.partition(":")[0] in modules for word in words)


@pytest.mark.parametrize(
    ("page", "words", "told"),
    [
        pytest.param(
            *each,
            marks=pytest.mark.deep
            if of_a_contract(each[1]) or of_an_example_that_conforms(each[1])
            else pytest.mark.slow,
        )
        for each in outputs()
        if not of_java(each[1]) and not of_the_go_client(each[1])
    ],
    ids=lambda value: str(value)[:40],
)
def test_output_is_what_is_printed(
    page: str, words: list[str], told: list[str], capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command on the pages prints what the page shows."""
    monkeypatch.syspath_prepend(REPO / "examples" / "subjects")  # whose page shows checks of what is in its folder
    see_output(page, words, told, capfd)


def see_output(page: str, words: list[str], told: list[str], capfd: Any) -> None:
    if "nonesuch" in words:
        told = [told[0].partition(";")[0] + ";…"]
    run(words)
    printed = capfd.readouterr()
    lines = [line.rstrip() for line in (printed.out + printed.err).rstrip("\n").splitlines()]
    pattern = "\n".join(".*" if line == "…" else re.escape(line).replace("…", ".*") for line in told)
    assert re.fullmatch(pattern, "\n".join(lines), flags=re.DOTALL), f"{page}: {shlex.join(words)} prints otherwise"


# ---- Command lines


def command_lines(page: Path) -> set[str]:
    """The command lines of a page: those in its blocks, and those in its sentences."""
    text = page.read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line.strip().removeprefix("$ ") for block in re.findall(BLOCK, text) for line in block.splitlines()]
    quoted = [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", re.sub(BLOCK, "", text))]
    quoted += [words for line in lines for words in re.findall(r"`([^`]+)`", line)]
    return {line for line in (*lines, *quoted) if line.startswith("broker-tck ")}


def parsed(command: click.Command, words: list[str]) -> None:
    """See that a command takes these options and so many arguments; their values are not looked at."""
    context = click.Context(command)
    _, left, _ = command.make_parser(context).parse_args(words)
    if isinstance(command, click.Group) and left:
        below = command.get_command(context, left[0])
        assert below, f"there is no command {left[0]}"
        parsed(below, left[1:])
    else:
        assert not left, f"what is {left[0]}?"


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=lambda page: page.name)
def test_command_lines_parse(page: Path) -> None:
    for line in sorted(command_lines(page)):
        _, *words = takewhile(lambda word: word not in ("|", ">", "&", "&&"), shlex.split(line, comments=True))
        if words[0] not in ("COMMAND", "…"):
            parsed(cli, words)


def test_command_lines_that_are_wrong_do_not_parse() -> None:
    for line, says in (("fuzz --stor x", "--stor"), ("fuzz start", "no command start"), ("watch a b", "what is b")):
        with pytest.raises((click.UsageError, AssertionError), match=says):
            parsed(cli, line.split())


WRITTEN = plugin(CONTRACTS["delayed-delivery"], names_of("my-tracker"))
POLICY = "What yours does otherwise"
WITH_HYPOTHESIS = "With Hypothesis"


def code_of_the_tutorial() -> tuple[list[str], list[str]]:
    """The blocks of code of the tutorial: rules and a policy of one's own, and all others."""
    blocks: tuple[list[str], list[str]] = [], []
    for chapter in re.split(r"^## ", (DOCS / "tutorial.md").read_text(encoding="utf-8"), flags=re.MULTILINE):
        of_template = not chapter.startswith((f"{POLICY}\n", f"{WITH_HYPOTHESIS}\n"))
        blocks[of_template].extend(re.findall(r"```(?:python|toml)\n(.*?)```", chapter, flags=re.DOTALL))
    return blocks


def test_code_of_the_tutorial_is_that_of_the_template() -> None:
    known = {line.strip() for text in WRITTEN.values() for line in text.splitlines()}
    _, blocks = code_of_the_tutorial()
    assert len(blocks) == 6
    for line in "".join(blocks).splitlines():
        assert line.strip() in known, line


@pytest.mark.slow
def test_policy_of_the_tutorial_is_one_that_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, due, accepts, pause, policy, profiles), _ = code_of_the_tutorial()
    tracker = WRITTEN["my_tracker.py"]
    head, body = due.splitlines()
    for old, new in (
        (rf"(    {re.escape(head)}\n)[^\n]+", rf"\g<1>    {body}"),
        (r"(    def should_pause_all_deliveries\(.+?\n) +return [^\n]+", rf"\g<1>        {pause.strip()}"),
        (r"    profiles = [^\n]+\n", f"    {profiles}    {accepts}"),
    ):
        tracker, count = re.subn(old, new, tracker, flags=re.DOTALL)
        assert count == 1, old
    for module, text in (("tutorial_policy", policy), ("tutorial_tracker", tracker)):
        (tmp_path / f"{module}.py").write_text(text.replace("policy:", "tutorial_policy:"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    result = check("tutorial_tracker:MyTracker", walks=100, examples=0)
    assert result.verdict == "conforms"
    assert [each.profile for each in result.profiles] == ["tutorial_policy:Patient~DD-06:at_its_start"]


# ---- Traces


def replayed(kind: str) -> list[str]:
    """The lines of the page's blocks of one kind that are marked as replayed."""
    blocks = re.findall(rf"<!-- replayed -->\n```{kind}\n(.*?)```", TRACES, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("line", replayed("text") + replayed("json"))
def test_examples_of_traces_replay(line: str, tmp_path: Path) -> None:
    file = tmp_path / "example.jsonl"
    file.write_text(line, encoding="utf-8")
    (trace,) = load(str(file)) if line.startswith("{") else [from_text(line)]
    done = replay(trace, declaring(trace.contract, trace.profile), None)
    assert done.agreed == len(trace.operations)
    assert not done.disagreements
    schema = msgspec.json.decode(fixtures.schema(trace.contract.name).read_bytes())
    jsonschema.validate(msgspec.json.decode(to_json(trace)), schema)


def test_examples_in_text_and_in_json_are_the_same() -> None:
    (plain, told), texts = replayed("json"), replayed("text")
    for line, text in ((plain, texts[0]), (told, texts[1])):
        from_json = msgspec.json.decode(line)["steps"]
        operations = [step[0] if isinstance(step[0], list) else step for step in from_json]
        assert operations == [msgspec.to_builtins(operation) for operation in from_text(text).operations]


def test_every_operation_and_field_is_described() -> None:
    contract = CONTRACTS["delayed-delivery"]
    for operation in get_args(contract.operations):
        words = " ".join((str(operation.__struct_config__.tag), *operation.__struct_fields__))
        assert f"| `{words}` |" in TRACES
    for field in msgspec.structs.fields(contract.config):
        assert re.search(rf"^\| `{field.name}` \|.*\| {str(field.default).lower()} \|$", TRACES, flags=re.MULTILINE)
