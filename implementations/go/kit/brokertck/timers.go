package brokertck

import "slices"

const mostFirings = 10_000

// A Timeout is a timer that was armed.
type Timeout struct {
	timers    *timers
	deadline  int64
	fire      func()
	cancelled bool
}

// Cancel disarms the timeout. A firing that is on its way already may still arrive: see Cancelled.
func (t *Timeout) Cancel() {
	if at := slices.Index(t.timers.live, t); at >= 0 {
		t.timers.live = slices.Delete(t.timers.live, at, at+1)
		t.timers.lastCancelled = t
	}
	t.cancelled = true
}

// Cancelled reports whether Cancel was called.
func (t *Timeout) Cancelled() bool { return t.cancelled }

// timers are a clock that moves when it is told to, and the timeouts that wait by it. The unit is the contract's.
type timers struct {
	now           int64
	live          []*Timeout // in the order in which they were armed
	lastCancelled *Timeout
}

func (t *timers) arm(deadline int64, fire func(*Timeout)) *Timeout {
	timeout := &Timeout{timers: t, deadline: deadline}
	timeout.fire = func() { fire(timeout) }
	t.live = append(t.live, timeout)
	return timeout
}

// advance moves the clock. Timeouts fire on the way, each at its deadline.
func (t *timers) advance(by int64) {
	until, atOnce := t.now+by, 0
	for timeout := t.first(); timeout != nil && timeout.deadline <= until; timeout = t.first() {
		if atOnce++; timeout.deadline > t.now {
			t.now, atOnce = timeout.deadline, 0
		}
		if atOnce > mostFirings {
			panic(Failure{"RuntimeError", "the timer fires and fires, and time does not move"})
		}
		t.live = slices.DeleteFunc(t.live, func(other *Timeout) bool { return other == timeout })
		timeout.fire()
	}
	t.now = until
}

// first returns the timeout that fires next; nil if none is armed.
func (t *timers) first() (first *Timeout) {
	for _, timeout := range t.live {
		if first == nil || timeout.deadline < first.deadline {
			first = timeout
		}
	}
	return first
}

// stale has the timeout fire all the same that was cancelled last.
func (t *timers) stale() {
	if t.lastCancelled != nil {
		t.lastCancelled.fire()
	}
}

// armed returns the deadlines in ascending order.
func (t *timers) armed() []int64 {
	deadlines := make([]int64, len(t.live))
	for i, timeout := range t.live {
		deadlines[i] = timeout.deadline
	}
	slices.Sort(deadlines)
	return deadlines
}
