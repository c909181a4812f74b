"""What to look at first if an invariant is broken."""

from broker_tck.properties.mistakes.book import look_at

look_at("NA-14", "a second rounding, of the clock as well")
look_at("P1", "ids that are rebuilt from what a container keeps of them")
look_at("P2", "a timer that is not armed again")
look_at("P5", "buckets that outlive the firing that emits them")
look_at("P6", "deleting from what is walked through")
look_at("P7", "a firing that finds nothing due")
look_at("P8", "timers that poll, or outlive what they were armed for")
look_at("P9", "a countdown that every nack restarts")
look_at("P10", "a timer that stays as the first item armed it")
look_at("P14", "a counter kept beside the buckets")
look_at("P15", "widths that are no powers of two")
look_at("NA-16", "a deadline that is later than the first bucket; buckets that a firing passes by")
