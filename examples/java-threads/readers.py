"""A class of one's own in Java, declared for ``broker-tck threads``."""

from pathlib import Path

from broker_tck.implementations.jvm.box import JavaBox

slowest_reader = JavaBox(
    contract="active-cursors",
    capabilities={"ranks": False, "grace": False, "versions": False, "durables": False, "null_updates": False},
    box="com.example.SlowestReaderBox",
    woven=("com.example.SlowestReader",),
    classpath=(Path(__file__).parent / "classes",),
)
