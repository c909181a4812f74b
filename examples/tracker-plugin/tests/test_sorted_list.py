"""All of broker-tck's checks, as pytest tests."""

from tracker_plugin import SortedListTracker

from broker_tck.properties import conformance

test_sorted_list = conformance("delayed-delivery", SortedListTracker)
