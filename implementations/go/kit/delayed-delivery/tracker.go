package main

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"adapter/brokertck"
)

// Tracker keeps messages in a sorted slice. It is a small tracker that conforms: put yours in its place.
type Tracker struct {
	clock      brokertck.Clock
	newTimeout brokertck.Timer
	tick       int64
	strict     bool
	lookahead  int
	width      int64 // of a bucket, in milliseconds
	held       []held
	fixed      bool  // whether all delays were alike so far
	highest    int64 // the latest time of those
	timeout    *brokertck.Timeout
	target     int64 // what the timeout was armed for
	ran        bool  // whether the timer has fired
	lastRun    int64 // when it did
}

// held is a message that is tracked, and the key of the bucket of time that it is in.
type held struct {
	key      int64
	position brokertck.Position
}

func (h held) compare(other held) int {
	if h.key != other.key {
		return cmp.Compare(h.key, other.key)
	}
	return h.position.Compare(other.position)
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
		fixed:      true,
	}
}

// AddMessage tracks a message, unless it is due.
func (t *Tracker) AddMessage(ledgerID, entryID, deliverAt int64) bool {
	if deliverAt <= t.cutoff() {
		t.fixed = false
		return false
	}
	one := held{t.bucketOf(deliverAt), brokertck.Position{ledgerID, entryID}}
	if place, known := slices.BinarySearchFunc(t.held, one, held.compare); !known {
		t.held = slices.Insert(t.held, place, one)
	}
	t.updateTimer()
	t.fixed = t.fixed && deliverAt >= t.highest-t.tick
	t.highest = max(t.highest, deliverAt)
	return true
}

// HasMessageAvailable reports whether the first bucket is due.
func (t *Tracker) HasMessageAvailable() bool {
	if len(t.held) > 0 && t.due(t.held[0].key) {
		return true
	}
	t.updateTimer()
	return false
}

// GetScheduledMessages takes messages out of the buckets that are due.
func (t *Tracker) GetScheduledMessages(most int64) []brokertck.Position {
	var taken []brokertck.Position
	for int64(len(taken)) < most && len(t.held) > 0 && t.due(t.held[0].key) {
		taken = append(taken, t.held[0].position)
		t.held = t.held[1:]
	}
	if len(t.held) == 0 {
		t.fixed, t.highest = true, 0
	}
	t.updateTimer()
	slices.SortFunc(taken, brokertck.Position.Compare)
	return slices.Compact(taken) // one that was due in two buckets comes once
}

// ShouldPauseAllDeliveries reports whether as many messages are held as the lookahead says, all delayed alike.
func (t *Tracker) ShouldPauseAllDeliveries() bool {
	return t.lookahead > 0 && len(t.held) >= t.lookahead && t.fixed && !t.HasMessageAvailable()
}

// ResetTickTime changes the tick time.
func (t *Tracker) ResetTickTime(tick int64) { t.tick = tick }

// NumberOfDelayedMessages returns how many messages are held.
func (t *Tracker) NumberOfDelayedMessages() int { return len(t.held) }

// BufferMemoryUsage estimates 24 bytes for each message.
func (t *Tracker) BufferMemoryUsage() int64 { return 24 * int64(len(t.held)) }

// Clear forgets every message.
func (t *Tracker) Clear() { t.held = nil }

// Close disarms the timer.
func (t *Tracker) Close() { t.disarm() }

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
	if len(t.held) == 0 {
		t.disarm()
		return
	}
	first, now := t.held[0].key, t.clock()
	wake := first
	if !t.strict {
		wake = max(first, first+t.width-1-t.tick)
	}
	if t.timeout != nil && wake == t.target {
		return
	}
	t.disarm()
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
