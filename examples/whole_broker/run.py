"""Run an example in a whole broker of a released Apache Pulsar.

The broker, one bookie and ZooKeeper run in one Java process, on 127.0.0.1 and free ports. Maven fetches the jars of
the release, once.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

HERE = Path(__file__).parent
SHORT_LIFE = ("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options of Java that halve the time of a run as short as this."""
DEBUGGER = (
    "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0",
    "-Djdk.attach.allowAttachSelf=true",
)
"""Options of Java with which Pauses.java can pause threads."""
TELLS = 60
"""Seconds that Java has to say what it is."""
STATUSES = """exit status:
  0  {example.harmless}
  1  {example.harmful}
  2  something is missing; one line says what
  3  no verdict"""
VERDICTS = {10: 0, 11: 1}
"""Our exit status for that of WholeBroker.java; all others say that the run did not come to its end."""


class Missing(Exception):
    """Something that an example needs is not there; the message says what to do."""


class Number(NamedTuple):
    """The one number that a program takes, as an option of the command line."""

    option: str
    metavar: str
    default: int
    help: str


@dataclass(frozen=True)
class Example:
    """What an example has of its own, besides the folder of its name."""

    question: str
    harmless: str
    """What exit status 0 means."""
    harmful: str
    """What exit status 1 means."""
    program: str
    """The class with the steps, which has a file in the folder of the example."""
    number: Number
    release: str = "4.2.4"
    pauses: bool = False
    """Whether the program pauses threads."""


EXAMPLES = {
    "r-01": Example(
        "Delete a subscription: does a slow one lose messages?",
        "no message was lost",
        "messages were lost",
        "SlowSubscription",
        Number("--entries", "N", 1, "entries to a ledger"),
    ),
    "set-clock": Example(
        "Set a clock back: is a delayed message late?",
        "the message came in time",
        "it was late",
        "SetClock",
        Number("--wait", "S", 60, "seconds to wait for a message"),
    ),
    "closed-consumer": Example(
        "Close consumers while threads acknowledge: are timers left?",
        "no timer is left",
        "timers are left",
        "ClosedConsumer",
        Number("--closes", "N", 40, "consumers that each client closes"),
    ),
    "lost-wakeup": Example(
        "Pause a thread that has armed a timer: do delayed messages wait that are due?",
        "all messages came in time",
        "messages wait",
        "LostWakeup",
        Number("--wait", "S", 15, "seconds to wait for messages that are due"),
        pauses=True,
    ),
    "closed-tracker": Example(
        "Unload topics while delayed messages become due: is a subscription stuck?",
        "no subscription is stuck",
        "one is stuck",
        "ClosedTracker",
        Number("--wait", "S", 20, "seconds to wait for an answer"),
        release="4.0.0",
        pauses=True,
    ),
    "leaked-entry": Example(
        "Pause the eviction of an entry: is the buffer of a cached entry released?",
        "all buffers are released",
        "one is left",
        "LeakedEntry",
        Number("--bytes", "N", 100_000, "bytes of the message, more than 32,768"),
        release="4.0.0",
        pauses=True,
    ),
    "overwritten-queue": Example(
        "Unload a topic while a bookie is slow: does another topic go on?",
        "the other topic delivered all messages",
        "it delivers nothing",
        "OverwrittenQueue",
        Number("--wait", "S", 15, "seconds to wait for messages that are due"),
        pauses=True,
    ),
    "unanswered-read": Example(
        "Pause the end of a read: is a subscription answered that joins this read?",
        "all reads were answered",
        "one was not",
        "UnansweredRead",
        Number("--wait", "S", 10, "seconds to wait for messages"),
        release="4.0.0",
        pauses=True,
    ),
}


