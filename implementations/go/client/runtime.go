package runtime

// What a test of the real client needs of the runtime, besides what Go has. broker-tck adds this file to the runtime
// of one program.

// BrokerTckAhead is how far the wall clock of bubbles is ahead of the clock that timers wait by, in nanoseconds.
var BrokerTckAhead int64

// BrokerTckLatest is a time at which the wall clock of bubbles stands still, in nanoseconds since the epoch.
var BrokerTckLatest int64 = 1<<63 - 1

func init() {
	// In a bubble nobody outside of it can unlock a mutex: who waits for one waits as durably as for a channel.
	isIdleInSynctest[waitReasonSyncMutexLock] = true
	isIdleInSynctest[waitReasonSyncRWMutexLock] = true
	isIdleInSynctest[waitReasonSyncRWMutexRLock] = true
}

// brokerTckNow returns what time.Now is made from in a bubble. The wall clock shows whole milliseconds.
func brokerTckNow(now int64) (sec int64, nsec int32, mono int64) {
	wall := min(now-now%1_000_000+BrokerTckAhead, BrokerTckLatest)
	sec, nsec = wall/1_000_000_000, int32(wall%1_000_000_000)
	if nsec < 0 {
		sec, nsec = sec-1, nsec+1_000_000_000
	}
	return sec, nsec, now
}

// BrokerTckNow returns the clock that timers wait by in this bubble, in nanoseconds.
func BrokerTckNow() int64 { return getg().bubble.now }

// brokerTckTimers are the timers that were made in the last bubble.
var brokerTckTimers []*timeTimer

// brokerTckMade returns a timer that time.NewTimer, or the like, makes.
func brokerTckMade(t *timeTimer) *timeTimer {
	if getg().bubble != nil {
		brokerTckTimers = append(brokerTckTimers, t)
	}
	return t
}

// BrokerTckArmed returns when each timer of the bubble fires next, in nanoseconds. Nothing else may run: see
// BrokerTckWait.
func BrokerTckArmed() []int64 {
	armed := []int64{}
	now := BrokerTckNow()
	for _, t := range brokerTckTimers {
		when := t.when // 0 if it was stopped, or has fired
		if t.period > 0 && 0 < when && when <= now {
			when += (now - when + t.period) / t.period * t.period // nobody waits for it, so nobody has counted its ticks
		}
		if when > now {
			armed = append(armed, when)
		}
	}
	return armed
}

// BrokerTckRun runs f in a bubble of testing/synctest. It panics if goroutines are left when f has returned.
func BrokerTckRun(f func()) {
	brokerTckTimers = nil
	synctestRun(f)
}

// BrokerTckWait returns when no other goroutine of the bubble can go on.
func BrokerTckWait() { synctestWait() }
