"""Known mistakes: what a bucket tracker holds in memory: adds, the queue of what is loaded, and the timer."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.holding import Holding
from broker_tck.properties.mistakes.book import instead, of

of(Holding.refuses)(
    instead(
        "absent",
        "Your tracker takes messages that are due, or have no time; it has to refuse them.",
        lambda t, position, at: False,
    ),
    instead(
        "unless it is held",
        "Your tracker takes a message that is due if it holds it already; it has to refuse it.",
        lambda t, position, at: at <= t.cutoff() and not t.contains(*position),
    ),
    instead(
        "equality accepted",
        "Your tracker takes a message whose time is exactly the cut-off; that one is due, and has to be refused.",
        lambda t, position, at: at < t.cutoff(),
    ),
    instead(
        "one more refused",
        "Your tracker refuses a message that is due one millisecond after the cut-off; it has to take it.",
        lambda t, position, at: at <= t.cutoff() + 1,
    ),
)
of(Holding.added)(
    instead(
        "absent",
        "An add that was accepted leaves your tracker's timer as it is; it has to bring it up to date.",
        lambda t: None,
    ),
)
of(Holding.available, look="both queues, either of which may be empty; a count above zero with nothing in memory")(
    instead(
        "absent",
        "Your tracker says that a message is available as soon as one is held; the first index in memory has to be due.",
        lambda t: t.held.count() > 0,
    ),
    instead(
        "of the shared queue",
        "Your tracker does not look at its growing bucket when it is asked for what is available.",
        lambda t: bool(t.shared) and t.held.count() > 0 and t.shared[0][0] <= t.cutoff(),
    ),
    instead(
        "whatever is held",
        (
            "Your tracker says that a message is available where the first index in memory is due, although it holds "
            "nothing."
        ),
        lambda t: t.next_time() <= t.cutoff(),
    ),
)
of(Holding.found_nothing)(
    instead(
        "absent",
        "Where nothing is available, the question leaves your tracker's timer as it is; it has to bring it up to date.",
        lambda t: None,
    ),
)
of(Holding.pause, look="a test for a fixed delay that was taken over from the tracker in memory")(
    instead("absent", "Your tracker asks for a pause; all deliveries never pause.", lambda t: t.held.count() > 0),
)
