"""What to look at first if an invariant is broken."""

from broker_tck.properties.mistakes.book import look_at

look_at("CC-P14", "whatever orders the cursors")
look_at("CC-P15", "a cursor that was lost sight of, and comes up again")
look_at("CC-P16", "counters that are not brought up to date")
