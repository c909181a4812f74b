"""Notes in every Python of a tox environment that it has begun, and each Java and Spark that it starts.

scripts/measure.py puts this module into the environment, and has `site` import it first.
"""

import os
import sys

STARTED = {"java": "java", "spark-class": "java", "spark-submit": "java spark"}
"""The notes on a program, by its name."""


def note(what: str) -> None:
    """Add a line for each word, in one write, so that lines of several processes do not mix."""
    with open(os.environ["COSTS_LOG"], "a") as notes:  # noqa: PTH123  # an import here would be one in every process
        notes.write("".join(f"{word}\n" for word in what.split()))


def see(event: str, arguments: tuple) -> None:  # type: ignore[type-arg]
    """Note the events of Python that start or load a Java."""
    if event == "subprocess.Popen":
        if what := STARTED.get(os.path.basename(os.fsdecode(arguments[0]))):  # noqa: PTH119
            note(what)
    elif event == "import" and arguments[0] == "_jpype" and arguments[1]:  # its file: it is there, and is loaded
        note("java")


note("python")
sys.addaudithook(see)
