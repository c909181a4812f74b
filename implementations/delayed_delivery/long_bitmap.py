"""A stand-in for the bitmap of Pulsar 5.0, whose pulsar-common is in no repository: a sorted set of entry ids.

It refuses what the bitmap refuses, ids outside of 0 to 2^32 - 1; its size in bytes means nothing. Written out it is a
roaring bitmap.
"""

from __future__ import annotations

from broker_tck.implementations.jvm.assembler import Class, Interface

PACKAGE = "org/apache/pulsar/common/util/collections/"
BITMAP = PACKAGE + "LongBitmap"
FACTORY = PACKAGE + "LongBitmaps"
STAND_IN = "broker_tck/SortedLongs"
TREE = "java/util/TreeSet"
CONSUMER = "java/util/function/LongConsumer"
ROARING = "org/roaringbitmap/RoaringBitmap"
NUMBERS = "org/roaringbitmap/IntIterator"
BYTES = "java/nio/ByteBuffer"
NETTY = "io/netty/buffer/ByteBuf"
ITERATOR = "java/util/Iterator"
BOXED = ["aload 0", "lload 1", "invokestatic java/lang/Long valueOf (J)Ljava/lang/Long;"]
EACH = [
    f"invokevirtual {TREE} iterator ()L{ITERATOR};",
    "astore 2",
    "next:",
    "aload 2",
    f"invokeinterface {ITERATOR} hasNext ()Z",
    "ifeq done",
    "aload 1",
    "aload 2",
    f"invokeinterface {ITERATOR} next ()Ljava/lang/Object;",
    "checkcast java/lang/Long",
    "invokevirtual java/lang/Long longValue ()J",
]
"""How a loop over all ids begins: what takes an id is on the stack, and the id."""

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
    "add(J)V": ["aload 0", "lload 1", f"invokevirtual {STAND_IN} checkedAdd (J)Z", "pop", "return"],
    "contains(J)Z": [*BOXED, f"invokevirtual {TREE} contains (Ljava/lang/Object;)Z", "ireturn"],
    "remove(J)Z": [*BOXED, f"invokevirtual {TREE} remove (Ljava/lang/Object;)Z", "ireturn"],
    "isEmpty()Z": ["aload 0", f"invokespecial {TREE} isEmpty ()Z", "ireturn"],
    f"or(L{BITMAP};)V": [
        "aload 0",
        "aload 1",
        "checkcast java/util/Collection",
        f"invokevirtual {TREE} addAll (Ljava/util/Collection;)Z",
        "pop",
        "return",
    ],
    f"forEachLong(L{CONSUMER};)V": [
        "aload 0",
        *EACH,
        f"invokeinterface {CONSUMER} accept (J)V",
        "goto next",
        "done:",
        "return",
    ],
    "serialize()[B": [
        f"new {ROARING}",
        "dup",
        f"invokespecial {ROARING} <init> ()V",
        "astore 1",
        "aload 0",
        *EACH,
        "l2i",
        f"invokevirtual {ROARING} add (I)V",
        "goto next",
        "done:",
        "aload 1",
        f"invokevirtual {ROARING} serializedSizeInBytes ()I",
        f"invokestatic {BYTES} allocate (I)L{BYTES};",
        "astore 2",
        "aload 1",
        "aload 2",
        f"invokevirtual {ROARING} serialize (L{BYTES};)V",
        "aload 2",
        f"invokevirtual {BYTES} array ()[B",
        "areturn",
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
                ],
                f"deserialize(L{NETTY};)L{BITMAP};": [
                    f"new {ROARING}",
                    "dup",
                    f"invokespecial {ROARING} <init> ()V",
                    "astore 1",
                    "aload 1",
                    "aload 0",
                    f"invokevirtual {NETTY} nioBuffer ()L{BYTES};",
                    f"invokevirtual {ROARING} deserialize (L{BYTES};)V",
                    f"new {STAND_IN}",
                    "dup",
                    f"invokespecial {STAND_IN} <init> ()V",
                    "astore 2",
                    "aload 1",
                    f"invokevirtual {ROARING} getIntIterator ()Lorg/roaringbitmap/PeekableIntIterator;",
                    "astore 3",
                    "next:",
                    "aload 3",
                    f"invokeinterface {NUMBERS} hasNext ()Z",
                    "ifeq done",
                    "aload 2",
                    "aload 3",
                    f"invokeinterface {NUMBERS} next ()I",
                    "invokestatic java/lang/Integer toUnsignedLong (I)J",
                    f"invokevirtual {STAND_IN} add (J)V",
                    "goto next",
                    "done:",
                    "aload 2",
                    "areturn",
                ],
            },
        ),
    )
