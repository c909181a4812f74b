package main

import (
	"math"
	"slices"
	"sync"

	"adapter/brokertck"
)

const (
	millisecond = 1_000_000 // nanoseconds
	shortestMs  = 100
	atOnce      = 1_000 // ids of a request
)

// Tracker tracks messages by the bucket in which they become due. It is a small tracker that conforms: put yours in its
// place.
type Tracker struct {
	clocks     brokertck.Clocks
	newTimeout brokertck.NackTimer
	consumer   brokertck.Consumer
	config     brokertck.NegativeAcksConfig

	mutex    sync.Mutex                                            // never held while the consumer is called, which may call back
	buckets  map[int64]map[brokertck.Position][]brokertck.Position // by first instant: messages, each with its chunks
	timeout  *brokertck.Timeout
	deadline int64 // of the timeout
	closed   bool
}

// NewTracker returns an empty tracker.
func NewTracker(
	config brokertck.NegativeAcksConfig, clocks brokertck.Clocks, timer brokertck.NackTimer, consumer brokertck.Consumer,
) brokertck.NegativeAcksTracker {
	return &Tracker{
		clocks:     clocks,
		newTimeout: timer,
		consumer:   consumer,
		config:     config,
		buckets:    map[int64]map[brokertck.Position][]brokertck.Position{},
	}
}

// Add tracks a message by its id alone.
func (t *Tracker) Add(id brokertck.MessageID) { t.AddMessage(id, 0) }

// AddMessage tracks a message that was redelivered so often before.
func (t *Tracker) AddMessage(id brokertck.MessageID, redeliveryCount int64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.closed {
		return
	}
	delay := max(t.config.DelayUs/1_000, shortestMs)
	if t.config.BacksOff() {
		delay = t.config.Backoff(redeliveryCount)
	}
	key := (t.clocks.Wall() + delay) >> t.config.PrecisionBits << t.config.PrecisionBits
	if t.buckets[key] == nil {
		t.buckets[key] = map[brokertck.Position][]brokertck.Position{}
	}
	if known := t.buckets[key][id.Position]; known == nil || id.Chunks != nil {
		t.buckets[key][id.Position] = id.Chunks
	}
	t.armFor(t.clocks.Monotonic() + delay*millisecond)
}

// NackedMessagesCount returns how many messages are held, for each bucket that they are in.
func (t *Tracker) NackedMessagesCount() (held int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, bucket := range t.buckets {
		held += len(bucket)
	}
	return held
}

// Close disarms and forgets, for good.
func (t *Tracker) Close() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.closed = true
	if t.timeout != nil {
		t.timeout.Cancel()
		t.timeout = nil
	}
	clear(t.buckets)
}

// armFor arms the timer for a time, unless it fires before that.
func (t *Tracker) armFor(deadline int64) {
	if t.timeout != nil && t.deadline <= deadline {
		return
	}
	if t.timeout != nil {
		t.timeout.Cancel()
	}
	t.deadline = deadline
	t.timeout = t.newTimeout(deadline, t.fired)
}

// fired is what the timer calls.
func (t *Tracker) fired(timeout *brokertck.Timeout) {
	ids := t.take(timeout)
	if len(ids) == 0 {
		return
	}
	t.consumer.OnNegativeAcksSend(ids)
	for len(ids) > 0 {
		request := ids[:min(len(ids), atOnce)]
		if t.consumer.RedeliverUnacknowledgedMessages(request) != nil {
			return
		}
		ids = ids[len(request):]
	}
}

// take removes what is due, and arms the timer for the rest. It returns each id once, those of chunks as well.
func (t *Tracker) take(timeout *brokertck.Timeout) (ids []brokertck.Position) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if timeout != t.timeout {
		return nil // it was cancelled when it was on its way already
	}
	t.timeout = nil
	now, first := t.clocks.Wall(), int64(math.MaxInt64)
	for key, bucket := range t.buckets {
		if key > now {
			first = min(first, key)
			continue
		}
		for position, chunks := range bucket {
			ids = append(append(ids, position), chunks...)
		}
		delete(t.buckets, key)
	}
	if len(t.buckets) > 0 {
		t.armFor(t.clocks.Monotonic() + (first-now)*millisecond)
	}
	slices.SortFunc(ids, brokertck.Position.Compare)
	return slices.Compact(ids)
}
