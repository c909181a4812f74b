"""What to look at first if an invariant is broken."""

from broker_tck.properties.mistakes.book import look_at

look_at("TD-04", "a bucket whose start is compared with the cut-off, where its end should be")
look_at("TD-33", "a copy for each view")
look_at("TD-34", "where the shared index does otherwise than a tracker of one subscription")
look_at("TD-35", "a call or a firing after which nobody brings the timer up to date")
look_at("TD-36", "a prune that is put off, or that nothing sets off")
look_at("TD-37", "a prune, or the leaving of another view, that takes along what somebody waits for")
