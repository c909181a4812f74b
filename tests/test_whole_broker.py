"""The examples that take a finding to a whole broker, run without one: what they ask for, and what they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from runpy import run_path

import pytest
from kit import PATIENCE

REPO = Path(__file__).parents[1]
RUN = REPO / "examples" / "whole_broker" / "run.py"
SCRIPT = run_path(str(RUN))
"""What `run.py` defines; it is in no package."""
NAMES = [*SCRIPT["EXAMPLES"]]
JAVA = """#!/bin/sh
case $1 in
--list-modules) echo jdk.compiler ;;
-version) echo 'openjdk version "17.0.15"' >&2 ;;
-m) exit ${COMPILED:-0} ;;
*) echo told; exit ${STATUS:-0} ;;
esac
"""
MAVEN = '#!/bin/sh\nfor word; do case $word in -Dmdep.outputFile=*) printf %s "$JARS" > "${word#*=}" ;; esac; done\n'


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def ran(folder: Path, *words: str, name: str = "r-01", **more: str) -> subprocess.CompletedProcess[str]:
    """An example, where commands are those of the folder's `bin`, and temporary files lie in its `tmp`."""
    (folder / "tmp").mkdir(exist_ok=True)
    places = {"PATH": "bin", "TMPDIR": "tmp", "JARS": "pulsar-broker-4.2.4.jar"}
    environment = {name: str(folder / where) for name, where in places.items()} | more
    command = (sys.executable, str(RUN), name, *words)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert not [*(folder / "tmp").iterdir()], "the folder for the data is left behind"
    return done


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a java and an mvn that do nothing but answer, and the jar of a broker for Java 17."""
    script(tmp_path / "bin" / "java", JAVA)
    script(tmp_path / "bin" / "mvn", MAVEN)
    jar_for(17, tmp_path)
    return tmp_path


def jar_for(java: int, folder: Path) -> None:
    with zipfile.ZipFile(folder / "pulsar-broker-4.2.4.jar", "w") as jar:
        jar.writestr(
            "org/apache/pulsar/broker/PulsarService.class", bytes.fromhex("cafebabe000000") + bytes([java + 44])
        )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("r-01", "0  no message was lost\n  1  messages were lost\n"),
        ("set-clock", "0  the message came in time\n  1  it was late\n"),
        ("closed-consumer", "0  no timer is left\n  1  timers are left\n"),
        ("lost-wakeup", "0  all messages came in time\n  1  messages wait\n"),
        ("closed-tracker", "0  no subscription is stuck\n  1  one is stuck\n"),
        ("leaked-entry", "0  all buffers are released\n  1  one is left\n"),
        ("overwritten-queue", "0  the other topic delivered all messages\n  1  it delivers nothing\n"),
        ("unanswered-read", "0  all reads were answered\n  1  one was not\n"),
    ],
)
def test_help_says_what_the_exit_status_means(tmp_path: Path, name: str, says: str) -> None:
    done = ran(tmp_path, "--help", name=name)
    assert done.returncode == 0
    assert f"exit status:\n  {says}" in done.stdout


@pytest.mark.parametrize("words", [("four",), ("4.2",), ("4.2.4", "--entries", "0"), ("--limit", "soon")])
def test_bad_input(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = ran(tmp_path, *words)
    assert done.returncode == 2
    assert re.search(r"^run\.py r-01: error: argument ", done.stderr, flags=re.MULTILINE)


@pytest.mark.parametrize(("status", "ours"), [("10", 0), ("11", 1), ("12", 3), ("1", 3)])
def test_the_verdict_is_the_exit_status(tools: Path, status: str, ours: int) -> None:
    done = ran(tools, "--entries", "5", STATUS=status)
    assert (done.returncode, done.stdout) == (ours, "told\n")
    assert done.stderr == ("r-01: no verdict; --log FILE keeps what the servers log\n" if ours == 3 else "")


def test_steps_that_do_not_compile_give_no_verdict(tools: Path) -> None:
    done = ran(tools, name="set-clock", COMPILED="1", STATUS="10")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "set-clock: no verdict; --log FILE keeps what the servers log\n"


@pytest.mark.parametrize(
    ("name", "words", "seen"),
    [
        ("r-01", (), "SlowSubscription 1"),
        ("r-01", ("--entries", "5"), "SlowSubscription 5"),
        ("set-clock", (), "SetClock 60"),
        ("closed-consumer", (), "ClosedConsumer 40"),
    ],
)
def test_steps_take_one_number(tools: Path, name: str, words: tuple[str, ...], seen: str) -> None:
    script(tools / "bin" / "java", JAVA.replace("echo told", "echo $7 $9"))
    assert ran(tools, *words, name=name, STATUS="10").stdout == f"{seen}\n"


def test_an_example_that_pauses_threads_runs_with_a_debugger(tools: Path) -> None:
    script(tools / "bin" / "java", JAVA.replace("echo told", "echo $4 $5"))
    done = ran(tools, name="lost-wakeup", STATUS="10")
    assert done.stdout.startswith("-agentlib:jdwp=")
    assert done.stdout.endswith(" -Djdk.attach.allowAttachSelf=true\n")
    assert "jdwp" not in ran(tools, STATUS="10").stdout


def test_an_example_has_a_release_of_its_own(tools: Path) -> None:
    done = ran(tools, name="closed-tracker")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pulsar-broker-4.0.0.jar" in done.stderr


def one_line(done: subprocess.CompletedProcess[str], says: str) -> None:
    """What is missing is said in one line that says what to do."""
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"r-01: {says}\n", done.stderr)


def test_own_classes_that_are_not_there(tools: Path) -> None:
    one_line(ran(tools, "--classpath", "/none"), "/none of --classpath is not there")


def test_own_classes_come_first(tools: Path) -> None:
    script(tools / "bin" / "java", JAVA.replace("echo told", "echo $6"))
    (tools / "own").mkdir()
    done = ran(tools, "--classpath", str(tools / "own"), STATUS="10")
    release = tools / "pulsar-broker-4.2.4.jar"
    before, classes = done.stdout.splitlines()
    assert before == f"Before the jars of the release: {tools / 'own'}"
    assert classes.startswith(f"{tools / 'own'}:{release}:")


def test_no_java(tmp_path: Path) -> None:
    one_line(ran(tmp_path), r"there is no java on the path: install a JDK, or set JAVA_HOME")


def test_java_without_a_compiler(tools: Path) -> None:
    script(tools / "bin" / "java", "#!/bin/sh\necho java.base\n")
    one_line(ran(tools), r"\S+java has no compiler: install a JDK of 17 or later, .*")


def test_java_that_is_too_old(tools: Path) -> None:
    jar_for(21, tools)
    one_line(ran(tools), r"Pulsar 4\.2\.4 needs Java 21 or later, which \S+java is not: set JAVA_HOME")


def test_no_maven(tools: Path) -> None:
    (tools / "bin" / "mvn").unlink()
    one_line(ran(tools), r"there is no mvn on the path: install Maven")


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ("[ERROR] POMs:\n[ERROR] bad: a.b:c:pom:9.9.9 was not found in x\n", r"a\.b:c:pom:9\.9\.9 cannot be had; .*"),
        ("[ERROR] of a:b:jar:1 -> a:c:jar:linux:2: Could not find a:c:jar:linux:2 in x\n", "a:c:jar:linux:2 cannot .*"),
        ("[ERROR] no space left\n", r"\[ERROR\] no space left"),
        ("", "it does not say why"),
    ],
)
def test_jars_that_cannot_be_had(tools: Path, told: str, says: str) -> None:
    script(tools / "bin" / "mvn", f"#!/bin/sh\nprintf '{told}'\nexit 1\n")
    one_line(ran(tools, "9.9.9"), rf"Maven cannot get the jars of Pulsar 9\.9\.9: {says}")


# ---- The pages


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("page", ["docs/{}.md", "examples/{}/README.md"])
def test_command_lines_of_the_pages_parse(page: str, name: str) -> None:
    command = re.escape(f"python examples/whole_broker/run.py {name}")
    lines = re.findall(rf"{command}[^`\n|]*", (REPO / page.format(name)).read_text(encoding="utf-8"))
    assert lines
    for line in lines:
        assert SCRIPT["parser"]().parse_args(shlex.split(line, comments=True)[2:])


def test_all_examples_are_on_the_page_of_whole_brokers() -> None:
    assert [*SCRIPT["EXAMPLES"]] == NAMES
    page = (RUN.parent / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, flags=re.MULTILINE) == NAMES
    for name, example in SCRIPT["EXAMPLES"].items():
        assert (REPO / "examples" / name / f"{example.program}.java").is_file()
