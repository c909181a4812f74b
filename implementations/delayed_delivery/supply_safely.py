"""A method that Pulsar 5.0.1 calls and the milestone before it does not have, whose pulsar-common stands in for it.

What a supplier throws becomes a future that has failed. It is what remains of the helper where its class is older.
"""

from __future__ import annotations

from broker_tck.implementations.jvm.held import read
from broker_tck.implementations.jvm.loader import Loader

OWNER = "org.apache.pulsar.common.util.FutureUtil"
NAME = "supplySafely"
KIND = "(Ljava/util/function/Supplier;)Ljava/util/concurrent/CompletableFuture;"


def mend(loader: Loader) -> None:
    """Give the class its method, where it has none."""
    jpype = loader.jpype
    tree = read(loader.code_of(OWNER), jpype)
    if loader.is_loaded(OWNER) or any(str(method.name) == NAME for method in tree.methods):
        return
    codes = jpype.JClass("org.objectweb.asm.Opcodes")
    method = tree.visitMethod(codes.ACC_PUBLIC | codes.ACC_STATIC, NAME, KIND, None, None)
    method.visitVarInsn(codes.ALOAD, 0)
    method.visitMethodInsn(codes.INVOKESTATIC, "broker_tck/Safely", NAME, KIND, False)
    method.visitInsn(codes.ARETURN)
    method.visitMaxs(1, 1)
    writer = jpype.JClass("org.objectweb.asm.ClassWriter")(0)
    tree.accept(writer)
    loader.define(bytes(writer.toByteArray()))
