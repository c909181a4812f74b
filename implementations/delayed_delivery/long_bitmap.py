"""A stand-in for the bitmap of Pulsar 5.0, whose pulsar-common is in no repository: a sorted set of entry ids.

It refuses what the bitmap refuses, ids outside of 0 to 2^32 - 1; its size in bytes means nothing.
"""

from __future__ import annotations

from broker_tck.implementations.jvm.assembler import Class, Interface

PACKAGE = "org/apache/pulsar/common/util/collections/"
BITMAP = PACKAGE + "LongBitmap"
FACTORY = PACKAGE + "LongBitmaps"
STAND_IN = "broker_tck/SortedLongs"
TREE = "java/util/TreeSet"
CONSUMER = "java/util/function/LongConsumer"

METHODS = {
    "checkedAdd(J)Z": [
        "lload 1",
        "bipush 32",
        "lushr",
        "lconst_0",
        "lcmp",
        "ifeq fits",
        "new java/lang/IllegalArgumentException",
        "dup",
        "invokespecial java/lang/IllegalArgumentException <init> ()V",
        "athrow",
        "fits:",
        "aload 0",
        "lload 1",
        "invokestatic java/lang/Long valueOf (J)Ljava/lang/Long;",
        f"invokevirtual {TREE} add (Ljava/lang/Object;)Z",
        "ireturn",
    ],
    "cardinality()J": ["aload 0", f"invokevirtual {TREE} size ()I", "i2l", "lreturn"],
    "serializedSize()J": ["aload 0", f"invokevirtual {TREE} size ()I", "i2l", "lreturn"],
    f"drainTo(JL{CONSUMER};)J": [
        "lconst_0",
        "lstore 4",
        "next:",
        "lload 4",
        "lload 1",
        "lcmp",
        "ifge done",
        "aload 0",
        f"invokevirtual {TREE} isEmpty ()Z",
        "ifne done",
        "aload 3",
        "aload 0",
        f"invokevirtual {TREE} pollFirst ()Ljava/lang/Object;",
        "checkcast java/lang/Long",
        "invokevirtual java/lang/Long longValue ()J",
        f"invokeinterface {CONSUMER} accept (J)V",
        "lload 4",
        "lconst_1",
        "ladd",
        "lstore 4",
        "goto next",
        "done:",
        "lload 4",
        "lreturn",
    ],
}


def long_bitmap() -> tuple[Class | Interface, ...]:
    """The bitmap's interface, what stands in for it, and its factory."""
    return (
        Interface(BITMAP, tuple(METHODS)),
        Class(STAND_IN, extends=TREE, implements=(BITMAP,), methods=METHODS),
        Class(
            FACTORY,
            statics={
                f"create()L{BITMAP};": [
                    f"new {STAND_IN}",
                    "dup",
                    f"invokespecial {STAND_IN} <init> ()V",
                    "areturn",
                ]
            },
        ),
    )
