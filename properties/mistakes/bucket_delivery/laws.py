"""What to look at first if an invariant is broken."""

from broker_tck.properties.mistakes.book import look_at

look_at("BD-02", "a bucket that nobody loads on: one that was placed over, or whose boundary was lost")
look_at("BD-44", "an index from before a refusal, for a position that was accepted for a later time")
