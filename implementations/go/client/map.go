package pulsar

import (
	"runtime"
	"time"

	"github.com/apache/pulsar-client-go/pulsar/log"
)

// From 2157 on, a Time of Go has no reading of the monotonic clock, which is all that this tracker looks at. So the wall
// clock ends well before that: a delay may be 35 years.
func init() { runtime.BrokerTckLatest = time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano() }

// newTracker makes a tracker of a client that holds the time of each message in a map: before v0.18.0.
func newTracker(consumer redeliveryConsumer, options *partitionConsumerOpts, _ int64) *negativeAcksTracker {
	return newNegativeAcksTracker(
		consumer, options.nackRedeliveryDelay, options.nackBackoffPolicy, log.DefaultNopLogger())
}

func held(tracker *negativeAcksTracker) int { return len(tracker.negativeAcks) }
