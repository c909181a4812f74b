"""The Java clients that are released: each replaces the clauses of the specification in which it differs.

Without a backoff and of one topic, they differ from it only in that they take what is added after a close.
"""

from __future__ import annotations

from broker_tck.model.ack_timeout.specification import AckTimeout, Backoff, Emission, Id


def taken_after_close(_: AckTimeout) -> bool:
    """What is added after a close is tracked."""
    return False


def on_the_wheel(model: AckTimeout, message: Id) -> bool:
    """Only the wheel is looked at: a message that waits for its backoff is tracked once more."""
    return message in model.wheel.held


def last_chunk_twice(model: AckTimeout, message: Id) -> list[Id]:
    """With a backoff the last chunk comes back twice, as its id is not that of the message; then chunks are forgotten.

    A message that is tracked twice has only its last chunk come back the second time. So has one of many topics always:
    its chunks are noted under an id without a topic.
    """
    if model.config.topics:
        return [message]
    parts = AckTimeout.parts(model, message)
    model.chunks[message] = 1
    return [*parts, message] if model.backoff.table and len(parts) > 1 else parts


def first_stage(model: AckTimeout, message: Id) -> list[dict[Id, int]]:
    """A remove leaves a message that is in both stages in the second."""
    return AckTimeout.stages_of(model, message)[:1]


def calls_then_arms(model: AckTimeout) -> list[Emission]:
    """With a backoff the timer is armed after the calls, even if one of them has closed the tracker."""
    if not model.backoff.table:
        return AckTimeout.fire(model)
    emissions = model.emit(model.taken())
    model.timer.arm(model.now + model.wheel.tick)
    return emissions


def fires_all_the_same(model: AckTimeout) -> list[Emission]:
    """With a backoff a timeout that was cancelled fires nevertheless, and arms the timer again."""
    return model.fire() if model.timer.cancelled and model.backoff.table else []


def begins_with(_: AckTimeout, topic: str, name: str) -> bool:
    """A topic that is left takes along every topic whose name begins with its own."""
    return topic.startswith(name)


def wheel_alone(model: AckTimeout) -> list[dict[Id, int]]:
    """A topic that is left leaves behind what waits for its backoff."""
    return [model.wheel.held]


def waits_by_the_wall_clock(backoff: Backoff, by: int) -> None:
    """A delay ends by the wall clock: what waits comes sooner if that is set forwards, and later if it is set back."""
    backoff.waiting = {message: at - by for message, at in backoff.waiting.items()}


class WallBackoff(Backoff):
    """A backoff by the wall clock."""

    clock_set = waits_by_the_wall_clock


def remembers_the_last(model: AckTimeout, ids: list[Id]) -> list[Emission]:
    """A thread that has fired keeps the set of ids that came back, until a later firing empties it."""
    vars(model)["came_back"] = ids
    return AckTimeout.emit(model, ids)


class Java42(AckTimeout):
    """The Java client of 4.2.4 and 5.0.1.

    With a backoff it tracks a message twice if it is added again while it waits, and a callback that closes the tracker
    leaves a timer behind.
    """

    PROFILE = "ack-timeout-java-4.2"
    BREAKS = ("AT-61", "AT-62", "AT-63", "AT-64")
    Backoff = WallBackoff
    emit = remembers_the_last
    ignores_after_close = taken_after_close
    is_tracked = on_the_wheel
    stages_of = first_stage
    parts = last_chunk_twice
    fire = calls_then_arms


class Java5M1(AckTimeout):
    """The Java client of 5.0.0-M1: as 4.2.4, but with a backoff a timeout that was cancelled fires (PR 26043)."""

    PROFILE = "ack-timeout-java-5.0.0-M1"
    BREAKS = ("AT-14", "AT-61", "AT-62", "AT-63", "AT-64")
    Backoff = WallBackoff
    emit = remembers_the_last
    ignores_after_close = taken_after_close
    is_tracked = on_the_wheel
    stages_of = first_stage
    parts = last_chunk_twice
    fire = calls_then_arms
    stale = fires_all_the_same


class Java(AckTimeout):
    """The Java client up to 4.1: as 5.0.0-M1, and topics are told apart by how their names begin (PR 25916).

    With a backoff a topic that is left leaves behind what waits for it.
    """

    PROFILE = "ack-timeout-java"
    BREAKS = ("AT-14", "AT-61", "AT-62", "AT-63", "AT-64")
    Backoff = WallBackoff
    emit = remembers_the_last
    ignores_after_close = taken_after_close
    is_tracked = on_the_wheel
    stages_of = first_stage
    parts = last_chunk_twice
    fire = calls_then_arms
    stale = fires_all_the_same
    is_of = begins_with
    stages_of_topics = wheel_alone


PROFILES: dict[str, type[AckTimeout]] = {model.PROFILE: model for model in (AckTimeout, Java42, Java5M1, Java)}
"""The reference model of each profile."""
