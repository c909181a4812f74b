package brokertck

// DelayedDeliveryConfig is what a delayed-delivery tracker is configured with.
type DelayedDeliveryConfig struct {
	Tick      int64 `json:"tick"`      // milliseconds, at least 1; ResetTickTime may change it later
	Strict    bool  `json:"strict"`    // whether a message must never be handed out before its time
	Lookahead int64 `json:"lookahead"` // how many messages of one fixed delay are held before reading pauses; 0: never
	Clock     int64 `json:"clock"`     // the time at the start
}

// A Clock returns the time now, in milliseconds since the epoch. A tracker has no other source of time.
type Clock func() int64

// A Timer arms a timeout for an absolute time in milliseconds. It calls fired at that time, never inside of a call to
// the tracker; fired answers whether the dispatcher must read now. A time that has passed fires when the clock moves.
type Timer func(deadline int64, fired func(*Timeout) bool) *Timeout

// A DelayedDeliveryTracker tracks the delayed messages of one subscription (contract delayed-delivery). Times are
// absolute, in milliseconds. Calls come one at a time.
type DelayedDeliveryTracker interface {
	// AddMessage tracks a message. False: it was not taken, the caller dispatches it now.
	AddMessage(ledgerID, entryID, deliverAt int64) bool
	// HasMessageAvailable reports whether a message may be handed out now.
	HasMessageAvailable() bool
	// GetScheduledMessages hands out at most so many messages that are due, in the order of their positions.
	GetScheduledMessages(most int64) []Position
	// ShouldPauseAllDeliveries reports whether the dispatcher must stop reading, because all is delayed alike.
	ShouldPauseAllDeliveries() bool
	// ResetTickTime changes the tick time.
	ResetTickTime(tick int64)
	// NumberOfDelayedMessages returns how many messages are tracked.
	NumberOfDelayedMessages() int
	// BufferMemoryUsage estimates the size of the index in bytes.
	BufferMemoryUsage() int64
	// Clear forgets every message.
	Clear()
	// Close disarms the timer and lets go of everything. It may be called again; no other call follows.
	Close()
}

// ServeDelayedDelivery has broker-tck check trackers that fresh makes.
func ServeDelayedDelivery(
	declared Declaration, fresh func(DelayedDeliveryConfig, Clock, Timer) DelayedDeliveryTracker,
) {
	declared.Contract = "delayed-delivery"
	serve(declared, func(config DelayedDeliveryConfig) Subject {
		d := &delayedDelivery{timers: timers{now: config.Clock}}
		d.tracker = fresh(config, func() int64 { return d.now }, d.newTimeout)
		return d
	})
}

type delayedDelivery struct {
	timers
	tracker DelayedDeliveryTracker
	asked   []int64 // the times at which a firing asked for a read
}

func (d *delayedDelivery) newTimeout(deadline int64, fired func(*Timeout) bool) *Timeout {
	return d.arm(deadline, func(timeout *Timeout) {
		if fired(timeout) {
			d.asked = append(d.asked, d.now)
		}
	})
}

func (d *delayedDelivery) Seen() []any {
	return []any{d.tracker.NumberOfDelayedMessages(), d.armed()}
}

func (d *delayedDelivery) Do(o Operation) any {
	switch o.Name {
	case "add":
		return d.tracker.AddMessage(o.Int(0), o.Int(1), o.Int(2))
	case "fill":
		return d.fill(o.Int(0), o.Int(1), o.Int(2), o.Int(3), o.Int(4), o.Int(5))
	case "has":
		return d.tracker.HasMessageAvailable()
	case "get":
		return append([]Position{}, d.tracker.GetScheduledMessages(o.Int(0))...)
	case "pause":
		return d.tracker.ShouldPauseAllDeliveries()
	case "tick":
		d.tracker.ResetTickTime(o.Int(0))
	case "adv":
		d.asked = []int64{}
		d.advance(o.Int(0))
		return d.asked
	case "jump":
		d.jump(o.Int(0))
	case "stale":
		d.asked = nil
		d.stale()
		return len(d.asked) > 0
	case "memory":
		return d.tracker.BufferMemoryUsage()
	case "clear":
		d.tracker.Clear()
	case "close":
		d.tracker.Close()
	default:
		panic(Failure{"UnknownOperation", o.Name})
	}
	return nil
}

// fill adds n messages, and returns how many of them were taken.
func (d *delayedDelivery) fill(ledger, entry, step, n, at, apart int64) (taken int) {
	for i := int64(0); i < n; i++ {
		if d.tracker.AddMessage(ledger, entry+i*step, at+i*apart) {
			taken++
		}
	}
	return taken
}

// jump sets the clock. Timeouts wait by one that never jumps, so their deadlines move along.
func (d *delayedDelivery) jump(by int64) {
	d.now += by
	for _, timeout := range d.live {
		timeout.deadline += by
	}
}