def main() -> int:
    """Run the example that the command line names and answer with its exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed, and Java ended
    asked = parser().parse_args()
    name = asked.example
    try:
        with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder, asked.log.open("wb") as log:
            status = told(asked, folder, log)
    except (Missing, OSError) as missing:
        print(f"{name}: {missing}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except subprocess.TimeoutExpired as expired:
        print(f"{name}: {Path(expired.cmd[0]).name} took more than {asked.limit} s (--limit)", file=sys.stderr)
        return 3
    if status not in VERDICTS:
        print(f"{name}: no verdict; --log FILE keeps what the servers log", file=sys.stderr)
    return VERDICTS.get(status, 3)


def told(asked: argparse.Namespace, folder: str, log: BinaryIO) -> int:
    """Compile the steps against the release and run them; the exit status is the compiler's if it fails."""
    example = EXAMPLES[asked.example]
    java = command_of_java()
    jars = classpath(asked.version, Path(folder, "classpath"), asked.limit)
    see_that_java_is_new_enough(java, asked.version, jars)
    sources = (*HERE.glob("*.java"), HERE.parent / asked.example / f"{example.program}.java")
    classes = first(asked.classpath) + os.pathsep.join((jars, folder))
    compiles = (java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-d", folder, "-cp", classes)
    options = (*SHORT_LIFE, *DEBUGGER * example.pauses, "-Djava.net.preferIPv4Stack=true")
    runs = (java, *options, "-cp", classes, example.program, folder, str(asked.number))

    def status(*words: str | Path) -> int:
        return subprocess.run(words, stderr=log, timeout=asked.limit, check=False).returncode

    return status(*compiles, *sources) or status(*runs)


def parser() -> argparse.ArgumentParser:
    """The command line: an example, and then what it may be told."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    examples = parser.add_subparsers(dest="example", metavar="EXAMPLE", required=True)
    for name, example in EXAMPLES.items():
        about = f"{example.question}\n\n{STATUSES.format(example=example)}"
        add_options(examples.add_parser(name, help=example.question, description=about, formatter_class=plain), example)
    return parser


def add_options(parser: argparse.ArgumentParser, example: Example) -> None:
    """Add what every example may be told, and its own number."""
    add = parser.add_argument
    default = "(default: %(default)s)"
    add("version", nargs="?", type=release, default=example.release, help=f"a release of Apache Pulsar {default}")
    option, metavar, number, shown = example.number
    add(option, dest="number", type=positive, default=number, metavar=metavar, help=f"{shown} {default}")
    add("--limit", type=positive, default=300, metavar="S", help="seconds for Maven, and Java (default: 300)")
    add("--classpath", type=Path, metavar="PATH", help="a folder of classes, or a jar, of your own; comes first")
    add("--log", type=Path, default=Path(os.devnull), metavar="FILE", help="keep what the servers log")


def release(text: str) -> str:
    """A version that Maven knows, such as 4.2.4."""
    if not re.fullmatch(r"\d+\.\d+\.\d+[\w.-]*", text):
        raise argparse.ArgumentTypeError(f"{text} is not a version such as 4.2.4")
    return text


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def command_of_java() -> str:
    """The command that starts Java: the one below JAVA_HOME, else the one on the path. It has to have a compiler."""
    home = os.environ.get("JAVA_HOME")
    where = str(Path(home, "bin")) if home else None
    java = shutil.which("java", path=where)
    if not java:
        raise Missing(f"there is no java {f'in {where}' if where else 'on the path'}: install a JDK, or set JAVA_HOME")
    if "jdk.compiler" not in told_by(java, "--list-modules").stdout:
        raise Missing(f"{java} has no compiler: install a JDK of 17 or later, not only a JRE, or set JAVA_HOME")
    return java


def told_by(java: str, option: str) -> subprocess.CompletedProcess[str]:
    """What Java says of itself."""
    try:
        return subprocess.run([java, option], capture_output=True, text=True, timeout=TELLS, check=False)
    except subprocess.TimeoutExpired:
        raise Missing(f"`{java} {option}` did not answer in {TELLS} s: set JAVA_HOME to a Java that does") from None


def classpath(version: str, file: Path, limit: int) -> str:
    """The jars of a release, as Maven finds or fetches them."""
    maven = shutil.which("mvn")
    if not maven:
        raise Missing("there is no mvn on the path: install Maven")
    platform = "pulsar" if int(version.partition(".")[0]) < 5 else "pulsar-dependencies"
    chosen = (f"-Dpulsar.version={version}", f"-Dpulsar.platform={platform}")
    goal = ("dependency:build-classpath", "-Dmdep.includeScope=runtime", f"-Dmdep.outputFile={file}")
    words = (maven, "--batch-mode", "--quiet", "--file", HERE / "pom.xml", *chosen, *goal)
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode:
        raise Missing(f"Maven cannot get the jars of Pulsar {version}: {missing_from(done.stdout)}")
    return file.read_text(encoding="utf-8")


def first(own: Path | None) -> str:
    """What comes before the jars of the release on the class path."""
    if own is None:
        return ""
    if not own.exists():
        raise Missing(f"{own} of --classpath is not there")
    print(f"Before the jars of the release: {own}", flush=True)
    return f"{own.absolute()}{os.pathsep}"


def missing_from(told: str) -> str:
    """What Maven complains of first: the last artifact of the first line that names one."""
    artifact = r"[\w.-]+:[\w.-]+:(?:jar|pom)(?::[\w.-]+)*:\d[\w.-]*"
    named = next(filter(None, (re.findall(artifact, line) for line in told.splitlines())), None)
    if named:
        return f"{named[-1]} cannot be had; is there such a release, and a network?"
    return next((line for line in told.splitlines() if "ERROR" in line), "it does not say why")


def see_that_java_is_new_enough(java: str, version: str, jars: str) -> None:
    """Compare the version of Java with that of the broker's class files."""
    name = f"pulsar-broker-{version}.jar"
    broker = next((jar for jar in jars.split(os.pathsep) if Path(jar).name == name), None)
    if broker is None:
        raise Missing(f"Maven names no {name} among the jars of Pulsar {version}")
    with zipfile.ZipFile(broker) as file:
        needed = file.read("org/apache/pulsar/broker/PulsarService.class")[7] - 44
    found = re.search(r'version "(\d+)', told_by(java, "-version").stderr)
    if not found or int(found[1]) < needed:
        raise Missing(f"Pulsar {version} needs Java {needed} or later, which {java} is not: set JAVA_HOME")


if __name__ == "__main__":
    sys.exit(main())
