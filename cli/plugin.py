"""The files of a plug-in for any contract: a subject to begin with, its test, and a pyproject.toml.

The generated subject passes each call on to a bundled one, so it conforms. Its methods are those of the protocols of
the interface.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from keyword import iskeyword
from string import Template
from typing import Any, NamedTuple, get_args

import msgspec

from broker_tck.implementations import interface
from broker_tck.implementations.interface import (
    AckTimeoutFactory,
    AckTimeoutTracker,
    ActiveCursors,
    ActiveCursorsFactory,
    BucketDelayedDeliveryTracker,
    BucketDeliveryFactory,
    ChunkLedgers,
    DelayedDeliveryFactory,
    DelayedDeliveryTracker,
    Durables,
    EntryCaches,
    EntryCachesFactory,
    NegativeAcksFactory,
    NegativeAcksTracker,
    Ranks,
    ReadingCaches,
    ShowsBuckets,
    ShowsIndex,
    TopicDeliveryFactory,
    TopicManager,
    Versions,
)
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.errors import BadInput

GENERIC = ("Callable", "Collection", "Iterator", "Mapping", "Sequence")
"""The names of `collections.abc` in signatures."""
WRITTEN = "delayed-delivery"
"""The contract whose first subject was written by hand: a small tracker that does not call a bundled subject."""


HEAD = '''"""A first subject of the contract `{contract}`. It conforms because it calls a bundled subject that does."""

from __future__ import annotations
'''
SUBJECT = '''class $factory:
    """Implements these protocols: {protocols}.

    Replace each call of `inner` by your own code.
    """

    contract = "{contract}"
    profiles = ("{profile}",)
    capabilities = {capabilities}  # optional parts that it has; `broker-tck subjects` shows those of others

    def __init__(
        self,
        {given},
    ) -> None:
        """The kit makes one for each walk. Take the time and all timers from the arguments only."""
        self.inner: Any = BUNDLED["{inner}"]({arguments})
'''


class Kind(NamedTuple):
    """The types of a contract's subjects."""

    factory: Any
    """The type of its factory."""
    protocols: tuple[type, ...]
    """The protocols of the contract, then those of the capabilities of the subject that it calls."""


KINDS = {
    "delayed-delivery": Kind(DelayedDeliveryFactory, (DelayedDeliveryTracker,)),
    "topic-delivery": Kind(TopicDeliveryFactory, (TopicManager, ShowsIndex)),
    "bucket-delivery": Kind(BucketDeliveryFactory, (BucketDelayedDeliveryTracker, ShowsBuckets)),
    "negative-acks": Kind(NegativeAcksFactory, (NegativeAcksTracker, ChunkLedgers)),
    "entry-cache": Kind(EntryCachesFactory, (EntryCaches, ReadingCaches)),
    "active-cursors": Kind(ActiveCursorsFactory, (ActiveCursors, Ranks, Versions, Durables)),
    "ack-timeout": Kind(AckTimeoutFactory, (AckTimeoutTracker,)),
}


class Names(NamedTuple):
    """The names of a plug-in and its parts."""

    project: str
    module: str
    factory: str


def names_of(name: str) -> Names:
    """The names made from a folder's name: ``my-tracker`` gives the module ``my_tracker`` and the class ``MyTracker``.

    Raises BadInput if these are not names of Python, or if Python has such a module.
    """
    words = re.findall("[A-Za-z0-9]+", re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", name))
    module = "_".join(words).lower()
    if not module[:1].isalpha() or iskeyword(module):
        raise BadInput(f"{name!r} cannot name a module: the name must begin with a letter, as my-tracker does")
    if module in sys.stdlib_module_names:
        raise BadInput(f"{name!r} is the name of a module of Python: choose another name, such as my-{name}")
    return Names(module.replace("_", "-"), module, "".join(word[0].upper() + word[1:] for word in words))


def plugin(contract: Contract, names: Names) -> dict[str, str]:
    """The text of each file, by its name."""
    subject = template("tracker.py") if contract.name == WRITTEN else handing_on(contract)
    texts = {
        f"{names.module}.py": subject,
        f"test_{names.module}.py": template("test_tracker.py"),
        "pyproject.toml": template("pyproject.toml"),
    }
    return {file: Template(text).substitute(names._asdict(), contract=contract.name) for file, text in texts.items()}


def template(name: str) -> str:
    """A file from its template, which has `$project`, `$module`, `$factory` and `$contract` for the names."""
    return files("broker_tck.cli").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")


def handing_on(contract: Contract) -> str:
    """The module of a subject that passes each call on."""
    kind, inner = KINDS[contract.name], inner_of(contract)
    calls = "\n\n".join(call(name, method) for protocol in kind.protocols for name, method in methods(protocol))
    declared = msgspec.structs.asdict(inner.capabilities)
    usual = msgspec.structs.asdict(contract.capabilities())
    body = SUBJECT.format(
        contract=contract.name,
        protocols=", ".join(f"`{protocol.__name__}`" for protocol in kind.protocols),
        profile=contract.default,
        capabilities=literal({f: value for f, value in declared.items() if value != usual[f]}),
        given=",\n        ".join(given(contract)),
        inner=inner.name,
        arguments=", ".join(each.partition(":")[0] for each in given(contract)),
    )
    return f"{HEAD.format(contract=contract.name)}\n{imports(body + calls)}\n\n\n{body}\n{calls}\n"


def literal(fields: dict[str, Any]) -> str:
    """A dictionary as people write it."""
    inside = ", ".join(f'"{name}": {value!r}' for name, value in fields.items())
    return "{" + inside + "}"


def inner_of(contract: Contract) -> Subject:
    """The bundled subject that a plug-in begins with: the first that declares the contract's own profile."""
    return next(subject for subject in bundled(contract) if contract.default in subject.profiles)


def given(contract: Contract) -> list[str]:
    """The arguments of a factory, each as `name: Type`."""
    names = contract.call.partition("(")[2].removesuffix(")").split(", ")
    types = get_args(KINDS[contract.name].factory)[0]
    return [f"{name}: {type_name(each)}" for name, each in zip(names, types, strict=True)]


def type_name(wanted: Any) -> str:
    """The name under which the interface has a type."""
    return next(name for name, each in vars(interface).items() if each == wanted)


def methods(protocol: type) -> Iterator[tuple[str, Any]]:
    """The methods of a protocol."""
    for name, member in vars(protocol).items():
        if inspect.isfunction(member) and (name == "__iter__" or not name.startswith("_")):
            yield name, member


def call(name: str, method: Any) -> str:
    """A method of the interface that passes its call on."""
    signature = inspect.signature(method)
    passed = ", ".join([*signature.parameters][1:])
    handed = "iter(self.inner)" if name == "__iter__" else f"self.inner.{name}({passed})"
    returns = "" if signature.return_annotation == "None" else "return "
    return f"{inspect.getsource(method).rstrip()}\n        {returns}{handed}"


def imports(code: str) -> str:
    """The imports of the names in signatures."""
    words = {*re.findall(r"\w+", "".join(re.findall(r"def (?:[^:]|:(?!\n))*:\n", code)))}
    generic = sorted(words & {*GENERIC})
    ours = sorted(words & {*vars(interface)} - {*GENERIC})
    lines = [f"from collections.abc import {', '.join(generic)}"] if generic else []
    lines += ["from typing import Any", "", "from broker_tck.implementations.bundled import BUNDLED"]
    names = "".join(f"    {name},\n" for name in ours)
    return "\n".join([*lines, f"from broker_tck.implementations.interface import (\n{names})"])
