"""Builds the Go client with the kit's driver in it, and keeps the program.

The client's source stays as it is. ``go build -overlay`` puts the driver into its package, the rig beside it, and into
Go's own ``runtime`` what the driver needs of the time in a bubble of ``testing/synctest``.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

from broker_tck.implementations.go.toolchain import go, root
from broker_tck.implementations.jvm.unavailable import Unavailable

MODULE = "github.com/apache/pulsar-client-go"
HERE = Path(__file__).parent
DRIVER, RIG = HERE / "client", HERE / "kit" / "brokertck"
TRACKER = Path("pulsar", "negative_acks_tracker.go")
TREE = "avltree"
"""A client whose tracker has this word in its source holds buckets in a tree; an earlier one has a map."""
CHANGES = {
    "return sec, nsec, 0": "return brokerTckNow(bubble.now)",
    "t := new(timeTimer)": "t := brokerTckMade(new(timeTimer))",
}
"""Parts of ``runtime/time.go``, and what stands in their places: what ``time.Now`` is in a bubble, and a new timer."""
FLAGS = ("-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l", f"-gcflags={MODULE}/brokertck=-l -lang=go1.21")
"""Without inlining a build takes two thirds of the time. The rig has a language version of its own."""


@cache
def built(version: str, checkout: Path | None) -> Path:
    """The program of a release, or of the user's checkout. It is built unless it is there, of the same sources.

    It stays so in this process, wherever the sources go. Unavailable says why it cannot be had.
    """
    name = f"checkout-{digest_of([str(checkout.resolve()).encode()])}" if checkout else f"v{version}"
    with alone_in(cache_folder() / name) as folder:
        source = checkout.resolve() if checkout else released(version, folder)
        source_root = root(source)
        program, key = folder / "client", folder / "key"
        wanted = digest_of(inputs(source, source_root))
        if not (program.exists() and key.exists() and key.read_text() == wanted):
            key.unlink(missing_ok=True)
            build(source, source_root, folder, program)
            key.write_text(wanted)
        return program


def cache_folder() -> Path:
    """Where programs are kept: a folder below the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "broker-tck" / "go"


@contextmanager
def alone_in(folder: Path) -> Iterator[Path]:
    """A folder, made if need be, in which no other process of the kit builds meanwhile. Unavailable: it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    except OSError as error:
        raise Unavailable(f"{error.filename}: {error.strerror}; set XDG_CACHE_HOME to a folder to write to") from None


def released(version: str, folder: Path) -> Path:
    """A copy of the source of a release: Go takes no overlay below its own cache of modules."""
    copy = folder / "source"
    if not copy.exists():
        root(folder)
        found = json.loads(go(folder, "mod", "download", "-json", f"{MODULE}@v{version}"))
        shutil.rmtree(folder / "part", ignore_errors=True)
        shutil.copytree(found["Dir"], folder / "part", copy_function=shutil.copyfile)
        for each in (folder / "part", *(folder / "part").rglob("*/")):
            each.chmod(0o755)
        (folder / "part").rename(copy)
    return copy


def inputs(source: Path, source_root: Path) -> Iterator[bytes]:
    """All that a program is made from: the sources of the client and of the kit, and how it is built by which Go."""
    yield f"{source_root} {FLAGS} {CHANGES}".encode()
    yield (source_root / "VERSION").read_bytes()
    for folder in (source, DRIVER, RIG):
        for file in sorted((*folder.rglob("*.go"), *folder.glob("go.*"))):
            yield str(file.relative_to(folder)).encode()
            yield file.read_bytes()


def digest_of(parts: Iterator[bytes] | list[bytes]) -> str:
    """A digest of some parts."""
    digest = sha256()
    for part in parts:
        digest.update(sha256(part).digest())
    return digest.hexdigest()[:16]


def build(source: Path, source_root: Path, folder: Path, program: Path) -> None:
    """Build the program. Unavailable has Go's own words if the driver does not fit the client, or Go."""
    overlay = folder / "overlay.json"
    replaced = {str(place): str(file) for place, file in overlaid(source, source_root, folder)}
    overlay.write_text(json.dumps({"Replace": replaced}, indent=1))
    part = program.with_suffix(".part")
    go(source, "build", *FLAGS, f"-overlay={overlay}", f"-o={part}", "./brokertck/cmd")
    part.rename(program)


def overlaid(source: Path, source_root: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Where files of the client and of Go are for this build, each with the file that stands there."""
    runtime = source_root / "src" / "runtime"
    text = (runtime / "time.go").read_text()
    for part, ours in CHANGES.items():
        if text.count(part) != 1:
            raise Unavailable(f"{runtime / 'time.go'} is not as the kit knows it; Go 1.25, 1.26 and 1.27 are")
        text = text.replace(part, ours)
    (folder / "time.go").write_text(text)
    yield runtime / "time.go", folder / "time.go"
    yield runtime / "broker_tck.go", DRIVER / "runtime.go"
    if not (source / TRACKER).exists():
        raise Unavailable(f"{source} has no {TRACKER}: it must be a checkout of {MODULE}")
    held = "tree.go" if TREE in (source / TRACKER).read_text() else "map.go"
    yield source / "pulsar" / "broker_tck.go", DRIVER / "tracker.go"
    yield source / "pulsar" / "broker_tck_held.go", DRIVER / held
    yield source / "brokertck" / "cmd" / "main.go", DRIVER / "main.go"
    for file in RIG.glob("*.go"):
        if not file.name.endswith("_test.go"):
            yield source / "brokertck" / file.name, file
