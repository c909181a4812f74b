"""Makes walks of a subject, and prints the number of their operations and their seconds, as a line of JSON.

``python -P walking.py SUBJECT FIRST COUNT``, with the ``broker_tck`` of any commit on the path: no other module of the
bench is imported, and of the kit only what each commit has. Prints ``null`` if the commit has no such subject.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time

from broker_tck.implementations.bundled import BUNDLED
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.search.run import Run, checked

WARMING = 8
"""So many walks are made first, so that no rate contains what happens only once."""


def walked(name: str, first: int, count: int) -> tuple[int, float]:
    """Make walks as a run does; answers with their operations and the seconds of the processor that they took."""
    subject = resolve(name)
    for _ in checked(Run(subject, subject.profiles[0], 1), range(WARMING)):
        pass
    run = Run(subject, subject.profiles[0], 0)
    began = process_time()
    for done in checked(run, range(first, first + count)):
        if done.difference:
            raise SystemExit(f"walk {done.seed} of {name} fails: {done.difference}")
    return run.operations, process_time() - began


def isolated(walk: Callable[[], tuple[int, float]]) -> tuple[int, float]:
    """Walk in a guarded process, as commands do, if the commit has that."""
    try:
        from broker_tck.properties.search.isolation.guard import End, guarded
    except ImportError:
        return walk()
    found = guarded(lambda tell: walk())
    if isinstance(found, End):
        raise SystemExit(found.message)
    return found


if __name__ == "__main__":
    name, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found = isolated(lambda: walked(name, first, count)) if name in BUNDLED else None
    sys.stdout.write(json.dumps(found))
