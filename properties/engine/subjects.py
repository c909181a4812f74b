"""Subjects: the declarations of a factory, and the search for a subject by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from broker_tck.implementations.bundled import BUNDLED
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.naming import unknown
from broker_tck.implementations.reachable import barred
from broker_tck.implementations.released import KINDS, released
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.compiled import compiled
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.profiles import ACCEPTED, base_of, imported
from broker_tck.properties.engine.program import EXEC, Spoken
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.wanted import refusal
from broker_tck.properties.errors import BadInput

if TYPE_CHECKING:
    from broker_tck.properties.mistakes.implementations.mutant import Mutant

GROUP = "broker_tck.subjects"
"""The entry-point group of subjects in other packages."""
RELEASED = "pulsar-VERSION/CLASS"
"""How a class of a release is named."""
LISTED = "`broker-tck prove --list` names them"


class Unmade:
    """Stands for a subject that could not be made."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getattr__(self, name: str) -> Any:
        raise self.error


class Accepted(NamedTuple):
    """A deviation that a subject declares: the rule, the mistake, and the reason."""

    rule: str
    way: str
    """As it was written."""
    reason: str


@dataclass(frozen=True)
class Subject:
    """An implementation under test, as it declares itself."""

    name: str
    contract: Contract
    factory: Callable[..., Any]
    profiles: tuple[str, ...]
    capabilities: Any
    accepts: tuple[Accepted, ...] = ()
    """The deviations that it declares. Its profiles include them."""
    seconds: ClassVar[float] = 0
    """How long an operation may work in this process, in seconds of the processor; 0: a guard sees to it."""

    def adapter(self, config: Any, capabilities: Any) -> Any:
        """A fresh subject on an adapter. If the factory raises or hangs, every operation does so."""
        BOX.begin(config)
        try:
            adapter = self.made(config, capabilities)
        except KeyboardInterrupt:
            raise
        except Unavailable as error:
            raise BadInput(f"{self.name}: {error}") from None
        except BaseException as error:
            adapter = Unmade(error)
        BOX.made(adapter)
        return adapter

    def made(self, config: Any, capabilities: Any) -> Any:
        """What the factory makes, on an adapter."""
        return self.contract.adapter(self.factory, config, capabilities)

    def fresh(self, config: Any) -> Any:
        """A fresh subject on an adapter, with the capabilities that it declares."""
        return self.adapter(config, self.capabilities)

    @property
    def forks(self) -> bool:
        """Whether the subject is a Python object like any other, as it is unless the factory says otherwise.

        One that is not lives in its process for good, as whatever runs in a Java does: it takes long to be made there
        first, it reserves more memory than it takes, and its process is not forked.
        """
        return bool(getattr(self.factory, "forks", True))

    @property
    def starts(self) -> bool:
        """Whether it takes long to be made first in a process, because something is started, such as a Java."""
        return not self.forks

    @property
    def files(self) -> list[Path]:
        """The files that the subject needs besides Python modules, such as jars or folders, from ``factory.files()``.

        Raises BadInput if one does not exist.
        """
        found = [Path(path) for path in getattr(self.factory, "files", tuple)()]
        for path in found:
            if why := barred(path):
                raise BadInput(f"{self.name}: its file {path} {why}")
            if not path.exists():
                raise BadInput(f"{self.name}: its file {path} does not exist")
        return found

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages of Python that the subject runs, as the factory's ``libraries`` names them to ``pip``."""
        return tuple(getattr(self.factory, "libraries", ()))

    @property
    def untried(self) -> str:
        """Why the profile that the subject declares is a guess; empty if it is none."""
        return str(getattr(self.factory, "untried", ""))

    @property
    def left_out(self) -> list[str]:
        """The capabilities that the subject declares to lack or to have less of, as ``name=value``."""
        full = self.contract.capabilities()
        declared = msgspec.structs.asdict(self.capabilities)
        return [f"{name}={str(value).lower()}" for name, value in declared.items() if value < getattr(full, name)]

    @property
    def lacked(self) -> frozenset[str]:
        """The names of the capabilities that it lacks."""
        return frozenset(lacked.partition("=")[0] for lacked in self.left_out)

    @property
    def out_of_reach(self) -> set[str]:
        """The rules that cannot be checked on a subject without what this one lacks, and in no walk of the contract.

        A program is asked for traces alone, so no invariant that asks for more.
        """
        needs = map(self.contract.needing, self.lacked)
        played = {each.number for each in self.contract.invariants if each.part is not tuple}
        unplayed = played if isinstance(self.factory, Spoken) else set[str]()
        return {*self.contract.beyond, *chain.from_iterable(needs), *unplayed}


