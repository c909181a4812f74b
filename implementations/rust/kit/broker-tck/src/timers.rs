//! A clock that moves when it is told to, and the timeouts that wait by it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::fail;

const MOST_FIRINGS: u32 = 10_000;

/// Names a timeout that was armed. A tracker keeps it to cancel it, and to know it when it fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeoutId(u64);

/// The clock and the timer of a trace. Clones are the same clock. The unit is the contract's: milliseconds since the
/// epoch for `delayed-delivery`, nanoseconds that only go forward for `negative-acks`.
#[derive(Clone)]
pub struct Timers(Rc<State>);

struct State {
    now: Cell<i64>,
    made: Cell<u64>,
    live: RefCell<Vec<(i64, TimeoutId)>>, // in the order in which they were armed
    last_cancelled: Cell<Option<TimeoutId>>,
}

impl Timers {
    pub(crate) fn new(now: i64) -> Self {
        Timers(Rc::new(State {
            now: Cell::new(now),
            made: Cell::new(0),
            live: RefCell::default(),
            last_cancelled: Cell::new(None),
        }))
    }

    /// The time now. A tracker has no other source of time.
    pub fn now(&self) -> i64 {
        self.0.now.get()
    }

    /// Arms a timeout. The tracker's `fired` is called at that time, never inside of another call of the tracker. A
    /// time that has passed fires when the clock moves.
    pub fn arm(&self, deadline: i64) -> TimeoutId {
        self.0.made.set(self.0.made.get() + 1);
        let id = TimeoutId(self.0.made.get());
        self.0.live.borrow_mut().push((deadline, id));
        id
    }

    /// Disarms a timeout. A firing that is on its way already may still arrive: compare its id.
    pub fn cancel(&self, timeout: TimeoutId) {
        let mut live = self.0.live.borrow_mut();
        if let Some(at) = live.iter().position(|&(_, id)| id == timeout) {
            live.remove(at);
            self.0.last_cancelled.set(Some(timeout));
        }
    }

    /// Moves the clock. Timeouts fire on the way, each at its deadline; of several, the one that was armed first.
    pub(crate) fn advance(&self, by: i64, mut fired: impl FnMut(TimeoutId)) {
        let until = self.now() + by;
        let mut at_once = 0;
        while let Some((deadline, id)) = self.first().filter(|&(deadline, _)| deadline <= until) {
            at_once = if deadline > self.now() { 0 } else { at_once + 1 };
            if at_once > MOST_FIRINGS {
                fail("RuntimeError", "the timer fires and fires, and time does not move");
            }
            self.0.now.set(deadline.max(self.now()));
            self.0.live.borrow_mut().retain(|&(_, other)| other != id);
            fired(id);
        }
        self.0.now.set(until);
    }

    fn first(&self) -> Option<(i64, TimeoutId)> {
        self.0.live.borrow().iter().min_by_key(|(deadline, _)| *deadline).copied()
    }

    /// Sets the clock. Timeouts wait by one that never jumps, so their deadlines move along.
    pub(crate) fn jump(&self, by: i64) {
        self.0.now.set(self.now() + by);
        for (deadline, _) in self.0.live.borrow_mut().iter_mut() {
            *deadline = deadline.saturating_add(by); // no time is later
        }
    }

    pub(crate) fn last_cancelled(&self) -> Option<TimeoutId> {
        self.0.last_cancelled.get()
    }

    pub(crate) fn armed(&self) -> Vec<i64> {
        let mut deadlines: Vec<i64> = self.0.live.borrow().iter().map(|&(deadline, _)| deadline).collect();
        deadlines.sort_unstable();
        deadlines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt;

    #[test]
    fn timeouts_fire_in_order_at_their_deadlines() {
        let timers = Timers::new(100);
        timers.arm(130);
        let first = timers.arm(110);
        let mut fired = Vec::new();
        timers.advance(25, |timeout| {
            fired.push(timers.now());
            if timeout == first {
                timers.arm(90); // it has passed: it fires now, and time does not go back
                timers.arm(120);
            }
        });
        assert_eq!((fired, timers.now(), timers.armed()), (vec![110, 110, 120], 125, vec![130]));
    }

    #[test]
    fn cancelled_timeout_does_not_fire() {
        let timers = Timers::new(0);
        let timeout = timers.arm(10);
        timers.cancel(timeout);
        timers.cancel(timeout);
        timers.advance(20, |_| panic!("it was cancelled"));
        assert_eq!(timers.last_cancelled(), Some(timeout));
    }

    #[test]
    fn no_deadline_is_later_than_the_last_time() {
        let timers = Timers::new(0);
        timers.arm(i64::MAX - 1);
        timers.jump(5);
        assert_eq!((timers.now(), timers.armed()), (5, vec![i64::MAX]));
    }

    #[test]
    fn timer_that_fires_for_ever_is_an_error() {
        let timers = Timers::new(0);
        timers.arm(0);
        let again = |_| {
            timers.arm(0);
        };
        assert_eq!(attempt(|| timers.advance(1, again)).unwrap_err()["error"], "RuntimeError");
    }
}
