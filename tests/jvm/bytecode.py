"""One instruction of a released class changed, as a slip of the pen would: the class file, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from broker_tck.implementations.jvm.held import read
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.subject import loader_of


class Slip(NamedTuple):
    """In a method of a class, the n-th instruction of one kind, counted from 1, becomes another."""

    name: str
    method: str
    nth: int
    was: str
    becomes: str


def slipped(version: str, slip: Slip, folder: Path) -> Path:
    """Write the class with its slip; answers with the folder, for a class path."""
    release = Release(version)
    loader = loader_of(release.java, tuple(release.paths(OWN)))
    jpype = loader.jpype
    codes = jpype.JClass("org.objectweb.asm.Opcodes")
    tree = read(loader.code_of(slip.name), jpype)
    method = next(method for method in tree.methods if method.name == slip.method)
    of_kind = [node for node in method.instructions.toArray() if node.getOpcode() == getattr(codes, slip.was)]
    node = of_kind[slip.nth - 1]
    if hasattr(node, "setOpcode"):
        node.setOpcode(getattr(codes, slip.becomes))
    else:
        plain = jpype.JClass("org.objectweb.asm.tree.InsnNode")
        method.instructions.set(node, plain(getattr(codes, slip.becomes)))
    writer = jpype.JClass("org.objectweb.asm.ClassWriter")(0)
    tree.accept(writer)
    path = folder / (slip.name.replace(".", "/") + ".class")
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(writer.toByteArray()))
    return folder
