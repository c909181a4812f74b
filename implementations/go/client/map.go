package pulsar

import "github.com/apache/pulsar-client-go/pulsar/log"

// newTracker makes a tracker of a client that holds the time of each message in a map: before v0.18.0.
func newTracker(consumer redeliveryConsumer, options *partitionConsumerOpts, _ int64) *negativeAcksTracker {
	return newNegativeAcksTracker(
		consumer, options.nackRedeliveryDelay, options.nackBackoffPolicy, log.DefaultNopLogger())
}

func held(tracker *negativeAcksTracker) int { return len(tracker.negativeAcks) }
