package brokertck

import (
	"math"
	"slices"
)

const (
	millisecond   = 1_000_000 // nanoseconds
	idsOfARequest = 1_000
)

// NegativeAcksConfig is what a tracker of negative acks is configured with.
type NegativeAcksConfig struct {
	DelayUs       int64     `json:"delay_us"`       // the delay of every nack without a backoff, in microseconds
	PrecisionBits int64     `json:"precision_bits"` // how many low bits of an instant in milliseconds do not matter
	Clock         int64     `json:"clock"`          // what both clocks show at the start, in milliseconds
	BackoffMs     []int64   `json:"backoff_ms"`     // a backoff: the delay by redelivery count, the last for all above
	Multiplier    []float64 `json:"multiplier"`     // another: the first and the longest delay in ms, and the factor
}

// BacksOff reports whether there is a backoff.
func (c NegativeAcksConfig) BacksOff() bool { return c.BackoffMs != nil || c.Multiplier != nil }

// Backoff returns the delay of the backoff in milliseconds.
func (c NegativeAcksConfig) Backoff(redeliveryCount int64) int64 {
	if c.BackoffMs != nil {
		return c.BackoffMs[min(redeliveryCount, int64(len(c.BackoffMs)-1))]
	}
	first, longest, factor := c.Multiplier[0], c.Multiplier[1], c.Multiplier[2]
	if first == 0 {
		return 0
	}
	return int64(min(first*math.Pow(factor, float64(redeliveryCount)), longest))
}

// Clocks are the two clocks of a client. It has no other source of time.
type Clocks interface {
	// Wall returns milliseconds since the epoch. They may jump, both ways.
	Wall() int64
	// Monotonic returns nanoseconds since some moment. They only go forward.
	Monotonic() int64
}

// A NackTimer arms a timeout for a time of the monotonic clock. It calls fired at that time, never inside of a call to
// the tracker. A time that has passed fires when the clock moves next.
type NackTimer func(deadline int64, fired func(*Timeout)) *Timeout

// A Consumer is what a tracker works for.
type Consumer interface {
	// OnNegativeAcksSend is the application's callback, with all ids of a firing. It may call the tracker.
	OnNegativeAcksSend(ids []Position)
	// RedeliverUnacknowledgedMessages sends one request, of at most 1,000 ids. It may fail.
	RedeliverUnacknowledgedMessages(ids []Position) error
}

// A MessageID is what an application nacks.
type MessageID struct {
	Position
	BatchIndex int64      // -1: the message is not of a batch
	Chunks     []Position // the places of all its chunks, in ascending order; none: it is not in chunks
}

// A NegativeAcksTracker tracks messages that were nacked (contract negative-acks). Calls come one at a time. While the
// tracker calls its consumer back, other calls come: from the same goroutine, or from another one.
type NegativeAcksTracker interface {
	// Add tracks a message by its id alone.
	Add(id MessageID)
	// AddMessage tracks a message that was redelivered so often before.
	AddMessage(id MessageID, redeliveryCount int64)
	// NackedMessagesCount returns how many items are tracked.
	NackedMessagesCount() int
	// Close disarms the timer and lets go of everything.
	Close()
}

// ServeNegativeAcks has broker-tck check trackers that fresh makes.
func ServeNegativeAcks(
	declared Declaration, fresh func(NegativeAcksConfig, Clocks, NackTimer, Consumer) NegativeAcksTracker,
) {
	declared.Contract = "negative-acks"
	serve(declared, func(config NegativeAcksConfig) Subject {
		time := &nackTime{timers: timers{now: config.Clock * millisecond}}
		nacks := NewNacks(time, declared.Capabilities["threads"] == true)
		nacks.Tracker = fresh(config, time, time.arm, nacks)
		return nacks
	})
}

// A World is the time that a tracker of negative acks lives in. Times are in nanoseconds.
type World interface {
	Clocks
	Advance(by int64)
	Jump(byMs int64)
	Stale()
	Armed() []int64
}

type nackTime struct {
	timers
	ahead int64 // of the wall clock, in milliseconds
}

func (t *nackTime) Wall() int64      { return t.now/millisecond + t.ahead }
func (t *nackTime) Monotonic() int64 { return t.now }
func (t *nackTime) Advance(by int64) { t.advance(by) }
func (t *nackTime) Jump(byMs int64)  { t.ahead += byMs }
func (t *nackTime) Stale()           { t.stale() }
func (t *nackTime) Armed() []int64   { return t.armed() }

// Nacks are a tracker of negative acks as a Subject, and the consumer that it works for.
type Nacks struct {
	Tracker   NegativeAcksTracker
	world     World
	elsewhere bool // whether the next call inside a callback is made by another goroutine
	failing   bool // whether the next request fails
	inner     []func()
	emissions []emission
}

// emission is what one call of the callback came to.
type emission struct {
	at     int64
	ids    []Position
	made   [][]Position // the requests that followed
	failed bool
}

// NewNacks returns a consumer in a world, without its tracker. If there are threads, the first call inside a callback
// comes from another goroutine.
func NewNacks(world World, threads bool) *Nacks {
	return &Nacks{world: world, elsewhere: threads}
}

// OnNegativeAcksSend notes what is emitted, and does what the application does in its callback.
func (n *Nacks) OnNegativeAcksSend(ids []Position) {
	n.emissions = append(n.emissions, emission{at: inMs(n.world.Monotonic()), ids: sorted(ids)})
	inner := n.inner
	n.inner = nil
	for _, call := range inner {
		if n.elsewhere {
			n.elsewhere = false
			byAnother(call)
		} else {
			call()
		}
	}
}

