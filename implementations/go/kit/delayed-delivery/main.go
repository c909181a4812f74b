// Command delayed-delivery lets broker-tck check a delayed-delivery tracker.
package main

import "adapter/brokertck"

func main() {
	brokertck.ServeDelayedDelivery(brokertck.Declaration{
		Profiles:     []string{"timebucket-ideal"},
		Capabilities: map[string]any{"entry_id_bits": 63},
		Software:     "my tracker 0.1",
	}, NewTracker)
}
