"""Write anew what the tests compare with: ``python tests/refresh.py``, after a change that is meant to change it.

That is the digest of many walks, the schemas of traces and of a check, and what is printed of a few findings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from unittest import mock

import misbehaving
import msgspec

from broker_tck.cli.main import run
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.schema import protocol_schema, schema
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.engine.trace import Trace, to_json
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.explain import guarding
from broker_tck.properties.report import result
from broker_tck.properties.search.isolation import apart
from broker_tck.properties.search.isolation.apart import limits_of
from broker_tck.properties.search.isolation.guard import Limits
from broker_tck.spark_fuzz.driver.manifest import Code, Goal, Manifest, Pair
from broker_tck.spark_fuzz.worker import shard
from broker_tck.spark_fuzz.worker.shard import shard_rows

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
EXPECTED = HERE / "expected"
SCHEMAS = HERE.parent / "fixtures" / "schema"
MISBEHAVIOUR = HERE.parent / "docs" / "misbehaviour.json"
WALKS = 6
SEED = 20_251_120

STORIES = {
    "counts-again": ["reduce", "add 1 0 +2000; add 1 0 +2000; get 5", "--subject", "timebucket-2025"],
    "one-too-many": [
        "reduce",
        "delayed-delivery strict=true lookahead=3; add 7 9 +5; add 7 8 +1000; adv 1024; has; get 0; get 1; get 1",
        "--subject",
        "kit:OneTooMany",
    ],
    "replayed": ["replay", "add 1 0 +2000; add 1 1 +2001; adv 2000; get 10; memory; close"],
    "rule": ["rules", "DD-26"],
}
"""What is printed, by the name of the file that has it."""


def digests() -> dict[str, str]:
    """A digest of many walks for each subject and profile: operations, and all outcomes of the model."""
    found = {}
    for contract in CONTRACTS.values():
        for subject in bundled(contract):
            for profile in subject.profiles:
                model, digest = contract.model(profile), sha256()
                for number in range(WALKS):
                    seed = walk_seed(SEED, number)
                    done = walk(contract, seed, subject.adapter, model, subject.capabilities)
                    outcomes = [[s.result, *s.seen] for s in record(done.operations, model(done.config))]
                    trace = Trace(contract, profile, done.config, done.operations, outcomes)
                    digest.update(to_json(trace).encode() + b"\n")
                found[f"{contract.name} {subject.name} {profile}"] = digest.hexdigest()
    return found


def manifest(pairs: list[Pair], operations: int) -> Manifest:
    """A campaign with one shard."""
    return Manifest(
        contract=next(iter(CONTRACTS)),
        pairs=pairs,
        seed=7,
        shards=1,
        operations=operations,
        walk_seconds=10.0,
        walk_memory=512,
        code=Code("", "", "", {}, {}),
        started="",
        executor="",
        goal=Goal(),
    )


def shard_digest() -> str:
    """A digest of a shard's rows, times aside: what conforms, and a mutant."""
    pairs = [Pair("heap", "heap"), Pair("mutant:strict-rounded-down", "timebucket-ideal")]
    rows = shard_rows(manifest(pairs, 60_000), 3, 1)
    return sha256(msgspec.json.encode([row for row in rows if row.name != "milliseconds"])).hexdigest()


def printed(name: str) -> str:
    """What the command line prints."""
    with redirect_stdout(StringIO()) as out:
        run(STORIES[name])
    return out.getvalue()


def quick(subject: Subject, seconds: float = 0.5, memory: int | None = 128) -> Limits:
    """The limits of tests: what takes half a second hangs."""
    return limits_of(subject, min(seconds, 0.5), memory)


@contextmanager
def quickly() -> Iterator[None]:
    """A block in which what takes half a second hangs."""
    with ExitStack() as patched:
        for module in (guarding, apart, shard):
            patched.enter_context(mock.patch.object(module, "limits_of", quick))
        for name, few in (("PROBE_SECONDS", 0.1), ("MOST_UNANSWERED", 6)):
            patched.enter_context(mock.patch.object(guarding, name, few))
        yield


def misbehaviour(each: type[misbehaving.Misbehaving], cli: Callable[..., tuple[int, str, str]]) -> dict[str, str]:
    """What a subject does that misbehaves, of what kind this is, and what is seen of it; nothing: a check goes on."""
    words = "--walks", "3", "--examples", "0", "--isolated", "--json"
    status, out, _ = cli("check", "--subject", f"misbehaving:{each.__name__}", *words)
    (checked,) = json.loads(out)["subjects"]
    found = ["{error}: {message}".format(**finding["seen"]) for finding in checked["findings"][:1]]
    assert status == (1 if found else 4)
    return {"kind": str(each.__base__.__doc__), "does": str(each.__doc__), "seen": "".join(found)}


def called(*arguments: str) -> tuple[int, str, str]:
    """The command line, its exit status and what it prints."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = run([*arguments])
    return status, out.getvalue(), err.getvalue()


def main() -> None:
    """Write all of it."""
    with quickly():
        seen = {each.__name__: misbehaviour(each, called) for each in misbehaving.subjects()}
    MISBEHAVIOUR.write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")
    DIGESTS.write_text(json.dumps({**digests(), "shard": shard_digest()}, indent=2) + "\n", encoding="utf-8")
    for contract in CONTRACTS.values():
        file = SCHEMAS / f"{contract.name}.trace.schema.json"
        file.write_text(json.dumps(schema(contract), indent=1) + "\n", encoding="utf-8")
    text = json.dumps(result.schema(), indent=1) + "\n"
    (SCHEMAS / "check.schema.json").write_text(text, encoding="utf-8")
    text = json.dumps(protocol_schema(), indent=1) + "\n"
    (SCHEMAS / "protocol.schema.json").write_text(text, encoding="utf-8")
    for name in STORIES:
        (EXPECTED / f"{name}.txt").write_text(printed(name), encoding="utf-8")


if __name__ == "__main__":
    main()
