"""Points in classes of Java, woven in: there the kit's scheduler may let another thread go on.

A point stands before each access of a field that is not final, or of an element of an array. It also stands before each
call of what threads may share and the class does not hold itself: collections, atomics, queues, pools, locks. Monitors
and locks become the scheduler's. What is called at a point happens in one go, so that races inside of Java's own
collections are not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

THREADS = "broker_tck/threads/"
SCHEDULER = THREADS + "Scheduler"
LOCKS = {
    "java/util/concurrent/locks/ReentrantLock": THREADS + "Reentrant",
    "java/util/concurrent/locks/ReentrantReadWriteLock": THREADS + "ReadWrite",
    "java/util/concurrent/locks/StampedLock": THREADS + "Stamped",
}
"""What is made in place of the locks of Java's."""
SHARED = (
    "java/util/",
    "java/lang/invoke/VarHandle",
    "com/carrotsearch/hppc/",
    "com/google/common/collect/",
    "io/netty/util/",
    "it/unimi/dsi/fastutil/",
    "org/apache/pulsar/common/util/collections/",
    "org/jctools/",
    "org/roaringbitmap/",
)
"""How the names of classes begin of which threads may share objects."""
UNSHARED = (
    "java/util/Comparator",
    "java/util/Map$Entry",
    "java/util/Objects",
    "java/util/Optional",
    "java/util/function/",
    "java/util/stream/",
)
"""How the names of those begin of which they do not."""
QUEUES = "org/jctools/queues/"
CHUNK = 64
"""How much room for elements queues that grow get at first. Those of the broker would take longer than all else."""
LOCALS = ("java/lang/ThreadLocal", "io/netty/util/concurrent/FastThreadLocal")
"""What has a value for each thread; the scheduler's threads may be one of Java's."""
WAITING = {
    ("java/lang/Object", "wait"),
    ("java/lang/Thread", "join"),
    ("java/lang/Thread", "sleep"),
    ("java/util/concurrent/BlockingQueue", "put"),
    ("java/util/concurrent/BlockingQueue", "take"),
    ("java/util/concurrent/CountDownLatch", "await"),
    ("java/util/concurrent/Semaphore", "acquire"),
    ("java/util/concurrent/locks/LockSupport", "park"),
    ("java/util/concurrent/locks/LockSupport", "parkNanos"),
}
"""Calls that would have all threads wait, as the scheduler's may be one of Java's: they are refused."""
FUTURE = "java/util/concurrent/CompletableFuture"
LIMITED = "(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;"
"""A wait for a future that has a limit of time, as its ``get`` has it."""
FUTURES = THREADS + "Futures"
VALUES = THREADS + "Locals"
MAPS = THREADS + "Maps"
CALLING_BACK = ("compute", "merge")
"""How the methods begin in which a map calls a function."""
OWN = [("Timer", "fires"), ("Clock", "goes on"), ("Dispatcher", "enter")]
"""The first sites, which are the kit's own: a timer fires, time goes on, a call takes the monitor of a dispatcher."""


