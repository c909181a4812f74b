"""What the kit holds of a class: the time that it reads, loops of every shape; and Netty's timer in the kit's hands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_tck.implementations.interface import Hang
from broker_tck.implementations.jvm.errors import guarded
from broker_tck.implementations.jvm.held import hold
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.netty import netty_timer
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.subject import Kind, loader_of
from broker_tck.implementations.released import KINDS
from broker_tck.properties.engine.timer import ManualTimer, Timeout

RELEASE = Release("4.2.4")
WALL = 1_700_000_000_123


@pytest.fixture
def loader(odd: Path) -> Loader:
    """With classes of the tests' own."""
    return loader_of(RELEASE.java, (odd, *RELEASE.paths(OWN)))


# ---- Time


def test_every_way_to_ask_for_the_time_is_held(loader: Loader) -> None:
    loader.hold(["odd.Times"])
    times = loader.named("odd.Times")
    for wall in (WALL, WALL + 1):
        loader.ready(wall)
        assert [int(each.toEpochMilli()) for each in times.all()] == [wall] * 9


def test_default_zone_is_the_same_everywhere(loader: Loader) -> None:
    loader.hold(["odd.Times"])
    assert [str(zone) for zone in loader.named("odd.Times").zones()] == ["Z", "Z", "+05:00", "+01:00"]


@pytest.mark.parametrize("way", range(3))
def test_what_refers_to_the_end_of_the_process_throws(loader: Loader, way: int) -> None:
    loader.hold(["odd.Ends"])
    with pytest.raises(SystemExit):
        guarded(loader.named("odd.Ends").end)(way)


# ---- Loops


@pytest.mark.parametrize("kind", ["JumpInsnNode", "TableSwitchInsnNode", "LookupSwitchInsnNode"])
@pytest.mark.parametrize("default", [True, False])
def test_loop_of_every_shape_ends(loader: Loader, kind: str, default: bool) -> None:
    """No compiler of Java's makes a switch that jumps back, but other tools do."""
    jpype, name = loader.jpype, f"odd/{kind}{default}"
    nodes, codes = jpype.JPackage("org").objectweb.asm.tree, jpype.JClass("org.objectweb.asm.Opcodes")
    tree, method = nodes.ClassNode(), nodes.MethodNode(codes.ACC_PUBLIC | codes.ACC_STATIC, "spin", "()V", None, None)
    tree.version, tree.access, tree.name, tree.superName = 50, codes.ACC_PUBLIC, name, "java/lang/Object"
    again, out = nodes.LabelNode(), nodes.LabelNode()
    first, other = (again, out) if default else (out, again)
    labels = jpype.JArray(nodes.LabelNode)([other])
    jumps = {
        "JumpInsnNode": lambda: nodes.JumpInsnNode(codes.IFEQ, again),
        "TableSwitchInsnNode": lambda: nodes.TableSwitchInsnNode(
            1 if default else 0, 1 if default else 0, first, labels
        ),
        "LookupSwitchInsnNode": lambda: nodes.LookupSwitchInsnNode(
            first, jpype.JArray(jpype.JInt)([1 if default else 0]), labels
        ),
    }
    for node in (again, nodes.InsnNode(codes.ICONST_0), jumps[kind](), out, nodes.InsnNode(codes.RETURN)):
        method.instructions.add(node)
    method.maxStack = 1
    tree.methods.add(method)
    loader.define(hold(tree, jpype))
    loader.refuel()
    with pytest.raises(Hang):
        guarded(loader.named(name).spin)()


# ---- Netty's timer


def timeout_of(loader: Loader, timer: ManualTimer, task: Any) -> Any:
    """A timeout of Netty's, armed for a second."""

    def arm(delay: int, fire: Any) -> Timeout:
        return timer.new_timeout(timer.now + delay, lambda _: fire())

    units = loader.jpype.JClass("java.util.concurrent.TimeUnit")
    return netty_timer(loader, arm).newTimeout(task, 1, units.SECONDS)


def asked(loader: Loader, timeout: Any, method: str) -> bool:
    """What a timeout answers, called as Java calls it."""
    return bool(loader.named("io.netty.util.Timeout").class_.getMethod(method).invoke(timeout))


def state(loader: Loader, timeout: Any) -> tuple[bool, bool]:
    """Whether a timeout expired, and whether it was cancelled."""
    return asked(loader, timeout, "isExpired"), asked(loader, timeout, "isCancelled")


def test_timeout_that_fired_is_expired_and_not_to_be_cancelled(loader: Loader) -> None:
    timer, task = ManualTimer(0), loader.named("odd.Task")()
    timeout = timeout_of(loader, timer, task)
    assert state(loader, timeout) == (False, False)
    due = timer.due(10**9)
    assert due
    due.fired(due)
    assert [bool(each) for each in task.seen] == [True, False, False]
    assert not asked(loader, timeout, "cancel")
    assert state(loader, timeout) == (True, False)


def test_timeout_that_was_cancelled_does_not_expire(loader: Loader) -> None:
    timer, task = ManualTimer(0), loader.named("odd.Task")()
    timeout = timeout_of(loader, timer, task)
    (armed,) = timer.live
    assert asked(loader, timeout, "cancel")
    assert (state(loader, timeout), timer.live) == ((False, True), [])
    assert not asked(loader, timeout, "cancel")
    armed.fired(armed)
    assert [bool(each) for each in task.seen] == [False, True, False]
    assert state(loader, timeout) == (False, True)


# ---- Jars


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_first_jar_of_a_kind_has_its_class(kind: Kind) -> None:
    first = next(RELEASE.paths(kind.jars))
    assert kind.java in {name.rpartition(".")[2] for name in classes_in(first, ("",))}
