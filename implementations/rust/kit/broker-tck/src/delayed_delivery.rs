//! Contract `delayed-delivery`: a tracker of the delayed messages of one subscription.

use std::cell::RefCell;
use std::io;

use serde_json::{json, Value};

use crate::{fail, Declaration, Fields, Position, Subject, TimeoutId, Timers};

/// What a tracker is configured with.
#[derive(Clone)]
pub struct Config {
    /// Milliseconds, at least 1; `reset_tick_time` may change it later.
    pub tick: i64,
    /// Whether a message must never be handed out before its time.
    pub strict: bool,
    /// How many messages of one fixed delay are held before reading pauses; 0: never.
    pub lookahead: i64,
}

/// Tracks delayed messages. Times are absolute, in milliseconds. Calls come one at a time.
pub trait Tracker {
    /// Tracks a message. False: it was not taken, the caller dispatches it now.
    fn add_message(&mut self, ledger: i64, entry: i64, deliver_at: i64) -> bool;
    /// Whether a message may be handed out now.
    fn has_message_available(&mut self) -> bool;
    /// Hands out at most so many messages that are due, in the order of their positions.
    fn get_scheduled_messages(&mut self, most: i64) -> Vec<Position>;
    /// Whether the dispatcher must stop reading, because all is delayed alike.
    fn should_pause_all_deliveries(&mut self) -> bool;
    /// Changes the tick time.
    fn reset_tick_time(&mut self, tick: i64);
    /// How many messages are tracked.
    fn number_of_delayed_messages(&self) -> usize;
    /// An estimate of the size of the index in bytes.
    fn buffer_memory_usage(&self) -> usize;
    /// Forgets every message.
    fn clear(&mut self);
    /// Disarms the timer and lets go of everything. It may be called again; no other call follows.
    fn close(&mut self);
    /// A timeout fires. The answer is whether the dispatcher must read now.
    fn fired(&mut self, timeout: TimeoutId) -> bool;
}

struct Adapter<T> {
    timers: Timers,
    tracker: RefCell<T>,
}

impl<T: Tracker> Adapter<T> {
    fn fill(&self, f: &Fields) -> i64 {
        let (entry, step, n, at, apart) = (f.int(1), f.int(2), f.int(3), f.int(4), f.int(5));
        let mut tracker = self.tracker.borrow_mut();
        (0..n).map(|i| i64::from(tracker.add_message(f.int(0), entry + i * step, at + i * apart))).sum()
    }

    fn advance(&self, ms: i64) -> Vec<i64> {
        let mut asked = Vec::new();
        self.timers.advance(ms, |timeout| {
            if self.tracker.borrow_mut().fired(timeout) {
                asked.push(self.timers.now());
            }
        });
        asked
    }
}

impl<T: Tracker> Subject for Adapter<T> {
    fn perform(&self, name: &str, f: &Fields) -> Value {
        match name {
            "adv" => return json!(self.advance(f.int(0))),
            "fill" => return json!(self.fill(f)),
            _ => {}
        }
        let mut tracker = self.tracker.borrow_mut();
        match name {
            "add" => return json!(tracker.add_message(f.int(0), f.int(1), f.int(2))),
            "has" => return json!(tracker.has_message_available()),
            "get" => return json!(tracker.get_scheduled_messages(f.int(0))),
            "pause" => return json!(tracker.should_pause_all_deliveries()),
            "memory" => return json!(tracker.buffer_memory_usage()),
            "stale" => return json!(self.timers.last_cancelled().is_some_and(|timeout| tracker.fired(timeout))),
            "tick" => tracker.reset_tick_time(f.int(0)),
            "jump" => self.timers.jump(f.int(0)),
            "clear" => tracker.clear(),
            "close" => tracker.close(),
            _ => fail("UnknownOperation", name),
        }
        Value::Null
    }

    fn seen(&self) -> Vec<Value> {
        vec![json!(self.tracker.borrow().number_of_delayed_messages()), json!(self.timers.armed())]
    }
}

/// Has broker-tck check trackers that `fresh` makes.
pub fn serve<T: Tracker + 'static>(declared: &Declaration, fresh: impl Fn(Config, Timers) -> T) -> io::Result<()> {
    crate::serve("delayed-delivery", declared, |config| {
        let int = |name: &str| config[name].as_i64().expect("a number of 64 bits");
        let timers = Timers::new(int("clock"));
        let own = Config { tick: int("tick"), strict: config["strict"] == true, lookahead: int("lookahead") };
        Box::new(Adapter { tracker: RefCell::new(fresh(own, timers.clone())), timers })
    })
}
