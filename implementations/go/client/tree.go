package pulsar

import (
	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/apache/pulsar-client-go/pulsar/log"
)

// newTracker makes a tracker of a client that holds buckets in a tree: v0.18.0 and later.
func newTracker(consumer redeliveryConsumer, options *partitionConsumerOpts, bits int64) *negativeAcksTracker {
	return newNegativeAcksTracker(
		consumer, options.nackRedeliveryDelay, options.nackBackoffPolicy, log.DefaultNopLogger(), &bits)
}

func held(tracker *negativeAcksTracker) (items int) {
	for _, bucket := range tracker.negativeAcks.Values() {
		for _, entries := range bucket.(map[int64]*roaring64.Bitmap) {
			items += int(entries.GetCardinality())
		}
	}
	return items
}
