"""Instrumented classes of Java: the kit controls the time that they read, and how long they may loop.

As a class is loaded, its reads of the system's clocks become reads of two fields that the kit sets, each of its jumps
backwards costs a unit of fuel, and a call that would end the process throws. So an endless loop ends after the same
number of turns on every machine. Classes around it, Java's own among them, are left as they are.
"""

from __future__ import annotations

from typing import Any

HELD = "broker_tck.Held"
"""The Java class with the time and the fuel, which instrumented classes call."""
SPINS = f"{HELD}$Spins"
"""The exception that is thrown if a loop has used up its fuel."""
ENDS = f"{HELD}$Ends"
"""The exception that is thrown in place of ending the process."""
FUEL = 20_000_000
"""Maximum number of jumps backwards in one call.

No call that ends needs a tenth of it. An empty loop uses it up in a fraction of a second.
"""

OWNER = HELD.replace(".", "/")
RUNTIME = "java/lang/Runtime"
INSTEAD = {
    ("java/lang/System", "currentTimeMillis()J"),
    ("java/lang/System", "nanoTime()J"),
    ("java/time/Instant", "now()Ljava/time/Instant;"),
    ("java/time/Clock", "systemUTC()Ljava/time/Clock;"),
    ("java/time/Clock", "systemDefaultZone()Ljava/time/Clock;"),
    ("java/time/Clock", "system(Ljava/time/ZoneId;)Ljava/time/Clock;"),
    ("java/lang/System", "exit(I)V"),
    (RUNTIME, "exit(I)V"),
    (RUNTIME, "halt(I)V"),
}
"""What reads a clock, answers with one, or ends the process: a static method of the same name is called instead.

That of a method of ``Runtime`` takes the object before its arguments.
"""


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
        instructions.insertBefore(node, nodes.MethodInsnNode(codes.INVOKESTATIC, OWNER, "burn", "()V", False))
    for node in every:
        if node.getOpcode() == codes.INVOKEDYNAMIC:
            hold_references(node.bsmArgs, jpype)
        elif isinstance(node, nodes.MethodInsnNode) and (kind := kind_instead(node.owner, node.name, node.desc)):
            instructions.set(node, nodes.MethodInsnNode(codes.INVOKESTATIC, OWNER, node.name, kind, False))


def jumps_back(node: Any, instructions: Any) -> bool:
    """Whether an instruction may go on at an earlier one: a jump, or one of the two kinds of switch."""
    labels = [node.label] if hasattr(node, "label") else [*node.labels, node.dflt] if hasattr(node, "dflt") else []
    return any(instructions.indexOf(label) < instructions.indexOf(node) for label in labels)


def kind_instead(owner: Any, name: Any, kind: Any) -> str | None:
    """The descriptor of the static method that is called instead of a method; None if that is called as it is."""
    if (str(owner), f"{name}{kind}") not in INSTEAD:
        return None
    return str(kind).replace("(", f"(L{RUNTIME};", 1) if owner == RUNTIME else str(kind)


def hold_references(arguments: Any, jpype: Any) -> None:
    """Change references to the same methods, such as ``System::nanoTime``, in what a lambda's instruction is given."""
    handle = jpype.JClass("org.objectweb.asm.Handle")
    static = jpype.JClass("org.objectweb.asm.Opcodes").H_INVOKESTATIC
    for at, each in enumerate(arguments):
        if isinstance(each, handle) and (kind := kind_instead(each.getOwner(), each.getName(), each.getDesc())):
            arguments[at] = handle(static, OWNER, each.getName(), kind, False)
