"""Small classes of Java, written as instructions of its virtual machine and made at run time: no compiler needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

VERSION = 50
"""The class files' format: the last for which no frames have to be written."""
OBJECT = "java/lang/Object"
CONSTRUCTOR = "<init>()V"


@dataclass(frozen=True)
class Class:
    """A public class. Names are internal ones (``java/lang/Object``); a method is its name with its descriptor.

    Instructions are mnemonics with their operands, separated by blanks; ``name:`` is a label, and ``catch`` with three
    labels says that what is thrown from the first one to the second goes on at the third.
    """

    name: str
    extends: str = OBJECT
    implements: Sequence[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    """Static fields: their descriptors by name."""
    own: Mapping[str, str] = field(default_factory=dict)
    """Fields that every object has of its own, likewise."""
    statics: Mapping[str, Sequence[str]] = field(default_factory=dict)
    methods: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Interface:
    """A public interface; ``methods`` are names with descriptors."""

    name: str
    methods: Sequence[str]


def assembled(made: Class | Interface, jpype: Any) -> bytes:
    """The class file of a class."""
    codes = jpype.JClass("org.objectweb.asm.Opcodes")
    writing = jpype.JClass("org.objectweb.asm.ClassWriter")
    writer = writing(writing.COMPUTE_MAXS)
    if isinstance(made, Interface):
        access = codes.ACC_PUBLIC | codes.ACC_ABSTRACT
        writer.visit(VERSION, access | codes.ACC_INTERFACE, made.name, None, OBJECT, None)
        for method in made.methods:
            writer.visitMethod(access, *split(method), None, None).visitEnd()
    else:
        strings = jpype.JArray(jpype.java.lang.String)
        access = codes.ACC_PUBLIC | codes.ACC_SUPER
        writer.visit(VERSION, access, made.name, None, made.extends, strings(list(made.implements)))
        for fields, access in ((made.fields, codes.ACC_STATIC), (made.own, 0)):
            for name, kind in fields.items():
                writer.visitField(codes.ACC_PUBLIC | access, name, kind, None, None).visitEnd()
        constructor = ["aload 0", f"invokespecial {made.extends} <init> ()V", "return"]
        write(writer, codes, codes.ACC_PUBLIC, {CONSTRUCTOR: constructor, **made.methods}, jpype)
        write(writer, codes, codes.ACC_PUBLIC | codes.ACC_STATIC, made.statics, jpype)
    writer.visitEnd()
    return bytes(writer.toByteArray())


def split(method: str) -> tuple[str, str]:
    """A method's name, and its descriptor."""
    name, brace, rest = method.partition("(")
    return name, brace + rest


def write(writer: Any, codes: Any, access: Any, methods: Mapping[str, Iterable[str]], jpype: Any) -> None:
    """Write methods into a class."""
    for method, instructions in methods.items():
        visitor = writer.visitMethod(access, *split(method), None, None)
        labels = Labels(jpype.JClass("org.objectweb.asm.Label"))
        visitor.visitCode()
        for instruction in instructions:
            emit(visitor, codes, instruction, labels)
        visitor.visitMaxs(0, 0)
        visitor.visitEnd()


class Labels(dict[str, Any]):
    """The labels of a method, each made when it is first named."""

    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made = made

    def __missing__(self, name: str) -> Any:
        self[name] = self.made()
        return self[name]


def emit(visitor: Any, codes: Any, instruction: str, labels: Labels) -> None:
    """Write an instruction, by what its operands are."""
    if instruction.endswith(":"):
        visitor.visitLabel(labels[instruction[:-1]])
        return
    mnemonic, *operands = instruction.split()
    if mnemonic == "catch":
        visitor.visitTryCatchBlock(*(labels[name] for name in operands), None)
        return
    code = getattr(codes, mnemonic.upper())
    match operands:
        case []:
            visitor.visitInsn(code)
        case [owner, name, kind] if kind.startswith("("):
            visitor.visitMethodInsn(code, owner, name, kind, mnemonic == "invokeinterface")
        case [owner, name, kind]:
            visitor.visitFieldInsn(code, owner, name, kind)
        case [number] if mnemonic in ("bipush", "sipush"):
            visitor.visitIntInsn(code, int(number))
        case [number] if number.isdecimal():
            visitor.visitVarInsn(code, int(number))
        case [label] if mnemonic.startswith("if") or mnemonic == "goto":
            visitor.visitJumpInsn(code, labels[label])
        case [owner]:
            visitor.visitTypeInsn(code, owner)