class Weaver:
    """Weaves points into classes."""

    def __init__(self, jpype: Any, trees: Iterable[Any], called_back: bool = False) -> None:
        """Of all classes that points will be woven into it must be known which fields are final.

        If their lambdas are called back by futures, a point stands before each return of one: then the future ends.
        """
        self.called_back = called_back
        self.nodes = jpype.JPackage("org").objectweb.asm.tree
        self.codes = jpype.JClass("org.objectweb.asm.Opcodes")
        self.arrays = (self.codes.NEWARRAY, self.codes.ANEWARRAY)
        self.number: Any = jpype.JClass("java.lang.Integer")
        self.kind: Any = jpype.JClass("org.objectweb.asm.Type")
        self.final = {(str(tree.name), str(f.name)) for tree in trees for f in tree.fields if self._is(f, "FINAL")}
        self.sites = [*OWN]
        """Each point: class, method and line, and what is about to happen."""

    def weave(self, tree: Any) -> None:
        """Weave points into a class, in place."""
        tree.superName = LOCKS.get(str(tree.superName), tree.superName)
        for method in tree.methods:
            if method.instructions.size():
                self._weave(str(tree.name), method)

    def _weave(self, owner: str, method: Any) -> None:
        code, line, before, filling = method.instructions, 0, 0, 0
        place = f"{owner.rpartition('/')[2]}.{method.name}"
        making = str(method.name) in ("<init>", "<clinit>")
        for node in list(code.toArray()):
            if isinstance(node, self.nodes.LineNumberNode):
                line = int(node.line)
                continue
            opcode = node.getOpcode()
            if opcode < 0:
                continue
            filling += opcode == self.codes.DUP and (before in self.arrays or self._is_store(before))
            if self._is_store(opcode) and filling:  # an element of ``new int[] {1, 2}``, which nobody else knows yet
                filling -= 1
            elif not making and (what := self._what(node)):
                self._point(code, node, f"{place}:{line}", what)
            elif self.called_back and self._returns(opcode) and str(method.name).startswith("lambda$"):
                self._point(code, node, f"{place}:{line}", "return")
            self._replace(code, node)
            before = opcode
        if self._is(method, "SYNCHRONIZED"):
            self._synchronize(owner, method, place)
        method.maxStack += 2

    def _is(self, member: Any, flag: str) -> bool:
        return bool(member.access & getattr(self.codes, f"ACC_{flag}"))

    def _returns(self, opcode: int) -> bool:
        return bool(self.codes.IRETURN <= opcode <= self.codes.RETURN)

    def _is_store(self, opcode: int) -> bool:
        return bool(self.codes.IASTORE <= opcode <= self.codes.SASTORE)

    def _what(self, node: Any) -> str:
        """What an instruction does that other threads may notice; empty for nothing."""
        if isinstance(node, self.nodes.FieldInsnNode):
            return self._access(str(node.owner), str(node.name), node.getOpcode())
        if isinstance(node, self.nodes.MethodInsnNode):
            return called(str(node.owner), str(node.name))
        opcode = node.getOpcode()
        if self.codes.IALOAD <= opcode <= self.codes.SALOAD:
            return "read element"
        if self._is_store(opcode):
            return "write element"
        return "enter" if opcode == self.codes.MONITORENTER else ""

    def _access(self, owner: str, name: str, opcode: int) -> str:
        if owner.startswith("java/") or (owner, name) in self.final:
            return ""
        reads = opcode in (self.codes.GETFIELD, self.codes.GETSTATIC)
        return f"{'read' if reads else 'write'} {name}"

    def _point(self, code: Any, node: Any, place: str, what: str) -> None:
        """A point before an instruction."""
        for each in self._passing(place, what):
            code.insertBefore(node, each)

    def _passing(self, place: str, what: str) -> list[Any]:
        self.sites.append((place, what))
        return [self._number(len(self.sites) - 1), self._call("point", "(I)V")]

    def _number(self, number: int) -> Any:
        return self.nodes.LdcInsnNode(self.number(number))

    def _call(self, name: str, kind: str) -> Any:
        return self._static(SCHEDULER, name, kind)

    def _static(self, owner: str, name: str, kind: str) -> Any:
        return self.nodes.MethodInsnNode(self.codes.INVOKESTATIC, owner, name, kind, False)

    def _replace(self, code: Any, node: Any) -> None:
        """Have an instruction use the scheduler's monitors and locks."""
        opcode = node.getOpcode()
        if opcode == self.codes.MONITORENTER:
            code.set(node, self._call("enter", "(Ljava/lang/Object;)V"))
        elif opcode == self.codes.MONITOREXIT:
            code.set(node, self._call("exit", "(Ljava/lang/Object;)V"))
        elif opcode == self.codes.NEW:
            node.desc = LOCKS.get(str(node.desc), node.desc)
        elif isinstance(node, self.nodes.MethodInsnNode):
            self._replace_call(code, node, str(node.owner), str(node.name))

    def _replace_call(self, code: Any, node: Any, owner: str, name: str) -> None:
        if (owner, name) in WAITING:
            code.insertBefore(node, self.nodes.LdcInsnNode(f"{owner.rpartition('/')[2]}.{name}"))
            code.insertBefore(node, self._call("refuse", "(Ljava/lang/String;)V"))
        if name == "<init>":
            node.owner = LOCKS.get(owner, node.owner)
            if owner.startswith(QUEUES) and "Unbounded" in owner and str(node.desc) == "(I)V":
                code.insertBefore(node, self.nodes.InsnNode(self.codes.POP))
                code.insertBefore(node, self._number(CHUNK))
        elif owner.startswith("java/util/") and name.startswith(CALLING_BACK):
            code.set(node, self._static(MAPS, name, str(node.desc).replace("(", "(Ljava/util/Map;", 1)))
        elif (owner, name, str(node.desc)) == (FUTURE, "get", LIMITED):
            code.set(node, self._static(FUTURES, name, LIMITED.replace("(", f"(L{FUTURE};", 1)))
        elif owner in LOCALS and name in ("get", "set", "remove"):
            code.set(node, self._static(VALUES, name, str(node.desc).replace("(", "(Ljava/lang/Object;", 1)))

    def _synchronize(self, owner: str, method: Any, place: str) -> None:
        """Write out what a synchronized method does by itself."""
        nodes, codes, code = self.nodes, self.codes, method.instructions
        method.access &= ~codes.ACC_SYNCHRONIZED
        static = self._is(method, "STATIC")

        def monitor(*then: Any) -> list[Any]:
            this = nodes.LdcInsnNode(self.kind.getObjectType(owner)) if static else nodes.VarInsnNode(codes.ALOAD, 0)
            return [this, *then]

        for node in list(code.toArray()):
            if self._returns(node.getOpcode()):
                for each in monitor(self._call("exit", "(Ljava/lang/Object;)V")):
                    code.insertBefore(node, each)
        begin, end, thrown = nodes.LabelNode(), nodes.LabelNode(), nodes.LabelNode()
        first = code.getFirst()
        entered = monitor(self._call("enter", "(Ljava/lang/Object;)V"), begin)
        for each in [*self._passing(place, "enter"), *entered]:
            code.insertBefore(first, each)
        locals_ = [] if static else [owner]
        frame = nodes.FrameNode(codes.F_FULL, len(locals_), locals_, 1, ["java/lang/Throwable"])
        leaving = monitor(self._call("exit", "(Ljava/lang/Object;)V"), nodes.InsnNode(codes.ATHROW))
        for each in [end, thrown, frame, *leaving]:
            code.add(each)
        method.tryCatchBlocks.add(nodes.TryCatchBlockNode(begin, end, thrown, None))


def called(owner: str, name: str) -> str:
    """What a call does that other threads may notice; empty for nothing."""
    if name.startswith(("<init>", "unlock")) or not owner.startswith(SHARED) or owner.startswith(UNSHARED):
        return ""
    return f"{owner.rpartition('/')[2]}.{name}"
