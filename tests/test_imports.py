"""Every module of the package can be imported, without a warning, on the Python of the tests."""

from __future__ import annotations

from kit import python

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
