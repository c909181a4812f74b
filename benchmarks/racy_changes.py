"""Changes of Java's classes that may make a race: of one lock, one monitor, one check or one atomic call each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

Change = Callable[[Any], None]
"""Changes a class, in place."""


class Mutant(NamedTuple):
    """One change of one class."""

    name: str
    method: str
    what: str
    change: Change


class Changes:
    """All changes of the methods of a class that threads reach."""

    def __init__(self, jpype: Any, name: str, reached: set[str]) -> None:
        self.name, self.reached = name, reached
        self.nodes = jpype.JPackage("org").objectweb.asm.tree
        self.codes = jpype.JClass("org.objectweb.asm.Opcodes")
        self.kind = jpype.JClass("org.objectweb.asm.Type")

    def all(self, tree: Any) -> Iterator[Mutant]:
        """The mutants. Each change takes a class of its own, which has the same methods in the same order."""
        short = self.name.rpartition(".")[2]
        for at, method in enumerate(tree.methods):
            if f"{short}.{method.name}" in self.reached:
                for what, change in self.of(method):
                    yield Mutant(self.name, self.written(tree, method), what, partial(self.changed, at, change))

    def written(self, tree: Any, method: Any) -> str:
        """The name of a method; if others have it too, with the types of its arguments."""
        name = str(method.name)
        if sum(str(each.name) == name for each in tree.methods) == 1:
            return name
        kinds = (str(kind.getClassName()).rpartition(".")[2] for kind in self.kind.getArgumentTypes(method.desc))
        return f"{name}({', '.join(kinds)})"

    def changed(self, at: int, change: Callable[[Any, Any], None], tree: Any) -> None:
        """Change a method of a class."""
        change(tree, tree.methods[at])

    def of(self, method: Any) -> Iterator[tuple[str, Callable[[Any, Any], None]]]:
        """The changes of a method, in words."""
        code = list(method.instructions.toArray())
        if method.access & self.codes.ACC_SYNCHRONIZED:
            yield "is not synchronized", self.unsynchronized
        for local in dict.fromkeys(self.monitor_of(node) for node in code if self.is_enter(node)):
            yield "has no monitor", partial(self.without_monitor, local)
        yield from self.of_locks(code)
        yield from self.of_calls(code)
        for i in self.checks(method, code):
            yield "skips its first check under the lock", partial(self.at, i, partial(self.unchecked, False))
            yield "always jumps at its first check under the lock", partial(self.at, i, partial(self.unchecked, True))

    def of_locks(self, code: list[Any]) -> Iterator[tuple[str, Callable[[Any, Any], None]]]:
        """The changes of locks that are objects."""
        called = {(str(node.owner).rpartition("/")[2], str(node.name)) for node in code if self.is_call(node)}
        named = {str(getattr(node, "name", "")) for node in code}
        for owner, name in (("StampedLock", "writeLock"), ("StampedLock", "readLock"), ("Lock", "lock")):
            if (owner, name) in called:
                if name != "readLock" and "writeLock" in named:
                    yield "locks for reading, not for writing", self.read_locked
                yield (
                    "does not lock" if name != "readLock" else "does not lock for reading",
                    partial(self.unlocked, name),
                )

    def of_calls(self, code: list[Any]) -> Iterator[tuple[str, Callable[[Any, Any], None]]]:
        """The changes of single calls."""
        for i, node in enumerate(code):
            if not self.is_call(node):
                continue
            owner, name = str(node.owner), str(node.name)
            if name == "validate" and owner.endswith("/StampedLock"):
                yield "does not validate", partial(self.at, i, self.valid)
            elif two := self.two(owner, name, str(node.desc)):
                what = f"makes two calls of `{owner.rpartition('/')[2]}.{name}`"
                yield what, partial(self.at, i, partial(self.in_two, two))

    def is_call(self, node: Any) -> bool:
        """Whether an instruction calls a method."""
        return isinstance(node, self.nodes.MethodInsnNode)

    def at(self, i: int, change: Callable[[Any, Any, Any], None], tree: Any, method: Any) -> None:
        """Change one instruction."""
        change(tree, method, method.instructions.get(i))

    def instead(self, method: Any, node: Any, *opcodes: int) -> None:
        """Put instructions without operands in place of one."""
        for opcode in opcodes:
            method.instructions.insertBefore(node, self.nodes.InsnNode(opcode))
        method.instructions.remove(node)

    def unsynchronized(self, _: Any, method: Any) -> None:
        """Take off ``synchronized``."""
        method.access &= ~self.codes.ACC_SYNCHRONIZED

    def is_enter(self, node: Any) -> bool:
        """Whether an instruction enters a monitor."""
        return bool(node.getOpcode() == self.codes.MONITORENTER)

    def monitor_of(self, node: Any) -> int:
        """The local variable that a compiler keeps a monitor in."""
        while not isinstance(node, self.nodes.VarInsnNode):
            node = node.getPrevious()
        return int(node.var)

    def without_monitor(self, local: int, _: Any, method: Any) -> None:
        """Take out a monitor."""
        for node in list(method.instructions.toArray()):
            if node.getOpcode() in (self.codes.MONITORENTER, self.codes.MONITOREXIT) and self.monitor_of(node) == local:
                self.instead(method, node, self.codes.POP)

    def read_locked(self, _: Any, method: Any) -> None:
        """Lock for reading in place of writing."""
        for node in list(method.instructions.toArray()):
            if str(getattr(node, "name", "")) in ("writeLock", "unlockWrite"):
                node.name = str(node.name).replace("write", "read").replace("Write", "Read")

    def unlocked(self, lock: str, _: Any, method: Any) -> None:
        """Take out a lock."""
        codes = self.codes
        stamped = lock != "lock"
        unlock = {"writeLock": "unlockWrite", "readLock": "unlockRead", "lock": "unlock"}[lock]
        for node in list(method.instructions.toArray()):
            if self.is_call(node) and "/locks/" in str(node.owner):
                if str(node.name) == lock:
                    self.instead(method, node, codes.POP, *([codes.LCONST_0] if stamped else []))
                elif str(node.name) == unlock:
                    self.instead(method, node, *([codes.POP2] if stamped else []), codes.POP)

    def valid(self, _: Any, method: Any, node: Any) -> None:
        """Have all that was read count as valid."""
        self.instead(method, node, self.codes.POP2, self.codes.POP, self.codes.ICONST_1)

    def checks(self, method: Any, code: list[Any]) -> Iterator[int]:
        """The first jump on a condition after each lock."""
        locked = bool(method.access & self.codes.ACC_SYNCHRONIZED)
        for i, node in enumerate(code):
            name = str(node.name) if self.is_call(node) else ""
            if self.is_enter(node) or name in ("writeLock", "lock"):
                locked = True
            elif locked and isinstance(node, self.nodes.JumpInsnNode) and node.getOpcode() != self.codes.GOTO:
                locked = False
                yield i

    def unchecked(self, jumps: bool, _: Any, method: Any, node: Any) -> None:
        """Decide beforehand whether a jump is taken."""
        codes = self.codes
        two = codes.IF_ICMPEQ <= node.getOpcode() <= codes.IF_ACMPNE
        if jumps:
            for opcode in ((codes.POP2 if two else codes.POP), codes.ICONST_0):
                method.instructions.insertBefore(node, self.nodes.InsnNode(opcode))
            node.setOpcode(codes.IFEQ)
        else:
            self.instead(method, node, codes.POP2 if two else codes.POP)

    # ---- An atomic call in two

    def two(self, owner: str, name: str, kind: str) -> Callable[[Any, Any], None] | None:
        """What writes the body of a method that does in two calls what an atomic call does; None if it is not one."""
        if owner.startswith("java/util/concurrent/atomic/"):
            if name == "compareAndSet":
                return partial(self.compare_then_set, name)
            if name in ("incrementAndGet", "decrementAndGet", "getAndIncrement", "addAndGet", "getAndAdd"):
                return partial(self.get_then_set, name)
        if owner.startswith("java/util/concurrent/Concurrent"):
            if name == "putIfAbsent":
                return self.get_then_put
            if (name, kind) == ("remove", "(Ljava/lang/Object;Ljava/lang/Object;)Z"):
                return self.get_then_remove
        return None

    def in_two(self, body: Callable[[Any, Any], None], tree: Any, method: Any, node: Any) -> None:
        """Call a new static method in place of an atomic one."""
        kind = str(node.desc).replace("(", f"(L{node.owner};", 1)
        made = self.nodes.MethodNode(
            self.codes.ACC_STATIC | self.codes.ACC_SYNTHETIC, f"two${tree.methods.size()}", kind, None, None
        )
        body(made, node)
        made.maxStack, made.maxLocals = 12, 12
        tree.methods.add(made)
        method.instructions.set(
            node, self.nodes.MethodInsnNode(self.codes.INVOKESTATIC, tree.name, made.name, kind, False)
        )

    def loads(self, method: Any, first: int, last: int) -> None:
        """Load the arguments from one to another."""
        place = 0
        for at, kind in enumerate(self.kind.getArgumentTypes(method.desc)):
            if first <= at < last:
                method.visitVarInsn(kind.getOpcode(self.codes.ILOAD), place)
            place += kind.getSize()

    def call(self, method: Any, node: Any, name: str, kind: str) -> None:
        """Call another method of what has the atomic one."""
        method.visitMethodInsn(node.getOpcode(), node.owner, name, kind, node.itf)

    def kinds(self, method: Any) -> list[Any]:
        """The types of the arguments."""
        return list(self.kind.getArgumentTypes(method.desc))

    def compare_then_set(self, _: str, method: Any, node: Any) -> None:
        """Get, compare, set."""
        codes, kinds = self.codes, self.kinds(method)
        n, value = len(kinds), str(kinds[-1].getDescriptor())
        keys = "".join(str(kind.getDescriptor()) for kind in kinds[1:-2])
        differs = self.nodes.LabelNode()
        self.loads(method, 0, n - 2)
        self.call(method, node, "get", f"({keys}){value}")
        self.loads(method, n - 2, n - 1)
        if value == "J":
            method.visitInsn(codes.LCMP)
        jump = {"J": codes.IFNE, "I": codes.IF_ICMPNE, "Z": codes.IF_ICMPNE}.get(value, codes.IF_ACMPNE)
        method.instructions.add(self.nodes.JumpInsnNode(jump, differs))
        self.loads(method, 0, n - 2)
        self.loads(method, n - 1, n)
        self.call(method, node, "set", f"({keys}{value})V")
        method.visitInsn(codes.ICONST_1)
        method.visitInsn(codes.IRETURN)
        self.ends(method, differs, codes.ICONST_0, codes.IRETURN)

    def get_then_set(self, name: str, method: Any, node: Any) -> None:
        """Get, add, set."""
        codes, kinds = self.codes, self.kinds(method)
        wide = str(node.desc).endswith("J")
        value, keyed = ("J" if wide else "I"), len(kinds) - name.endswith("Add") - name.startswith("add")
        keys = "".join(str(kind.getDescriptor()) for kind in kinds[1:keyed])
        old, new = (8, 10) if wide else (8, 9)
        load, store = (codes.LLOAD, codes.LSTORE) if wide else (codes.ILOAD, codes.ISTORE)
        self.loads(method, 0, keyed)
        self.call(method, node, "get", f"({keys}){value}")
        method.visitVarInsn(store, old)
        method.visitVarInsn(load, old)
        if keyed < len(kinds):
            self.loads(method, keyed, len(kinds))
        else:
            method.visitInsn(codes.LCONST_1 if wide else codes.ICONST_1)
        add, subtract = (codes.LADD, codes.LSUB) if wide else (codes.IADD, codes.ISUB)
        method.visitInsn(subtract if name.startswith("decrement") else add)
        method.visitVarInsn(store, new)
        self.loads(method, 0, keyed)
        method.visitVarInsn(load, new)
        self.call(method, node, "set", f"({keys}{value})V")
        method.visitVarInsn(load, old if name.startswith("get") else new)
        method.visitInsn(codes.LRETURN if wide else codes.IRETURN)

    def get_then_put(self, method: Any, node: Any) -> None:
        """Get, then put if there is nothing."""
        codes, absent = self.codes, self.nodes.LabelNode()
        self.loads(method, 0, 2)
        self.call(method, node, "get", "(Ljava/lang/Object;)Ljava/lang/Object;")
        method.visitVarInsn(codes.ASTORE, 8)
        method.visitVarInsn(codes.ALOAD, 8)
        method.instructions.add(self.nodes.JumpInsnNode(codes.IFNULL, absent))
        method.visitVarInsn(codes.ALOAD, 8)
        method.visitInsn(codes.ARETURN)
        method.instructions.add(absent)
        self.frame(method)
        self.loads(method, 0, 3)
        self.call(method, node, "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;")
        method.visitInsn(codes.ARETURN)

    def get_then_remove(self, method: Any, node: Any) -> None:
        """Get, compare, remove."""
        codes, differs = self.codes, self.nodes.LabelNode()
        self.loads(method, 2, 3)
        self.loads(method, 0, 2)
        self.call(method, node, "get", "(Ljava/lang/Object;)Ljava/lang/Object;")
        method.visitMethodInsn(codes.INVOKEVIRTUAL, "java/lang/Object", "equals", "(Ljava/lang/Object;)Z", False)
        method.instructions.add(self.nodes.JumpInsnNode(codes.IFEQ, differs))
        self.loads(method, 0, 2)
        self.call(method, node, "remove", "(Ljava/lang/Object;)Ljava/lang/Object;")
        method.visitInsn(codes.POP)
        method.visitInsn(codes.ICONST_1)
        method.visitInsn(codes.IRETURN)
        self.ends(method, differs, codes.ICONST_0, codes.IRETURN)

    def ends(self, method: Any, label: Any, *opcodes: int) -> None:
        """Add what is jumped to."""
        method.instructions.add(label)
        self.frame(method)
        for opcode in opcodes:
            method.visitInsn(opcode)

    def frame(self, method: Any) -> None:
        """Say that only the arguments are known here."""
        method.instructions.add(self.nodes.FrameNode(self.codes.F_SAME, 0, None, 0, None))
