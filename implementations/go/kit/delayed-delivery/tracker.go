package main

import (
	"math"
	"math/bits"
	"slices"

	"adapter/brokertck"
)

// Tracker keeps messages in a map of time buckets. It is small, slow and right: make it yours.
type Tracker struct {
	clock      brokertck.Clock
	newTimeout brokertck.Timer
	tick       int64
	strict     bool
	lookahead  int
	width      int64 // of a bucket, in milliseconds
	buckets    map[int64]map[brokertck.Position]bool
	fixed      bool  // whether all delays were alike so far
	highest    int64 // the latest time of those
	timeout    *brokertck.Timeout
	target     int64 // what the timeout was armed for
	ran        bool  // whether the timer has fired
	lastRun    int64 // when it did
}

// NewTracker returns an empty tracker.
func NewTracker(
	config brokertck.DelayedDeliveryConfig, clock brokertck.Clock, timer brokertck.Timer,
) brokertck.DelayedDeliveryTracker {
	return &Tracker{
		clock:      clock,
		newTimeout: timer,
		tick:       config.Tick,
		strict:     config.Strict,
		lookahead:  int(config.Lookahead),
		width:      1 << max(0, bits.Len64(uint64(config.Tick))-1),
		buckets:    map[int64]map[brokertck.Position]bool{},
		fixed:      true,
	}
}

// AddMessage tracks a message, unless it is due.
func (t *Tracker) AddMessage(ledgerID, entryID, deliverAt int64) bool {
	if deliverAt < 0 || deliverAt <= t.cutoff() {
		t.fixed = false
		return false
	}
	key := t.bucketOf(deliverAt)
	if t.buckets[key] == nil {
		t.buckets[key] = map[brokertck.Position]bool{}
	}
	t.buckets[key][brokertck.Position{ledgerID, entryID}] = true
	t.updateTimer()
	t.fixed = t.fixed && deliverAt >= t.highest-t.tick
	t.highest = max(t.highest, deliverAt)
	return true
}

// HasMessageAvailable reports whether the first bucket is due.
func (t *Tracker) HasMessageAvailable() bool {
	first, any := t.first()
	if any && t.due(first) {
		return true
	}
	t.updateTimer()
	return false
}

// GetScheduledMessages takes messages out of the buckets that are due.
func (t *Tracker) GetScheduledMessages(most int64) []brokertck.Position {
	var taken []brokertck.Position
	for int64(len(taken)) < most {
		first, any := t.first()
		if !any || !t.due(first) {
			break
		}
		bucket := t.buckets[first]
		var part []brokertck.Position
		for position := range bucket {
			part = append(part, position)
		}
		slices.SortFunc(part, brokertck.Position.Compare)
		part = part[:min(int64(len(part)), most-int64(len(taken)))]
		for _, position := range part {
			delete(bucket, position)
		}
		if len(bucket) == 0 {
			delete(t.buckets, first)
		}
		taken = append(taken, part...)
	}
	if len(t.buckets) == 0 {
		t.fixed, t.highest = true, 0
	}
	t.updateTimer()
	slices.SortFunc(taken, brokertck.Position.Compare)
	return slices.Compact(taken)
}

// ShouldPauseAllDeliveries reports whether as many messages are held as the lookahead says, all delayed alike.
func (t *Tracker) ShouldPauseAllDeliveries() bool {
	return t.lookahead > 0 && t.NumberOfDelayedMessages() >= t.lookahead && t.fixed && !t.HasMessageAvailable()
}

// ResetTickTime changes the tick time.
func (t *Tracker) ResetTickTime(tick int64) { t.tick = tick }

// NumberOfDelayedMessages returns how many messages are held.
func (t *Tracker) NumberOfDelayedMessages() (held int) {
	for _, bucket := range t.buckets {
		held += len(bucket)
	}
	return held
}

// BufferMemoryUsage estimates 16 bytes for each message.
func (t *Tracker) BufferMemoryUsage() int64 { return 16 * int64(t.NumberOfDelayedMessages()) }

// Clear forgets every message.
func (t *Tracker) Clear() { clear(t.buckets) }

// Close disarms the timer.
func (t *Tracker) Close() { t.disarm() }

// first returns the key of the first bucket, and whether there is any.
func (t *Tracker) first() (first int64, any bool) {
	for key := range t.buckets {
		if !any || key < first {
			first, any = key, true
		}
	}
	return first, any
}

// cutoff returns the time up to which messages are due.
func (t *Tracker) cutoff() int64 {
	if t.strict {
		return t.clock()
	}
	return t.clock() + t.tick
}

// bucketOf returns the key of the bucket of a time: its first time, or with strict delivery its last one.
func (t *Tracker) bucketOf(at int64) int64 {
	if !t.strict {
		return at & -t.width
	}
	return (min(at, math.MaxInt64-t.width+1) + t.width - 1) & -t.width
}

func (t *Tracker) due(key int64) bool {
	if t.strict {
		return key <= t.cutoff()
	}
	return key+t.width-1 <= t.cutoff()
}

// updateTimer arms the timer for the first bucket.
func (t *Tracker) updateTimer() {
	first, any := t.first()
	if !any {
		t.disarm()
		return
	}
	wake := first
	if !t.strict {
		wake = max(first, first+t.width-1-t.tick)
	}
	if t.timeout != nil && wake == t.target {
		return
	}
	t.disarm()
	now := t.clock()
	if t.ran && t.lastRun > now {
		t.ran = false // the clock was set back
	}
	if wake > now {
		deadline := wake
		if t.ran {
			deadline = max(wake, t.lastRun+t.tick)
		}
		t.target = wake
		t.timeout = t.newTimeout(deadline, t.fired)
	}
}

func (t *Tracker) disarm() {
	if t.timeout != nil {
		t.timeout.Cancel()
		t.timeout = nil
	}
}

// fired is what the timer calls. True asks for a read.
func (t *Tracker) fired(timeout *brokertck.Timeout) bool {
	if timeout.Cancelled() {
		return false // it was on its way already
	}
	t.ran, t.lastRun = true, t.clock()
	t.timeout = nil
	return true
}
