"""A campaign's store that was never run: tables of any size, made of a seed, as the report's sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

import pyarrow as pa

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.spark_fuzz.driver.manifest import Code, Goal, Manifest, Pair
from broker_tck.spark_fuzz.report.facts import required
from broker_tck.spark_fuzz.store.rows import TABLES, Key, arrow_schema

CONTRACT = "delayed-delivery"
FIGURES = arrow_schema(TABLES["figures"])
COLUMNS = ("subject", "profile", "rules", "shape", "count", "round", "shard", "walk", "length")
FINDINGS = pa.schema([arrow_schema(TABLES["findings"]).field(name) for name in COLUMNS])
NASTY = '<script>document.title="owned"</script> & <b>bold</b> \x00\x1b[31m \u202egnp.exe "quoted"'
BUNDLED = [("time-bucket", "timebucket-ideal"), ("heap", "heap"), ("mutant:strict-rounded-down", "timebucket-ideal")]
SHARDS = 8
"""Shards that a machine makes in a round."""
Row = tuple[Any, ...]


class Lacking(TimeBucketTracker):
    """Estimates no memory."""

    capabilities: ClassVar[dict[str, Any]] = {"memory_estimate": False}


@dataclass
class FakeSource:
    """Everything a report asks of a store; ``asked`` is for which texts it did."""

    manifest: Manifest
    figure_rows: Sequence[Row]
    finding_rows: Sequence[Row]
    told: Mapping[Key, str] = field(default_factory=dict)
    asked: list[Key] = field(default_factory=list)
    message: str = ""

    def figures(self) -> pa.Table:
        return table(self.figure_rows, FIGURES)

    def findings(self, rounds: int | None = None) -> pa.Table:
        return table(self.finding_rows, FINDINGS)

    def texts(self, keys: Sequence[Key]) -> dict[Key, str]:
        self.asked = list(keys)
        lengths = {row[:4]: row[8] for row in self.finding_rows}
        return {key: self.told.get(key) or text(key, lengths[key], self.message) for key in keys}


def manifest_of(pairs: Sequence[tuple[str, str]], seed: int, shards: int) -> Manifest:
    return Manifest(
        contract=CONTRACT,
        pairs=[Pair(*pair) for pair in pairs],
        seed=seed,
        shards=shards,
        operations=100_000,
        walk_seconds=10.0,
        walk_memory=512,
        code=Code("0.1.0", "d1g35t", "3.11", {"msgspec": "0.19.0", "pyroaring": "1.0.3"}, {}),
        started="2026-03-02T22:15:04+00:00",
        executor="spark://night-shift:7077",
        goal=Goal(),
    )


def table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    columns: Iterable[Any] = zip(*rows, strict=True) if rows else [[] for _ in schema]
    return pa.table([pa.array(list(c), f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def text(key: Key, length: int, message: str = "") -> str:
    """The JSON text of a finding, with every field that a shard gives it."""
    subject, profile, named, _ = key
    lines = [
        [f"add {n % 7} {n * 37 % 100} +{n * 512}", f"yes, count {n}, armed [+{n * 512}]", ""] for n in range(1, length)
    ] + [["get 100", "[0:1 0:2 3:11]", message or "[0:1 0:2]"]]
    trace = "delayed-delivery timebucket-ideal strict=true; " + "; ".join(line[0] for line in lines)
    replay = f"broker-tck replay --subject {subject} '{trace}'"
    rules = named.split(",")
    found = {
        "subject": subject,
        "contract": CONTRACT,
        "profile": profile,
        "rules": rules,
        "sentences": [f"The sentence of {rule}." for rule in rules],
        "ways": [f"{rules[0]} buckets.key: rounded_down"],
        "diagnosis": f"Behaves as if {rules[0]} were done otherwise (buckets.key: rounded down). {message}",
        "config": {"tick": 1000, "strict": True, "lookahead": 0, "clock": 1_700_000_000_000},
        "operations": [["get", 100]],
        "observed": "result",
        "expected": 3,
        "seen": message or 2,
        "seed": 12345678901234567890,
        "found_after": 217,
        "replay": replay,
        "note": "",
        "story": f"{' or '.join(rules)} is broken by {subject}\n\n  {message}\n  {replay}",
        "lines": lines,
    }
    return json.dumps(found)


def campaign(
    pairs: Sequence[tuple[str, str]] = BUNDLED,
    rounds: int = 40,
    findings: Sequence[Row] = (),
    never: Mapping[str, Sequence[str]] | None = None,
    growing: Sequence[str] = (),
    hosts: Sequence[str] = ("north",),
    slow: Sequence[str] = (),
    unfinished: Sequence[int] = (),
    seed: int = 7,
    message: str = "",
    speed: float = 1.0,
    walks: int = 2_000,
) -> FakeSource:
    """A campaign of so many rounds, and about so many walks of each pair in a round.

    ``never`` has the rules that a subject never met, ``unfinished`` the rounds in which a shard was not finished.
    """
    rng, rows = Random(seed), []
    failing = {pair: sum(f[4] for f in findings if f[:2] == pair) for pair in pairs}
    for number in range(rounds):
        for pair in pairs:
            failed = failing[pair] // rounds + (failing[pair] % rounds if not number else 0)
            made = walks + rng.randrange(walks // 20)
            rows += pair_rows(
                rng, number, pair, made, failed, (never or {}).get(pair[0], ()), pair[0] in growing, speed
            )
        rows += machine_rows(rng, number, hosts, slow)
        if number in unfinished:
            why = f"its process ended with status -9: {message or 'killed'}"
            rows += [(number, "unfinished", "", "", why, f"round {number}, shard 3, seed {97 * number}", 1)]
    manifest = manifest_of(pairs, seed, SHARDS * len(hosts))
    return FakeSource(manifest, rows, list(findings), message=message)


def pair_rows(
    rng: Random,
    number: int,
    pair: tuple[str, str],
    walks: int,
    failing: int,
    never: Sequence[str],
    growing: bool,
    speed: float,
) -> list[Row]:
    counted = walks // 16
    figures = {
        "walks": walks,
        "operations": walks * 400,
        "counted": counted,
        "failing": failing,
        "milliseconds": int(walks * 4 / speed),
    }
    rows = [(number, "figure", *pair, name, "", count) for name, count in figures.items()]
    for rule in required(CONTRACT, *pair):
        if rule not in never and (met := met_in(rng, rule, counted)):
            rows += [(number, "rule", *pair, rule, "", met * 3), (number, "rule_walks", *pair, rule, "", met)]
    states = 900 if growing else 4000 // (number + 1) ** 2
    return [*rows, (number, "states", *pair, "", "", states), (number, "findings", *pair, "", "", int(bool(failing)))]


def met_in(rng: Random, rule: str, counted: int) -> int:
    """Common rules in most walks, one rare rule in few."""
    base = 0.01 if rule == "DD-08" else [0.9, 0.62, 0.3, 0.07, 0.8][int(rule[-2:]) % 5]
    return min(counted, int(counted * base * (0.85 + 0.3 * rng.random()) + rng.random()))


def machine_rows(rng: Random, number: int, hosts: Sequence[str], slow: Sequence[str]) -> list[Row]:
    """What each machine did in a round: a slow one makes fewer shards, and they take longer."""
    rows: list[Row] = []
    for host in hosts:
        shards = SHARDS // 2 if host in slow else SHARDS
        time = int(820 * shards * (0.92 + 0.16 * rng.random()) * (1.9 if host in slow else 1))
        did = {"shards": shards, "operations": 100_000 * shards, "milliseconds": time}
        rows += [(number, "machine", "", "", name, host, count) for name, count in did.items()]
    longest = max(row[-1] for row in rows if row[4] == "milliseconds") // 4
    return [*rows, (number, "round", "", "", "milliseconds", "", longest + 40)]


def found(subject: str, profile: str, rules: str, shape: str, count: int, length: int = 5, first: int = 0) -> Row:
    """A row of the findings."""
    walk = str(2**64 + 97 * count + length)
    return subject, profile, rules, shape, count, first, first % 8, walk, length


def rich() -> FakeSource:
    """Whatever makes a page hard to lay out."""
    mutant, odd = (
        ("mutant:strict-rounded-down", "timebucket-ideal"),
        ("my_company.trackers.experimental.v2:TheVeryLongNamedTracker", "heap"),
    )
    findings = [
        found(*mutant, "DD-05", "add", 812, 1),
        found(*mutant, "DD-05", "add a b; get", 97, 3, 2),
        found(*mutant, "DD-05,DD-09", "add a b; advance; get", 41, 6, 3),
        found(*odd, "DD-20", "fill; advance; get; get", 7, 130, 11),
        found(*odd, "DD-21,DD-33", "add; advance; advance; has", 3, 9, 30),
        *(found(*odd, "DD-20", f"shape {n}", 1, 12, 12 + n) for n in range(20)),
    ]
    pairs = [("time-bucket", "timebucket-ideal"), odd, mutant]
    never = {odd[0]: ["DD-08", "DD-35"]}
    hosts = [f"worker-{n}.campaigns.example" for n in range(5)]
    return campaign(pairs, 40, findings, never, [odd[0]], hosts, slow=hosts[3:4], unfinished=[3, 17], message=NASTY)


def flood(count: int, subjects: int = 53, rounds: int = 100, length: int = 14) -> FakeSource:
    """So many findings, spread over many pairs."""
    rng = Random(3)
    pairs = [(f"mutant:number-{n}-with-a-name-of-usual-length", "timebucket-ideal") for n in range(subjects)]
    rules = required(CONTRACT, *pairs[0])
    findings = []
    for number in range(count):
        named = rng.sample(rules, 1 + (number % 3 == 0))
        row = found(
            *pairs[number % subjects],
            ",".join(sorted(named)),
            f"add; get; advance {number}",
            1 + number % 9,
            length,
            number % rounds,
        )
        findings.append(row)
    return campaign(pairs, rounds, findings, growing=[pairs[0][0]])


def tiny() -> FakeSource:
    """A first campaign: two rounds, few walks, and rules that none of the counted ones met."""
    return campaign(rounds=2, walks=60, never={"heap": ["DD-08", "DD-35"]})
