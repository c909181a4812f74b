"""Every module of the package can be imported, without a warning, on the Python of the tests."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from kit import ROOT, python

import broker_tck.properties
from broker_tck.properties.engine.registry import CONTRACTS

CODE = """
import re
from importlib import import_module
from importlib.metadata import requires
from pkgutil import walk_packages

import broker_tck

extras = {"jpype", *(re.match(r"[\\w-]+", needed)[0] for needed in requires("broker-tck") if "extra ==" in needed)}
for module in walk_packages(broker_tck.__path__, "broker_tck."):
    try:
        import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name not in extras:
            raise
    print(module.name)
"""


def test_modules_are_imported_one_by_one() -> None:
    """A module that needs a library of an extra is imported as far as that import."""
    done = python("-W", "error", "-c", CODE)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 200


# ---- One way through


LAYERS = ("mistakes", "engine", "contracts", "search", "threads", "explain", "report")
"""The folders of `properties/`, each of which imports nothing of those behind it; contracts import the engine alone."""
PROPERTIES = Path(broker_tck.properties.__file__).parent
PACKAGE = "broker_tck.properties"


def imported(file: Path) -> set[str]:
    """The modules that a file imports as it runs, those inside functions too; not those for type checkers alone."""
    found: set[str] = set()
    left: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        left += ast.iter_child_nodes(node)
    return found


def graph() -> dict[str, set[str]]:
    """The modules of `properties/`, each with those that it imports."""
    files = {
        ".".join([PACKAGE, *file.relative_to(PROPERTIES).with_suffix("").parts]): file
        for file in sorted(PROPERTIES.rglob("*.py"))
    }
    return {name: (imported(file) & files.keys()) - {name} for name, file in files.items()}


def folder(module: str) -> str:
    """The folder of `properties/` that a module is in."""
    return module.removeprefix(f"{PACKAGE}.").partition(".")[0]


def going_back(modules: Mapping[str, set[str]]) -> list[str]:
    """The imports that go from a layer to one behind it."""
    allowed = {layer: {*LAYERS[: place + 1]} for place, layer in enumerate(LAYERS)}
    allowed["contracts"] -= {"mistakes"}
    pairs = ((name, other) for name, others in modules.items() for other in others if folder(name) in LAYERS)
    return [
        f"{name} imports {other}"
        for name, other in pairs
        if folder(other) in LAYERS and folder(other) not in allowed[folder(name)]
    ]


def circles(modules: Mapping[str, set[str]]) -> set[str]:
    """The modules that are in a circle of imports or behind one: what is left when all others are taken away."""
    left = {name: {*others} for name, others in modules.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    return {*left}


def test_imports_go_one_way() -> None:
    modules = graph()
    assert len(modules) > 100
    assert going_back(modules) == []
    assert circles(modules) == set()


def test_import_that_goes_back_is_seen() -> None:
    back = f"{PACKAGE}.engine.walk", f"{PACKAGE}.search.run"
    modules = graph()
    modules[back[0]].add(back[1])
    assert going_back(modules) == ["{} imports {}".format(*back)]
    assert {*back} <= circles(modules)


# ---- One way through the folders of the kit

ORDER = ("model", "implementations", "properties", "spark_fuzz", "bench", "cli")
FIXTURES = "fixtures"
ADAPTERS = ("*adapter.py", "ledgers.py", "values.py")


def kit_folders(file: Path) -> set[str]:
    """The folders of the kit of which a file imports something."""
    return {name.split(".")[1] for name in imported(file) if name.startswith("broker_tck.")}


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("model", {"model"}),
        ("implementations", {"implementations"}),
        (FIXTURES, {"model", FIXTURES}),
        *((folder, {*ORDER[: place + 1], FIXTURES}) for place, folder in enumerate(ORDER) if place > 1),
    ],
)
def test_folders_import_what_is_before_them(folder: str, allowed: set[str]) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    assert [file for file in files if not kit_folders(file) <= allowed] == []


def test_model_imports_the_standard_library_and_msgspec() -> None:
    for file in (ROOT / "model").rglob("*.py"):
        tops = {name.partition(".")[0] for name in imported(file)} - {"broker_tck"}
        assert tops <= {*sys.stdlib_module_names, "msgspec"}, file


def test_adapters_share_nothing_with_model_or_subjects() -> None:
    rooms = [file for name in ADAPTERS for file in (ROOT / "properties" / "contracts").rglob(name)]
    assert len(rooms) >= len(CONTRACTS)
    for file in rooms:
        names = {name for name in imported(file) if name.startswith("broker_tck.")}
        assert "model" not in kit_folders(file), file
        subjects = {name for name in names if name.startswith("broker_tck.implementations.")}
        assert all(name.startswith("broker_tck.implementations.interface") for name in subjects), file