class Modelled(Subject):
    """A model as a subject."""

    seconds = 5.0

    def adapter(self, config: Any, capabilities: Any) -> Any:
        """A fresh model."""
        return self.factory(config)


class Running(Subject):
    """A program as a subject, which needs no adapter."""

    starts = True

    def made(self, config: Any, capabilities: Any) -> Any:
        """The program, told of a new trace."""
        return self.factory(config)


@cache
def modelled(contract: Contract) -> list[Subject]:
    """The profiles that no bundled implementation declares, each with its model as the subject.

    It has the capabilities of the profile's released class, if there is one.
    """
    taken = {profile for subject in written(contract) for profile in subject.profiles}
    able = {line.profile: line.capabilities for kind in KINDS.values() for line in kind.lines}
    models = contract.profiles.items()
    return [as_subject(name, contract, model, able.get(name, {})) for name, model in models if name not in taken]


def model_named(name: str) -> Subject | None:
    """The model of a profile that no bundled implementation declares, as a subject; None for another name."""
    if name in BUNDLED or ":" in name or "/" in name:  # spares the imports of all contracts
        return None
    return next((s for contract in CONTRACTS.values() for s in modelled(contract) if s.name == name), None)


def as_subject(
    name: str, contract: Contract, model: type[Reference], capabilities: Mapping[str, Any] = MappingProxyType({})
) -> Subject:
    """A model as a subject, with all capabilities that are there unless a subject lacks them, but for those given."""
    return Modelled(name, contract, model, (model.PROFILE,), able_to(name, contract, capabilities))


def declared(
    name: str,
    factory: Callable[..., Any],
    contract: Contract | None = None,
    profiles: Any = None,
    accepts: Any = None,
) -> Subject:
    """The subject that a factory declares by its attributes ``contract``, ``profiles``, ``capabilities``, ``accepts``.

    All are optional. The defaults are the given contract or the first, its default profile and capabilities, and no
    deviations. ``forks``, ``files`` and ``libraries`` are optional as well, see :class:`Subject`. The arguments
    replace what the factory declares.
    """
    if isinstance(factory, Spoken):
        return running(factory, name, contract, profiles, accepts)
    return declared_as(Subject, name, factory, contract or contract_named(contract_of(factory)), profiles, accepts)


def running(factory: Spoken, name: str, contract: Contract | None, profiles: Any, accepts: Any) -> Subject:
    """The subject that a program declares. If it cannot be had, the program is told why."""
    try:
        return declared_as(Running, name, factory, implemented(factory, name, contract), profiles, accepts)
    except BadInput as error:
        factory.refused(str(error))
        raise
    except Unavailable as error:
        raise BadInput(f"{name}: {error}") from None


def implemented(factory: Spoken, name: str, wanted: Contract | None) -> Contract:
    """The contract of a program. Raises BadInput if the kit has no such contract, or if it is not the one wanted."""
    if factory.contract not in CONTRACTS:
        raise BadInput(f"{name}: {unknown('contract', factory.contract, CONTRACTS)}")
    if wanted and wanted.name != factory.contract:
        raise BadInput(f"{name}: it implements {factory.contract}, not {wanted.name}")
    return CONTRACTS[factory.contract]


def declared_as(
    kind: type[Subject], name: str, factory: Any, contract: Contract, profiles: Any, accepts: Any
) -> Subject:
    """The subject, of a kind, that a factory of a contract declares."""
    if not callable(factory):
        raise BadInput(f"{name}: a factory is called as {contract.call}; {factory!r} is not callable")
    profiles = getattr(factory, "profiles", (contract.default,)) if profiles is None else profiles
    if not isinstance(profiles, list | tuple) or not profiles:
        raise BadInput(
            f"{name}: profiles is {profiles!r}; it must be a tuple of names, such as {(contract.default,)!r}"
        )
    otherwise = accepted(name, getattr(factory, "accepts", {}) if accepts is None else accepts)
    changed = "".join(f"{ACCEPTED}{each.rule}:{each.way}" for each in otherwise)
    try:
        profiles = [contract.model(f"{profile}{changed}").PROFILE for profile in profiles]
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from None
    capabilities = able_to(name, contract, getattr(factory, "capabilities", {}))
    made = Modelled if factory in contract.profiles.values() else kind
    return made(name, contract, factory, tuple(profiles), capabilities, otherwise)


def contract_of(factory: Callable[..., Any]) -> str:
    """The name of the contract that a factory declares, or of the first."""
    return str(getattr(factory, "contract", next(iter(CONTRACTS))))


def is_of(factory: Callable[..., Any], contract: Contract) -> bool:
    """Whether a factory declares a contract, whatever the workload."""
    return contract_of(factory) == contract.name and contract_named(contract.name) is contract


