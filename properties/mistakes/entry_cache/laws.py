"""What to look at first if an invariant is broken."""

from broker_tck.properties.mistakes.book import look_at

look_at("EC-P17", "permits that are given back twice, or never: after failures, with the last entry, from the queue")
look_at("EC-01", "counters that are kept beside the entries, on every way out of the cache")
look_at("EC-P3", "every way into the cache, refusals too, and every way out of it")
look_at("EC-P4", "the comparison; entries behind an old one")
look_at("EC-P6", "what is protected: it is only removed later")
look_at("EC-P7", "the comparison of what is removed with what was asked for")
look_at("EC-P12", "who else writes the count")
