"""What is asked of a Java tracker in one call from inside its package: calls from Python are dear."""

from __future__ import annotations

from broker_tck.implementations.jvm.assembler import Class

PACKAGE = "org/apache/pulsar/broker/delayed/bucket/"
TRACKER = PACKAGE + "BucketDelayedDeliveryTracker"
MUTABLE = PACKAGE + "MutableBucket"
IMMUTABLE = PACKAGE + "ImmutableBucket"
RANGE, RANGES = "com/google/common/collect/Range", "com/google/common/collect/RangeMap"
TEXT = "java/lang/StringBuilder"
BLANK = ["bipush 32", f"invokevirtual {TEXT} append (C)L{TEXT};"]

SIZE = ["aload 0", f"invokevirtual {MUTABLE} size ()J", "lreturn"]


def endpoint(which: str) -> list[str]:
    """Write a range's first or last ledger, and a blank."""
    return [
        "aload 3",
        "invokeinterface java/util/Map$Entry getKey ()Ljava/lang/Object;",
        f"checkcast {RANGE}",
        f"invokevirtual {RANGE} {which} ()Ljava/lang/Comparable;",
        f"invokevirtual {TEXT} append (Ljava/lang/Object;)L{TEXT};",
        *BLANK,
    ]


def segment(getter: str) -> list[str]:
    """Write the number of a bucket's segment, and a blank."""
    return [
        "aload 3",
        "invokeinterface java/util/Map$Entry getValue ()Ljava/lang/Object;",
        f"checkcast {IMMUTABLE}",
        f"invokevirtual {IMMUTABLE} {getter} ()I",
        f"invokevirtual {TEXT} append (I)L{TEXT};",
        *BLANK,
    ]


PLACED = [
    *(f"new {TEXT}", "dup", f"invokespecial {TEXT} <init> ()V", "astore 1"),
    *("aload 0", f"invokevirtual {TRACKER} getImmutableBuckets ()L{RANGES};"),
    f"invokeinterface {RANGES} asMapOfRanges ()Ljava/util/Map;",
    "invokeinterface java/util/Map entrySet ()Ljava/util/Set;",
    *("invokeinterface java/util/Set iterator ()Ljava/util/Iterator;", "astore 2"),
    "next:",
    *("aload 2", "invokeinterface java/util/Iterator hasNext ()Z", "ifeq end"),
    *("aload 2", "invokeinterface java/util/Iterator next ()Ljava/lang/Object;"),
    *("checkcast java/util/Map$Entry", "astore 3", "aload 1"),
    *endpoint("lowerEndpoint"),
    *endpoint("upperEndpoint"),
    *segment("getCurrentSegmentEntryId"),
    *segment("getLastSegmentEntryId"),
    *("pop", "goto next"),
    "end:",
    *("aload 1", f"invokevirtual {TEXT} toString ()Ljava/lang/String;", "areturn"),
]

INSIDE = Class(
    PACKAGE + "Inside",
    statics={f"size(L{MUTABLE};)J": SIZE, f"placed(L{TRACKER};)Ljava/lang/String;": PLACED},
)
"""``placed`` answers with first and last ledger, current and last segment of each placed bucket, blanks in between."""