def able_to(name: str, contract: Contract, given: Any) -> Any:
    """The capabilities that a factory declares."""
    try:
        capabilities = dict(given)
        return msgspec.convert(capabilities, contract.capabilities)
    except msgspec.ValidationError as error:
        wrong = refusal(error, contract.capabilities, capabilities)
    except (TypeError, ValueError) as error:
        wrong = str(error)
    raise BadInput(f"{name}: its capabilities are not those of {contract.name}: {wrong}")


def accepted(name: str, accepts: Any) -> tuple[Accepted, ...]:
    """The deviations in a factory's ``accepts``: for each rule a mistake, or a mistake and the reason."""
    try:
        said = msgspec.convert(accepts, dict[str, str | tuple[str, str]])
    except msgspec.ValidationError:
        such = '{"DD-06": ("at its start", "the reason")}'
        raise BadInput(f"{name}: accepts is {accepts!r}; it must be like {such}") from None
    pairs = [(rule, (way, "") if isinstance(way, str) else way) for rule, way in said.items()]
    return tuple(Accepted(rule, way, reason) for rule, (way, reason) in pairs)


def having_profile(profile: str) -> list[Contract]:
    """The contracts that have a profile, rules that it keeps aside."""
    return [contract for contract in CONTRACTS.values() if base_of(profile) in contract.profiles]


def contract_named(name: str) -> Contract:
    """A contract by name."""
    if name not in CONTRACTS:
        raise BadInput(unknown("contract", name, CONTRACTS))
    return CONTRACTS[name]


def written(contract: Contract) -> list[Subject]:
    """The implementations that come with the kit."""
    return [declared(name, factory) for name, factory in BUNDLED.items() if is_of(factory, contract)]


def bundled(contract: Contract) -> list[Subject]:
    """The subjects that come with the kit: implementations, and models of the profiles that these do not declare."""
    return [*written(contract), *modelled(contract)]


def mutants(contract: Contract) -> list[Mutant]:
    """The mutants of the contract's bundled subjects."""
    from broker_tck.properties.mistakes.implementations import MUTANTS

    return [m for m in MUTANTS.values() if is_of(m.factory, contract)]


def plugged_in() -> dict[str, Any]:
    """The subjects of other packages, by the names of their entry points."""
    return {e.name: e for e in entry_points(group=GROUP)}


def resolve(name: str, contract: Contract | None = None, profiles: Any = None, accepts: Any = None) -> Subject:
    """The subject with this name.

    It is a bundled one, a profile, an entry point, ``mutant:NAME``, ``pulsar-VERSION/CLASS``,
    ``package.module:Factory``, or a program, ``exec:COMMAND``. Further arguments replace what its factory declares, see
    :func:`declared`.
    """
    if model := model_named(name):
        found = declared(name, model.factory, contract or model.contract, profiles or model.profiles, accepts)
        return replace(found, capabilities=model.capabilities)
    return declared(*factory_named(name), contract, profiles, accepts)


def factory_named(name: str) -> tuple[str, Any]:
    """The factory of a subject by the subject's name, with that name, spelled out."""
    if name in BUNDLED:
        return name, BUNDLED[name]
    if name.startswith("mutant:"):
        from broker_tck.properties.mistakes.implementations import MUTANTS

        mutant = MUTANTS.get(name.removeprefix("mutant:"))
        if mutant is None:
            raise BadInput(unknown("mutant", name.removeprefix("mutant:"), MUTANTS, told=LISTED))
        return name, mutant.factory
    if name.startswith(EXEC):
        return name, Spoken(name.removeprefix(EXEC))
    if factory := found_released(name):
        return factory.name, factory
    if ":" in name:
        try:
            return name, imported(name)
        except ValueError as error:
            raise BadInput(str(error)) from None
    entry = plugged_in().get(name)
    if entry is None:
        raise BadInput(no_subject(name))
    BOX.begin({})
    try:
        return name, entry.load()
    except (Exception, SystemExit) as error:
        raise BadInput(f"the entry point {name!r} cannot be loaded: {error}") from None
    finally:
        BOX.rest()


def no_subject(name: str) -> str:
    """The message for an unknown subject, with the names that exist."""
    known = [*BUNDLED, *(s.name for contract in CONTRACTS.values() for s in modelled(contract)), *plugged_in()]
    told = f"there are: {', '.join(known)}, mutant:NAME, {RELEASED}, package.module:Factory, {EXEC}COMMAND"
    return unknown("subject", name, known, told=told)


def found_released(name: str) -> Any:
    """The factory of a class of a release, or of a client in Go; None if the name is of another kind."""
    try:
        return compiled(name) or released(name)
    except Unavailable as error:
        raise BadInput(f"{name}: {error}") from None
