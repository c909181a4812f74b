"""Run the steps of an example in a whole broker of a released Apache Pulsar.

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
from typing import BinaryIO

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
VERDICTS = {10: 0, 11: 1}
"""Our exit status for that of WholeBroker.java; all others say that the run did not come to its end."""


class Missing(Exception):
    """Something that an example needs is not there; the message says what to do."""


@dataclass(frozen=True)
class Example:
    """Steps in Java, which take one number, and what the command line says of them."""

    about: str
    folder: Path
    main: str
    """The class with the steps, which has a file of its own in the folder."""
    option: str
    metavar: str
    default: int
    help: str
    release: str = "4.2.4"
    options: tuple[str, ...] = ()
    """More options of Java."""

    def run(self) -> int:
        """Run the example and answer with its exit status."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed, and Java ended
        asked = self.parser().parse_args()
        name = self.folder.name
        try:
            with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder, asked.log.open("wb") as log:
                status = self.told(asked, folder, log)
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

    def told(self, asked: argparse.Namespace, folder: str, log: BinaryIO) -> int:
        """Compile the steps against the release and run them; the exit status is the compiler's if it fails."""
        java = command_of_java()
        jars = classpath(asked.version, Path(folder, "classpath"), asked.limit)
        see_that_java_is_new_enough(java, asked.version, jars)
        sources = (*HERE.glob("*.java"), self.folder / f"{self.main}.java")
        classes = first(asked.classpath) + os.pathsep.join((jars, folder))
        compiles = (java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-d", folder, "-cp", classes)
        options = (*SHORT_LIFE, *self.options)
        runs = (java, *options, "-Djava.net.preferIPv4Stack=true", "-cp", classes, self.main, folder)

        def status(*words: str | Path) -> int:
            return subprocess.run(words, stderr=log, timeout=asked.limit, check=False).returncode

        return status(*compiles, *sources) or status(*runs, str(asked.number))

    def parser(self) -> argparse.ArgumentParser:
        """The command line."""
        plain = argparse.RawDescriptionHelpFormatter
        parser = argparse.ArgumentParser(description=self.about, formatter_class=plain)
        add = parser.add_argument
        default = "(default: %(default)s)"
        add("version", nargs="?", type=release, default=self.release, help=f"a release of Apache Pulsar {default}")
        shown = f"{self.help} {default}"
        add(self.option, dest="number", type=positive, default=self.default, metavar=self.metavar, help=shown)
        add("--limit", type=positive, default=300, metavar="S", help="seconds for Maven, and Java (default: 300)")
        add("--classpath", type=Path, metavar="PATH", help="a folder of classes, or a jar, of your own; comes first")
        add("--log", type=Path, default=Path(os.devnull), metavar="FILE", help="keep what the servers log")
        return parser


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
