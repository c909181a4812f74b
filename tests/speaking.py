"""A subject of the kit as a program that speaks the protocol: ``python speaking.py NAME [LEVEL...]``."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import named
from broker_tck.properties.engine.subjects import Subject, resolve


def answer(subject: Subject, adapter: Any, line: str) -> list[Any]:
    """The outcome of an operation, as traces have it."""
    operation = msgspec.json.decode(line, type=subject.contract.operations)
    try:
        result = plain(operation.on(adapter))
    except Exception as error:
        result = named(error)
    return [result, *map(plain, adapter.seen())]


def main(name: str, *levels: str) -> None:
    """Speak, until standard input ends."""
    subject = resolve(name)
    contract = subject.contract
    capabilities = msgspec.structs.asdict(subject.capabilities)

    def say(message: Any) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
        sys.stdout.flush()

    about = {"protocol": 1, "contract": contract.name, "profiles": subject.profiles}
    say({**about, "capabilities": capabilities, "levels": levels or ("operations", "traces")})
    adapter: Any = None
    sys.stdin.readline()
    for line in sys.stdin:
        if line.startswith("{"):
            config = msgspec.convert(msgspec.json.decode(line)["config"], contract.config)
            adapter = subject.adapter(config, subject.capabilities)
        else:
            say(answer(subject, adapter, line))


if __name__ == "__main__":
    main(*sys.argv[1:])
