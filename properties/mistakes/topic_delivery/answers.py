"""Known mistakes: what a view answers: each as a tracker of delayed delivery that holds what the view sees of the shared index."""

from __future__ import annotations

from broker_tck.model.topic_delivery.answers import Answers
from broker_tck.properties.mistakes.book import instead, of

of(Answers.refuses, look="equality: the cut-off itself is refused, one millisecond later is accepted")(
    instead(
        "absent", "Your tracker takes messages that are due already; it has to refuse them.", lambda m, view, at: False
    ),
    instead(
        "equality accepted",
        "Your tracker takes a message whose time is exactly the cut-off; that one is due, and has to be refused.",
        lambda m, view, at: at < 0 or at < m.cutoff(view),
    ),
    instead(
        "only the past",
        "Your tracker refuses only what is not after now; it has to refuse all that is not after the cut-off.",
        lambda m, view, at: at <= m.timer.now,
    ),
    instead(
        "one more refused",
        "Your tracker refuses a message that is due one millisecond after the cut-off; it has to take it.",
        lambda m, view, at: at <= m.cutoff(view) + 1,
    ),
    instead(
        "by the bucket",
        "Your tracker refuses a message by the time of its bucket; its own time decides.",
        lambda m, view, at: at < 0 or m.is_due(m.buckets.key(at), view),
    ),
)
of(Answers.is_available, look="a first bucket in which only others see anything")(
    instead(
        "absent",
        "Your tracker says that nothing is available to a view while a bucket that is due holds what it sees.",
        lambda m, view: False,
    ),
    instead(
        "seen or not",
        "Your tracker says that a message is available to a view that does not see it.",
        lambda m, view: any(m.is_due(key, view) for key in m.index.held),
    ),
    instead(
        "in the first bucket alone",
        "Your tracker looks for an available message in the first bucket alone.",
        lambda m, view: any(m.is_due(key, view) and key == min(m.index.held) for key, _ in m.seen_by(view)),
    ),
    instead(
        "due or not",
        "Your tracker says that a message is available to a view as soon as it sees one; its bucket has to be due.",
        lambda m, view: bool(m.seen_by(view)),
    ),
)
of(Answers.count_of, look="a total of the topic in place of the view's own")(
    instead(
        "absent",
        "Your tracker tells a view the number of all messages; it has to count what that view sees.",
        lambda m, view: m.index.count(),
    ),
    instead(
        "only what is due",
        "Your tracker counts for a view what is due alone; it has to count all that the view sees.",
        lambda m, view: sum(m.is_due(key, view) for key, _ in m.seen_by(view)),
    ),
)
of(Answers.wants_pause, look="a fixed delay, a count or an availability that is the topic's")(
    instead(
        "absent",
        (
            "A view of your tracker never asks for a pause; it has to while its delay is fixed, it sees `lookahead` "
            "messages and none is available."
        ),
        lambda m, view: False,
    ),
    instead(
        "more than lookahead",
        "A view of your tracker asks for a pause one message too late; `lookahead` messages are enough.",
        lambda m, view: m.looks_ahead(view) and m.count_of(view) > m.lookahead,
    ),
    instead(
        "fixed or not",
        "A view of your tracker asks for a pause though its delay is not fixed.",
        lambda m, view: m.lookahead > 0 and m.count_of(view) >= m.lookahead,
    ),
    instead(
        "without lookahead too",
        "A view of your tracker asks for a pause although `lookahead` is 0, which means that it never does.",
        lambda m, view: view.fixed_delay.fixed and m.count_of(view) >= m.lookahead,
    ),
    instead(
        "counts all",
        "A view of your tracker asks for a pause by the number of all messages; it has to go by what it sees.",
        lambda m, view: m.looks_ahead(view) and m.index.count() >= m.lookahead,
    ),
    instead(
        "fixed for all",
        "A view of your tracker asks for a pause only if the delay of every view is fixed; its own delay decides.",
        lambda m, view: m.all_fixed() and m.looks_ahead(view) and m.count_of(view) >= m.lookahead,
    ),
)
of(Answers.may_pause)(
    instead(
        "absent",
        "A view of your tracker asks for a pause while a message is available to it; then it may not.",
        lambda m, view: True,
    ),
)
