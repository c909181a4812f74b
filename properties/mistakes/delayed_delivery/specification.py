"""Known mistakes: the reference model of contract ``delayed-delivery``: a tracker of one subscription's delayed messages."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.mistakes.book import instead, of

of(DelayedDelivery.refuses, look="equality: the cut-off itself is refused, one millisecond later is accepted")(
    instead(
        "absent",
        "Your tracker takes messages that are due already, or have no time; it has to refuse them.",
        lambda m, at: False,
    ),
    instead(
        "equality accepted",
        "Your tracker takes a message whose time is exactly the cut-off; that one is due, and has to be refused.",
        lambda m, at: at < 0 or at < m.buckets.cutoff(m.timer.now),
    ),
    instead(
        "by the bucket",
        "Your tracker refuses a message by the time of its bucket; its own time decides.",
        lambda m, at: at < 0 or m.buckets.due(m.buckets.key(at), m.timer.now),
    ),
    instead(
        "only the past",
        "Your tracker refuses only what is not after now; it has to refuse all that is not after the cut-off.",
        lambda m, at: at <= m.timer.now,
    ),
    instead(
        "one more refused",
        "Your tracker refuses a message that is due one millisecond after the cut-off; it has to take it.",
        lambda m, at: at <= m.buckets.cutoff(m.timer.now) + 1,
    ),
)
of(DelayedDelivery.compared, look="what runs after the insertion, and in which order")(
    instead(
        "absent",
        "Your tracker looks at the fixed delay with the time of the bucket; it has to with the time as it was given.",
        lambda m, at: m.buckets.key(at),
    ),
    instead(
        "cut to the tick",
        (
            "Your tracker looks at the fixed delay with the time cut to a whole tick; it has to with the time as it was"
            " given."
        ),
        lambda m, at: at - at % max(m.buckets.tick, 1),
    ),
)
of(DelayedDelivery.available, look="the timer after a firing that found nothing to hand out")(
    instead("absent", "Your tracker says that nothing is available while its first bucket is due.", lambda m: False),
    instead(
        "anything held",
        "Your tracker says that a message is available as soon as one is held; its bucket has to be due.",
        lambda m: bool(m.index.held),
    ),
    instead(
        "nothing far ahead",
        "Your tracker says that nothing is available until its last bucket is due; the first one decides.",
        lambda m: bool(m.index.held) and m.buckets.due(max(m.index.held), m.timer.now),
    ),
)
of(DelayedDelivery.has_updates_timer)(
    instead(
        "absent",
        "Where nothing is available, the question leaves your tracker's timer as it is; it has to bring it up to date.",
        lambda m, available: False,
    ),
    instead(
        "a yes as well",
        (
            "The question for what is available moves your tracker's timer even where the answer is yes; then it has to"
            " leave it alone."
        ),
        lambda m, available: True,
    ),
)
of(
    DelayedDelivery.wants_pause,
    look="equality with the lookahead; the timer update behind the question for availability",
)(
    instead(
        "absent",
        (
            "Your tracker never asks for a pause; it has to while the delay is fixed, `lookahead` messages are held and"
            " none is available."
        ),
        lambda m: False,
    ),
    instead(
        "more than lookahead",
        "Your tracker asks for a pause one message too late; `lookahead` messages are enough.",
        lambda m: m.lookahead > 0 and m.fixed_delay.fixed and m.count() > m.lookahead,
    ),
    instead(
        "fixed or not",
        "Your tracker asks for a pause though the delay is not fixed.",
        lambda m: m.lookahead > 0 and m.count() >= m.lookahead,
    ),
    instead(
        "without lookahead too",
        "Your tracker asks for a pause although `lookahead` is 0, which turns detection off.",
        lambda m: m.fixed_delay.fixed and m.count() >= m.lookahead,
    ),
    instead(
        "half the lookahead",
        "Your tracker asks for a pause at half of `lookahead` messages; it has to wait for all of them.",
        lambda m: m.lookahead > 0 and m.fixed_delay.fixed and m.count() >= (m.lookahead + 1) // 2,
    ),
    instead(
        "counts buckets",
        "Your tracker compares the number of buckets with `lookahead`; it has to count messages.",
        lambda m: m.lookahead > 0 and m.fixed_delay.fixed and len(m.index.held) >= m.lookahead,
    ),
)
of(DelayedDelivery.asks_availability)(
    instead(
        "absent",
        "Your tracker asks for what is available even where it wants no pause; that is asked last.",
        lambda m, wanted: True,
    ),
    instead(
        "never",
        "Your tracker asks for a pause while a message is available; then nothing may pause.",
        lambda m, wanted: False,
    ),
)
of(DelayedDelivery.refuses_close, look="a timeout that outlives its tracker; what a second close lets go of once more")(
    instead("absent", "Your tracker cannot be closed twice; a second close has to do nothing.", lambda m: m.closed),
)
