"""What the kit holds of a class of Java: the time that it reads, and how long it may loop.

As a class is loaded, its reads of the system's clocks become reads of two fields that the kit sets, each of its jumps
backwards costs a unit of fuel, and a call that would end the process throws. A loop that never ends so ends by itself,
after the same number of turns on every machine. Classes around it, Java's own among them, are left as they are.
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
"""Jumps backwards in one call. No call that comes to its end needs a tenth of it.

Turns that do next to nothing use it up in a fraction of a second; what does more in a turn takes longer.
"""

CLOCKS = {("java/lang/System", "currentTimeMillis"): "wall", ("java/lang/System", "nanoTime"): "monotonic"}
READ = "read_"
"""Before the name of a field: the method that reads it, for who refers to a method."""
EXITS = {("java/lang/System", "exit"), ("java/lang/Runtime", "exit"), ("java/lang/Runtime", "halt")}

CLOCK = "broker_tck/HeldClock"
"""A clock of Java's that reads what is held."""
INSTANT, ANY_CLOCK, ZONE = "java/time/Instant", "java/time/Clock", "java/time/ZoneId"
NOW = [f"getstatic {HELD} wall J", f"invokestatic {INSTANT} ofEpochMilli (J)L{INSTANT};", "areturn"]


def clock(zone: str) -> list[str]:
    """The instructions that answer with a clock that is held; ``zone`` puts its zone on the stack."""
    return [f"new {CLOCK}", "dup", zone, f"invokespecial {CLOCK} <init> (L{ZONE};)V", "areturn"]


UTC = clock("getstatic java/time/ZoneOffset UTC Ljava/time/ZoneOffset;")
TIMES = {
    (INSTANT, f"now()L{INSTANT};"): NOW,
    (ANY_CLOCK, f"systemUTC()L{ANY_CLOCK};"): UTC,
    (ANY_CLOCK, f"systemDefaultZone()L{ANY_CLOCK};"): UTC,
    (ANY_CLOCK, f"system(L{ZONE};)L{ANY_CLOCK};"): clock("aload 0"),
}
"""What else answers with the time, or with a clock: the instructions of what is called instead, by the same name.

The default zone is UTC, on every machine.
"""


def held() -> list[Class]:
    """The classes that what is held calls: fields for the time and the fuel, a clock, and two errors."""
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
    made = [
        "aload 0",
        f"invokespecial {ANY_CLOCK} <init> ()V",
        "aload 0",
        "aload 1",
        f"putfield {CLOCK} zone L{ZONE};",
        "return",
    ]
    return [
        *(error(name) for name in (SPINS, ENDS)),
        Class(
            CLOCK,
            extends=ANY_CLOCK,
            own={"zone": f"L{ZONE};"},
            methods={
                f"<init>(L{ZONE};)V": made,
                f"getZone()L{ZONE};": ["aload 0", f"getfield {CLOCK} zone L{ZONE};", "areturn"],
                f"withZone(L{ZONE};)L{ANY_CLOCK};": clock("aload 1"),
                f"instant()L{INSTANT};": NOW,
            },
        ),
        Class(
            HELD,
            fields={"fuel": "J", "wall": "J", "monotonic": "J"},
            statics={
                "burn()V": burn,
                "exit(I)V": thrown(ENDS),
                "exit(Ljava/lang/Runtime;I)V": thrown(ENDS),
                **{f"{READ}{name}()J": [f"getstatic {HELD} {name} J", "lreturn"] for name in CLOCKS.values()},
                **{method: instructions for (_, method), instructions in TIMES.items()},
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
    nodes = jpype.JPackage("org").objectweb.asm.tree
    codes = jpype.JClass("org.objectweb.asm.Opcodes")
    every = list(instructions.toArray())
    for node in [node for node in every if jumps_back(node, instructions)]:
        instructions.insertBefore(node, nodes.MethodInsnNode(codes.INVOKESTATIC, HELD, "burn", "()V", False))
    for node in every:
        if node.getOpcode() == codes.INVOKEDYNAMIC:
            hold_references(node.bsmArgs, jpype)
        elif isinstance(node, nodes.MethodInsnNode) and (instead := call_instead(node, nodes, codes)):
            instructions.set(node, instead)


def jumps_back(node: Any, instructions: Any) -> bool:
    """Whether an instruction may go on at an earlier one: a jump, or one of the two kinds of switch."""
    labels = [node.label] if hasattr(node, "label") else [*node.labels, node.dflt] if hasattr(node, "dflt") else []
    return any(instructions.indexOf(label) < instructions.indexOf(node) for label in labels)


def call_instead(node: Any, nodes: Any, codes: Any) -> Any:
    """What stands for a call that reads a clock or ends the process; None for other calls."""
    owner, name, kind = str(node.owner), str(node.name), str(node.desc)
    if (owner, name) in CLOCKS:
        return nodes.FieldInsnNode(codes.GETSTATIC, HELD, CLOCKS[owner, name], "J")
    if (owner, name) in EXITS:
        taken = "(I)V" if node.getOpcode() == codes.INVOKESTATIC else "(Ljava/lang/Runtime;I)V"
        return nodes.MethodInsnNode(codes.INVOKESTATIC, HELD, "exit", taken, False)
    if (owner, name + kind) in TIMES:
        return nodes.MethodInsnNode(codes.INVOKESTATIC, HELD, name, kind, False)
    return None


def hold_references(arguments: Any, jpype: Any) -> None:
    """Change references to clocks and exits, such as ``System::nanoTime``, in what a lambda's instruction is given."""
    handle = jpype.JClass("org.objectweb.asm.Handle")
    static = jpype.JClass("org.objectweb.asm.Opcodes").H_INVOKESTATIC
    for at, each in enumerate(arguments):
        if not isinstance(each, handle):
            continue
        owner, name, kind = str(each.getOwner()), str(each.getName()), str(each.getDesc())
        if (owner, name) in CLOCKS:
            arguments[at] = handle(static, HELD, READ + CLOCKS[owner, name], kind, False)
        elif (owner, name + kind) in TIMES:
            arguments[at] = handle(static, HELD, name, kind, False)
        elif (owner, name) in EXITS:
            taken = "(I)V" if each.getTag() == static else "(Ljava/lang/Runtime;I)V"
            arguments[at] = handle(static, HELD, "exit", taken, False)
