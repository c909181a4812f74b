"""Known mistakes: the manager of a broker's caches: how large they may become, and when that has a size pass made."""

from __future__ import annotations

from broker_tck.model.entry_cache.manager import TRIGGER_PERCENT, USUAL_WATERMARK, Manager
from broker_tck.properties.mistakes.book import instead, of

of(
    Manager.keeps_nothing,
    look="a pass inside of the setter; a trigger that was worked out once; a cache that is disabled, or no longer",
)(
    instead(
        "absent",
        "Your cache keeps entries of a topic that was opened at a largest size of 0; it may never keep any.",
        lambda m, cache: False,
    ),
    instead(
        "as the size is now",
        "Your cache keeps nothing while the largest size is 0; what it was when the topic was opened decides.",
        lambda m, cache: m.max_size == 0,
    ),
    instead(
        "until it is raised",
        (
            "Your cache keeps entries of a topic that was opened at a largest size of 0 once that is raised; it may "
            "keep nothing, then or later."
        ),
        lambda m, cache: cache.disabled and m.max_size == 0,
    ),
)
of(Manager.triggers, look="the comparison; what the percentage is of; a second pass that awaits its turn as well")(
    instead(
        "absent",
        "No insertion has your cache make a size pass; one that leaves more than 98 % of the largest size must.",
        lambda m, total: False,
    ),
    instead(
        "at the trigger",
        "Your cache orders a size pass at exactly 98 % of the largest size; it must be more.",
        lambda m, total: m.max_size is not None and total >= m.max_size * TRIGGER_PERCENT // 100,
    ),
    instead(
        "at the watermark",
        "Your cache orders a size pass at the watermark; it must at more than 98 % of the largest size.",
        lambda m, total: m.max_size is not None and total > m.goal(),
    ),
    instead(
        "at the largest",
        "Your cache has a size pass made only beyond its largest size; 98 % of it is the trigger.",
        lambda m, total: m.max_size is not None and total > m.max_size,
    ),
)
of(Manager.excess, look="an amount that was worked out where the pass was ordered; what it is measured from")(
    instead(
        "absent", "A size pass of your cache empties it; it must come down to the watermark.", lambda m, total: total
    ),
    instead(
        "down to the trigger",
        "A size pass of your cache comes down to the trigger; it must come down to the watermark.",
        lambda m, total: total - (m.max_size or 0) * TRIGGER_PERCENT // 100,
    ),
    instead(
        "down to the largest",
        "A size pass of your cache comes down to the largest size; it must come down to the watermark.",
        lambda m, total: total - (m.max_size or 0),
    ),
    instead(
        "no watermark is the usual one",
        "Your cache takes a watermark of 0 for none, and goes down to 90 %; a size pass must empty it.",
        lambda m, total: total - (m.max_size or 0) * (m.watermark or USUAL_WATERMARK) // 100,
    ),
)
of(Manager.still_triggers)(
    instead(
        "absent",
        "A size pass that was ordered removes entries from your cache although the trigger is no longer passed.",
        lambda m, total: m.max_size is not None,
    ),
)
of(Manager.count_pass, look="removals that are no evictions; passes of time, which do not count")(
    instead(
        "absent", "Your cache does not count its size passes; those that had something to do count.", lambda m: None
    ),
)
