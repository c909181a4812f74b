"""Known mistakes: the reference model of contract ``topic-delivery``: one index of delayed messages for all subscriptions of a topic."""

from __future__ import annotations

from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.mistakes.book import instead, look_at, of

look_at("TD-28", "copies, memory or a timeout that outlive the view that wanted them")
of(TopicDelivery.forget_for)(
    instead(
        "for all",
        "A clear of one view clears your tracker for all; the others have to keep what they see.",
        lambda m, view: [m.clear_for(each) for each in m.registry.registered.values()],
    ),
    instead(
        "and the timer",
        "A clear moves your tracker's timer; it has to leave it alone.",
        lambda m, view: (m.clear_for(view), m.update_timer()),
    ),
)
of(TopicDelivery.change_tick, look="the views that did not tell it; a timeout that was armed with the old tick")(
    instead("absent", "Your tracker ignores a new tick; that of any view is the topic's.", lambda m, tick: None),
    instead(
        "the timer is left alone",
        "A new tick leaves your tracker's timer as it is; it has to bring it up to date.",
        lambda m, tick: m.retick(tick),
    ),
)
of(TopicDelivery.is_asked, look="views that have acknowledged everything that is due")(
    instead(
        "absent",
        "A firing of your tracker asks every view to read; it has to ask those to which a message is available.",
        lambda m, view: True,
    ),
    instead(
        "nobody",
        "A firing of your tracker asks no dispatcher to read; it has to ask those to which a message is available.",
        lambda m, view: False,
    ),
    instead(
        "whoever sees anything",
        (
            "A firing of your tracker asks the dispatcher of every view that sees a message to read; the message has to"
            " be due."
        ),
        lambda m, view: bool(m.seen_by(view)),
    ),
)
of(TopicDelivery.rearm, look="two messages for two times, and nothing else: the second one")(
    instead(
        "absent", "A firing leaves your tracker's timer as it is; it has to bring it up to date.", lambda m, asked: None
    ),
)
