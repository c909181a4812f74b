"""A method that Pulsar 5.0.1 calls and the milestone before it does not have, whose pulsar-common stands in for it.

What a supplier throws becomes a future that has failed. It is what remains of the helper where its class is older.
"""

from __future__ import annotations

from broker_tck.implementations.jvm.assembler import Class, write
from broker_tck.implementations.jvm.held import read
from broker_tck.implementations.jvm.loader import Loader

OWNER = "org.apache.pulsar.common.util.FutureUtil"
FUTURE = "java/util/concurrent/CompletableFuture"
SUPPLIER = "java/util/function/Supplier"
NAME = "supplySafely"
KIND = f"(L{SUPPLIER};)L{FUTURE};"
SAFELY = Class(
    "broker_tck/Safely",
    statics={
        NAME + KIND: [
            "catch start end failed",
            "start:",
            "aload 0",
            f"invokeinterface {SUPPLIER} get ()Ljava/lang/Object;",
            f"checkcast {FUTURE}",
            "end:",
            "areturn",
            "failed:",
            f"invokestatic {FUTURE} failedFuture (Ljava/lang/Throwable;)L{FUTURE};",
            "areturn",
        ]
    },
)


def mend(loader: Loader) -> None:
    """Give the class its method, where it has none."""
    jpype = loader.jpype
    tree = read(loader.code_of(OWNER), jpype)
    if loader.is_loaded(OWNER) or any(str(method.name) == NAME for method in tree.methods):
        return
    loader.make(SAFELY)
    codes = jpype.JClass("org.objectweb.asm.Opcodes")
    calls = ["aload 0", f"invokestatic {SAFELY.name} {NAME} {KIND}", "areturn"]
    write(tree, codes, codes.ACC_PUBLIC | codes.ACC_STATIC, {NAME + KIND: calls}, jpype)
    writing = jpype.JClass("org.objectweb.asm.ClassWriter")
    writer = writing(writing.COMPUTE_MAXS)
    tree.accept(writer)
    loader.define(bytes(writer.toByteArray()))
