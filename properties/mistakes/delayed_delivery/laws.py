"""What to look at first if an invariant is broken."""

from broker_tck.properties.mistakes.book import look_at

look_at("DD-07", "rounding of the key together with the test whether a bucket is due")
look_at("DD-08", "a bucket that is due before all that it may hold is due")
look_at("DD-34", "a timer update that returns without arming, or one that believes a cancelled timeout to be armed")
