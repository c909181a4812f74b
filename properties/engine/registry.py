"""The contracts that there are, by name; the first is the default. Each is imported when it is asked for."""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Mapping
from importlib import import_module

from broker_tck.properties.engine.contract import Contract

PACKAGE = "broker_tck.properties.contracts"
NAMES = (
    "delayed-delivery",
    "negative-acks",
    "active-cursors",
    "entry-cache",
    "bucket-delivery",
    "topic-delivery",
    "ack-timeout",
)


class Contracts(Mapping[str, Contract]):
    """Contracts by name; that of some-name is ``SOME_NAME`` in ``some_name.contract``."""

    def __getitem__(self, name: str) -> Contract:
        if name not in self:
            raise KeyError(name)
        word = name.replace("-", "_")
        contract: Contract = getattr(import_module(f"{PACKAGE}.{word}.contract"), word.upper())
        return contract

    def __contains__(self, name: object) -> bool:
        return name in NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


CONTRACTS = Contracts()


def named(name: str, workload: str) -> Contract:
    """The contract of a name, with the walks of a workload if there is one."""
    return CONTRACTS[name].with_workload(workload) if workload else CONTRACTS[name]


copyreg.pickle(Contract, lambda contract: (named, (contract.name, contract.workload)))
