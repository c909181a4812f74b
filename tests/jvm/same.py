"""Releases whose class is the same to the last instruction, so that one of them is tested for all."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from zipfile import ZipFile

import pytest

from broker_tck.implementations.ack_timeout import released as acks
from broker_tck.implementations.active_cursors import released as cursors
from broker_tck.implementations.bucket_delivery import released as buckets
from broker_tck.implementations.delayed_delivery import released as delays
from broker_tck.implementations.entry_cache import released_caches as caches
from broker_tck.implementations.entry_cache.released import limiter, managing_alone, pending_reads
from broker_tck.implementations.jvm.java import java
from broker_tck.implementations.jvm.loader import classes_in
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.negative_acks import released as nacks
from broker_tck.implementations.released import KINDS

SAME = {
    "in-memory": ("3.0.7", "4.0.0 4.0.8", "4.0.1", "4.0.5", "4.2.4", "5.0.0-M1", "5.0.1"),
    "negative-acks": ("3.0.7 3.3.2 4.0.0", "3.3.6 4.0.1", "4.0.5 4.0.8", "4.1.1", "4.2.4", "5.0.0-M1", "5.0.1"),
    "ack-timeout": ("3.0.7", "4.0.0 4.0.1 4.0.5 4.0.8", "4.1.1", "4.2.4", "5.0.0-M1", "5.0.1"),
    "cursor-heap": ("3.0.0", "3.0.7", "4.0.0 4.0.1 4.0.8", "4.2.4 5.0.0-M1", "5.0.1"),
    "cursor-tree-set": ("4.2.4 5.0.0-M1", "5.0.1"),
    "cursor-list": ("4.2.4", "5.0.0-M1", "5.0.1"),
    "range-cache": ("4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
    "reads-limiter": ("3.3.5", "4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
    "pending-reads": ("4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
    "aligned-reads": ("3.0.0", "3.0.7", "3.3.2", "3.3.5", "4.0.0 4.0.1"),
    "cache-manager": ("3.0.0", "3.0.7", "3.3.5", "4.0.0 4.0.1", "4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
    "bucket": ("4.0.0 4.0.1", "4.0.5", "4.0.8", "4.2.4", "5.0.1"),
}
"""The releases that have each kind of class; those in one string have the same class."""
MADE_OF = {
    "in-memory": (
        delays.IN_MEMORY,
        delays.ABSTRACT,
        "org.apache.pulsar.common.util.collections.TripleLongPriorityQueue",
    ),
    "negative-acks": (nacks.TRACKER.replace("/", "."),),
    "ack-timeout": acks.HELD,
    "cursor-heap": (cursors.HEAP, cursors.EARLIER_HEAP),
    "cursor-tree-set": (cursors.TREE_SET,),
    "cursor-list": (cursors.LIST,),
    "range-cache": tuple(name.replace("/", ".") for name in caches.HELD),
    "reads-limiter": limiter().woven,
    "pending-reads": pending_reads(profile="").woven,
    "aligned-reads": pending_reads(profile="").woven,
    "cache-manager": managing_alone().woven,
    "bucket": (*buckets.HELD, f"{buckets.BUCKETS}Bucket", delays.ABSTRACT),
}
"""The beginnings of the names of the classes that a kind is made of."""


def subjects(kind: str) -> list[Any]:
    """The names of all subjects of a kind, as parameters of a test; all but the first with the same class are deep."""
    groups = [group.split() for group in SAME[kind]]
    return [
        pytest.param(f"pulsar-{version}/{kind}", marks=[pytest.mark.deep] if number else [])
        for group in groups
        for number, version in enumerate(group)
    ]


def digest(kind: str, version: str) -> str:
    """A digest of the instructions of a release's class, without annotations, line numbers and version of Java."""
    found = sha256()
    for code in codes(kind, Release(version)):
        found.update(instructions(code))
    return found.hexdigest()


def codes(kind: str, release: Release) -> Iterator[bytes]:
    """The class files of what a class is made of."""
    jars = KINDS[kind].jars
    for place, _ in zip(release.paths(jars), jars, strict=False):
        with ZipFile(place) as jar:
            for name in classes_in(place, MADE_OF[kind]):
                yield jar.read(name.replace(".", "/") + ".class")


def instructions(code: bytes) -> bytes:
    """A class file without all that does not change what the class does."""
    jpype = java()
    reader = jpype.JClass("org.objectweb.asm.ClassReader")
    tree = jpype.JClass("org.objectweb.asm.tree.ClassNode")()
    reader(jpype.JArray(jpype.JByte)(code)).accept(tree, reader.SKIP_DEBUG | reader.SKIP_FRAMES)
    for each in (tree, *tree.fields, *tree.methods):
        each.visibleAnnotations = each.invisibleAnnotations = None
    tree.version = jpype.JClass("org.objectweb.asm.Opcodes").V1_5
    writer = jpype.JClass("org.objectweb.asm.ClassWriter")(0)
    tree.accept(writer)
    return bytes(writer.toByteArray())
