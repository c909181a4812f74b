package brokertck

import (
	"slices"
	"testing"
)

func TestTimeoutsFireInOrderAtTheirDeadlines(t *testing.T) {
	wheel := timers{now: 100}
	var fired []int64
	note := func(*Timeout) { fired = append(fired, wheel.now) }
	wheel.arm(130, note)
	wheel.arm(110, func(*Timeout) {
		note(nil)
		wheel.arm(90, note) // it has passed: it fires now, and time does not go back
		wheel.arm(120, note)
	})
	wheel.advance(25)
	if want := []int64{110, 110, 120}; !slices.Equal(fired, want) || wheel.now != 125 {
		t.Errorf("fired at %v, now %d", fired, wheel.now)
	}
	if armed := wheel.armed(); !slices.Equal(armed, []int64{130}) {
		t.Errorf("armed %v", armed)
	}
}

func TestCancelledTimeoutFiresOnlyIfItIsStale(t *testing.T) {
	var wheel timers
	fired := 0
	timeout := wheel.arm(10, func(timeout *Timeout) {
		if fired++; !timeout.Cancelled() {
			t.Error("it does not know that it was cancelled")
		}
	})
	timeout.Cancel()
	timeout.Cancel()
	wheel.advance(20)
	if fired != 0 || len(wheel.armed()) != 0 {
		t.Errorf("fired %d times", fired)
	}
	if wheel.stale(); fired != 1 {
		t.Errorf("stale fired %d times", fired)
	}
}

func TestTimerThatFiresForEverIsAFailure(t *testing.T) {
	var wheel timers
	var again func(*Timeout)
	again = func(*Timeout) { wheel.arm(0, again) }
	again(nil)
	failure, ok := Attempt(func() any { wheel.advance(1); return nil }).(Failure)
	if !ok || failure.Name != "RuntimeError" {
		t.Errorf("%v", failure)
	}
}