// RedeliverUnacknowledgedMessages notes a request.
func (n *Nacks) RedeliverUnacknowledgedMessages(ids []Position) error {
	last := &n.emissions[len(n.emissions)-1]
	if n.failing {
		n.failing = false
		last.failed = true
		return Failure{"RequestFailed", "the broker did not take it"}
	}
	last.made = append(last.made, sorted(ids))
	return nil
}

// Seen returns the number of items, and the deadlines in milliseconds.
func (n *Nacks) Seen() []any {
	armed := n.world.Armed()
	for i, deadline := range armed {
		armed[i] = inMs(deadline)
	}
	return []any{n.Tracker.NackedMessagesCount(), armed}
}

// Do does an operation.
func (n *Nacks) Do(o Operation) any {
	switch o.Name {
	case "nack":
		n.nack(o.Int(0), o.Int(1), o.Int(2))
	case "id":
		n.Tracker.Add(MessageID{Position: Position{o.Int(0), o.Int(1)}, BatchIndex: -1})
	case "batch":
		n.Tracker.AddMessage(MessageID{Position: Position{o.Int(0), o.Int(1)}, BatchIndex: o.Int(2)}, o.Int(3))
	case "chunked":
		n.inChunks(chunks(o.Int(0), o.Int(1), o.Int(2), o.Int(4)), o.Int(3))
	case "spread":
		n.inChunks(spread(o.Int(0), o.Int(1), o.Int(2), o.Int(4), o.Int(5)), o.Int(3))
	case "fill":
		n.fill(o)
	case "adv":
		n.world.Advance(o.Int(0) * millisecond)
		return n.told()
	case "jump":
		n.world.Jump(o.Int(0))
	case "fail":
		n.failing = true
	case "inside":
		n.inside(o)
	case "stale":
		n.world.Stale()
		return n.told()
	case "close":
		n.Tracker.Close()
	default:
		panic(Failure{"UnknownOperation", o.Name})
	}
	return nil
}

func (n *Nacks) nack(ledger, entry, count int64) {
	n.Tracker.AddMessage(MessageID{Position: Position{ledger, entry}, BatchIndex: -1}, count)
}

func (n *Nacks) inChunks(places []Position, count int64) {
	n.Tracker.AddMessage(MessageID{places[len(places)-1], -1, places}, count)
}

// chunks returns the places of chunks that are apart, the last of which is the entry.
func chunks(ledger, entry, number, apart int64) (places []Position) {
	for back := number - 1; back >= 0; back-- {
		places = append(places, Position{ledger, entry - back*apart})
	}
	return places
}

// spread returns the places of chunks that are, two by two, in lower and lower ledgers. In each they have the same ids.
func spread(ledger, entry, number, apart, below int64) (places []Position) {
	for n := number; n > 1; n-- {
		places = append(places, Position{ledger - n/2*below, entry - n%2*apart})
	}
	return append(places, Position{ledger, entry})
}

// fill nacks many messages, of several ledgers in turn, with redelivery counts that rise and begin anew.
func (n *Nacks) fill(o Operation) {
	ledger, entry, step, messages, count := o.Int(0), o.Int(1), o.Int(2), o.Int(3), o.Int(4)
	ledgers, rising, turns, number := o.Int(5), o.Int(6), o.Int(7), o.Int(8)
	if turns == 0 {
		turns = messages
	}
	for i := int64(0); i < messages; i++ {
		redelivered := count
		if rising > 0 {
			redelivered = min(count+i%turns*rising, math.MaxInt32)
		}
		if number > 1 {
			n.inChunks(chunks(ledger+i%ledgers, entry+i/ledgers*step, number, 1), redelivered)
		} else {
			n.nack(ledger+i%ledgers, entry+i/ledgers*step, redelivered)
		}
	}
}

// inside notes what the application does in the next callback. It asks for the count too, which may need a lock.
func (n *Nacks) inside(o Operation) {
	n.inner = append(n.inner, func() {
		n.Tracker.NackedMessagesCount()
		if o.Word(0) == "close" {
			n.Tracker.Close()
		} else {
			n.nack(o.Int(1), o.Int(2), o.Int(3))
		}
	})
}

// told returns what was emitted since it was last asked.
func (n *Nacks) told() any {
	told := [][]any{}
	for _, each := range n.emissions {
		told = append(told, []any{each.at, each.ids, each.requests()})
	}
	n.emissions = nil
	return told
}

// requests describes the requests of one callback, as the protocol has it.
func (e emission) requests() any {
	var requested []Position
	sizes, largest := []int{}, 0
	for _, request := range e.made {
		requested = append(requested, request...)
		sizes = append(sizes, len(request))
		largest = max(largest, len(request))
	}
	ofOthers := slices.ContainsFunc(requested, func(p Position) bool {
		_, found := slices.BinarySearchFunc(e.ids, p, Position.Compare)
		return !found
	})
	switch {
	case len(e.made) == 0 || e.failed && !ofOthers && largest <= idsOfARequest:
		return 0
	case !slices.Equal(sorted(requested), e.ids):
		return e.made
	case len(sizes) == 1:
		return 1
	case len(sizes) == (len(e.ids)-1)/idsOfARequest+1 && largest <= idsOfARequest:
		for i := range sizes { // it does not matter where the ids are cut: the full ones first
			sizes[i] = min(idsOfARequest, len(e.ids)-i*idsOfARequest)
		}
	}
	return sizes
}

func sorted(ids []Position) []Position {
	ids = append([]Position{}, ids...)
	slices.SortFunc(ids, Position.Compare)
	return ids
}

// inMs returns a time in milliseconds, rounded up.
func inMs(nanoseconds int64) int64 { return (nanoseconds + millisecond - 1) / millisecond }

// byAnother has another goroutine make a call, and waits for it.
func byAnother(call func()) {
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		call()
	}()
	if failed := <-ended; failed != nil {
		panic(failed)
	}
}
