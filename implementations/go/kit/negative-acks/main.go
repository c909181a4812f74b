// Command negative-acks lets broker-tck check a tracker of negative acks.
package main

import "adapter/brokertck"

func main() {
	brokertck.ServeNegativeAcks(brokertck.Declaration{
		Profiles:     []string{"pip-393-spec"},
		Capabilities: map[string]any{"chunk_ledgers": true, "threads": true},
		Software:     "my tracker 0.1",
	}, NewTracker)
}
