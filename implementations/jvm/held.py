"""What the kit holds of a class of Java: the time that it reads, and how long it may loop.

As a class is loaded, its reads of the system's clocks become reads of two fields that the kit sets, each of its jumps
backwards costs a unit of fuel, and a call that would end the process throws. A loop that never ends so ends by itself,
after the same number of turns on every machine.
"""

from __future__ import annotations

from typing import Any

from broker_tck.implementations.jvm.assembler import Class

HELD = "broker_tck/Held"
SPINS = "broker_tck/Spins"
"""What is thrown where a loop has used up its fuel."""
ENDS = "broker_tck/Ends"
"""What is thrown where the process was to be ended."""
FUEL = 20_000_000
"""Jumps backwards in one call: a tenth of a second or less. No call that comes to its end needs a tenth of it."""

CLOCKS = {("java/lang/System", "currentTimeMillis"): "wall", ("java/lang/System", "nanoTime"): "monotonic"}
READ = "read_"
"""Before the name of a field: the method that reads it, for who refers to a method."""
EXITS = {("java/lang/System", "exit"), ("java/lang/Runtime", "exit"), ("java/lang/Runtime", "halt")}


def held() -> list[Class]:
    """The classes that what is held calls: fields for the time and the fuel, and two errors."""
    burn = [
        f"getstatic {HELD} fuel J",
        "lconst_1",
        "lsub",
        "dup2",
        f"putstatic {HELD} fuel J",
        "lconst_0",
        "lcmp",
        "ifge left",
        *thrown(SPINS),
        "left:",
        "return",
    ]
    return [
        *(error(name) for name in (SPINS, ENDS)),
        Class(
            HELD,
            fields={"fuel": "J", "wall": "J", "monotonic": "J"},
            statics={
                "burn()V": burn,
                "exit(I)V": thrown(ENDS),
                "exit(Ljava/lang/Runtime;I)V": thrown(ENDS),
                **{f"{READ}{clock}()J": [f"getstatic {HELD} {clock} J", "lreturn"] for clock in CLOCKS.values()},
            },
        ),
    ]


def error(name: str) -> Class:
    """An error of Java's without more."""
    return Class(name, extends="java/lang/Error")


def thrown(name: str) -> list[str]:
    """The instructions that throw an error."""
    return [f"new {name}", "dup", f"invokespecial {name} <init> ()V", "athrow"]


def read(code: bytes, jpype: Any) -> Any:
    """A class file as a tree."""
    tree = jpype.JClass("org.objectweb.asm.tree.ClassNode")()
    jpype.JClass("org.objectweb.asm.ClassReader")(jpype.JArray(jpype.JByte)(code)).accept(tree, 0)
    return tree


def hold(tree: Any, jpype: Any) -> bytes:
    """The code of a class, changed so that the kit holds its time and its loops."""
    for method in tree.methods:
        hold_method(method.instructions, jpype)
    writer = jpype.JClass("org.objectweb.asm.ClassWriter")(0)
    tree.accept(writer)
    return bytes(writer.toByteArray())


def hold_method(instructions: Any, jpype: Any) -> None:
    """Change the instructions of a method in place. None of the changes moves what is on the stack."""
    package = "org.objectweb.asm.tree."
    call, field, jump = (jpype.JClass(package + name) for name in ("MethodInsnNode", "FieldInsnNode", "JumpInsnNode"))
    codes = jpype.JClass("org.objectweb.asm.Opcodes")
    nodes = list(instructions.toArray())
    back = [n for n in nodes if isinstance(n, jump) and instructions.indexOf(n.label) < instructions.indexOf(n)]
    for node in back:
        instructions.insertBefore(node, call(codes.INVOKESTATIC, HELD, "burn", "()V", False))
    for node in nodes:
        named = (str(node.owner), str(node.name)) if isinstance(node, call) else None
        if named in CLOCKS:
            instructions.set(node, field(codes.GETSTATIC, HELD, CLOCKS[named], "J"))
        elif named in EXITS:
            taken = "(I)V" if node.getOpcode() == codes.INVOKESTATIC else "(Ljava/lang/Runtime;I)V"
            instructions.set(node, call(codes.INVOKESTATIC, HELD, "exit", taken, False))
        elif node.getOpcode() == codes.INVOKEDYNAMIC:
            hold_references(node.bsmArgs, jpype)


def hold_references(arguments: Any, jpype: Any) -> None:
    """Change references to the clocks, such as ``System::nanoTime``, in the arguments of a lambda's instruction."""
    handle = jpype.JClass("org.objectweb.asm.Handle")
    for at, each in enumerate(arguments):
        named = (str(each.getOwner()), str(each.getName())) if isinstance(each, handle) else None
        if named in CLOCKS:
            tag = jpype.JClass("org.objectweb.asm.Opcodes").H_INVOKESTATIC
            arguments[at] = handle(tag, HELD, READ + CLOCKS[named], "()J", False)
