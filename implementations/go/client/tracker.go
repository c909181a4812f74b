package pulsar

import (
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/apache/pulsar-client-go/brokertck"
)

// BrokerTck lets broker-tck check this client's tracker of negative acks. Each tracker lives in a bubble of its own.
func BrokerTck() {
	declared := brokertck.Declaration{Contract: "negative-acks"}
	if err := json.Unmarshal([]byte(os.Args[1]), &declared); err != nil {
		panic(err)
	}
	brokertck.Serve(declared, func(written json.RawMessage, serve func(brokertck.Subject)) {
		var config brokertck.NegativeAcksConfig
		if err := json.Unmarshal(written, &config); err != nil {
			panic(err)
		}
		served := false
		defer func() {
			if failed := recover(); failed != nil && !served {
				panic(failed)
			}
		}()
		runtime.BrokerTckRun(func() {
			b := newBubble(config)
			defer b.tracker.Close()
			serve(b)
			served = true // what hangs, and is left behind in the bubble, was told
		})
	})
}

// bubble is a tracker in a bubble, and its time. The goroutine that asks it makes no call itself: if a call cannot end,
// it goes on.
type bubble struct {
	tracker    *negativeAcksTracker
	backsOff   bool
	nacks      *brokertck.Nacks
	late       int64 // nanoseconds from the time of the configuration to that of the bubble
	calledBack int   // how many callbacks have not returned
	hangs      bool
}

func newBubble(config brokertck.NegativeAcksConfig) *bubble {
	b := &bubble{backsOff: config.BacksOff()}
	b.late = runtime.BrokerTckNow() - config.Clock*int64(time.Millisecond)
	runtime.BrokerTckAhead = -b.late
	options := ConsumerOptions{NackRedeliveryDelay: time.Duration(config.DelayUs) * time.Microsecond}
	if b.backsOff {
		options.NackBackoffPolicy = policy(config.Backoff)
	}
	b.nacks = brokertck.NewNacks(b, true)
	b.nacks.Tracker = b
	b.tracker = newTracker(b, newPartitionConsumerOpts("", "", 0, options), config.PrecisionBits)
	return b
}

// policy is a backoff in milliseconds.
type policy func(count int64) int64

func (p policy) Next(redeliveryCount uint32) time.Duration {
	return time.Duration(p(int64(redeliveryCount))) * time.Millisecond
}

// Do does an operation. Time moves before it is asked for.
func (b *bubble) Do(operation brokertck.Operation) any {
	if operation.Name == "adv" && !b.hangs {
		time.Sleep(time.Duration(operation.Int(0)) * time.Millisecond)
		runtime.BrokerTckWait()
		b.hangs = b.calledBack > 0
	}
	return b.call(func() any { return b.nacks.Do(operation) })
}

// Seen returns what is observed.
func (b *bubble) Seen() []any {
	seen := b.call(func() any { return b.nacks.Seen() })
	if observables, ok := seen.([]any); ok {
		return observables
	}
	panic(seen) // what reading them failed with
}

// call has another goroutine make a call, and goes on if nothing else in the bubble can.
func (b *bubble) call(f func() any) (result any) {
	if !b.hangs {
		b.hangs = true
		go func() {
			result = brokertck.Attempt(f)
			b.hangs = false
		}()
		runtime.BrokerTckWait()
	}
	if b.hangs {
		return brokertck.Hang
	}
	return result
}

// Redeliver is what the client's consumer does: it calls the application, and makes one request.
func (b *bubble) Redeliver(ids []messageID) {
	positions := make([]brokertck.Position, len(ids))
	for i, id := range ids {
		positions[i] = brokertck.Position{id.ledgerID, id.entryID}
	}
	b.calledBack++
	b.nacks.OnNegativeAcksSend(positions)
	b.calledBack--
	_ = b.nacks.RedeliverUnacknowledgedMessages(positions)
}

// ---- The tracker, as the client's consumer calls it

// nacked is a message as far as a tracker looks at it.
type nacked struct {
	Message
	id    MessageID
	count uint32
}

func (n nacked) ID() MessageID           { return n.id }
func (n nacked) RedeliveryCount() uint32 { return n.count }

func idOf(id brokertck.MessageID) *messageID {
	return &messageID{ledgerID: id.Position[0], entryID: id.Position[1], batchIdx: int32(id.BatchIndex)}
}

// Add nacks a message by its id.
func (b *bubble) Add(id brokertck.MessageID) { b.tracker.Add(idOf(id)) }

// AddMessage nacks a message. Without a backoff the client does so by its id.
func (b *bubble) AddMessage(id brokertck.MessageID, redeliveryCount int64) {
	if b.backsOff {
		b.tracker.AddMessage(nacked{id: idOf(id), count: uint32(redeliveryCount)})
	} else {
		b.Add(id)
	}
}

// NackedMessagesCount returns how many items the tracker holds.
func (b *bubble) NackedMessagesCount() int {
	b.tracker.Lock()
	defer b.tracker.Unlock()
	return held(b.tracker)
}

// Close closes the tracker.
func (b *bubble) Close() { b.tracker.Close() }

// ---- Its time, in nanoseconds since the time of the configuration

// Wall returns the wall clock.
func (b *bubble) Wall() int64 { return time.Now().UnixMilli() }

// Monotonic returns the clock that timers wait by.
func (b *bubble) Monotonic() int64 { return runtime.BrokerTckNow() - b.late }

// Advance does nothing: time has moved before the operation was asked for.
func (b *bubble) Advance(int64) {}

// Jump sets the wall clock.
func (b *bubble) Jump(byMs int64) { runtime.BrokerTckAhead += byMs * int64(time.Millisecond) }

// Stale does nothing: a ticker that is stopped does not tick.
func (b *bubble) Stale() {}

// Armed returns when timers fire next: the tracker's ticker, mostly.
func (b *bubble) Armed() []int64 {
	armed := runtime.BrokerTckArmed()
	for i := range armed {
		armed[i] -= b.late
	}
	slices.Sort(armed)
	return armed
}
