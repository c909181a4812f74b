//! Contract `negative-acks`: a tracker of messages that a consumer could not process.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::{json, Value};

use crate::{converse, fail, Declaration, Fields, Position, Subject, TimeoutId, Timers};

const MILLISECOND: i64 = 1_000_000; // nanoseconds
const IDS_OF_A_REQUEST: usize = 1_000;
const MOST_REDELIVERED: i64 = i32::MAX as i64;

/// What a tracker is configured with.
#[derive(Clone, Deserialize)]
pub struct Config {
    /// The delay of every nack without a backoff, in microseconds.
    pub delay_us: i64,
    /// How many low bits of an instant in milliseconds do not matter.
    pub precision_bits: u32,
    /// What both clocks show at the start, in milliseconds.
    pub clock: i64,
    /// A backoff: the delay in milliseconds by redelivery count, the last for all above.
    pub backoff_ms: Option<Vec<i64>>,
    /// Another: the first and the longest delay in milliseconds, and the factor.
    pub multiplier: Option<(i64, i64, f64)>,
}

impl Config {
    /// The delay of the backoff in milliseconds; none: there is no backoff.
    pub fn backoff(&self, redelivery_count: i64) -> Option<i64> {
        if let Some(delays) = &self.backoff_ms {
            return Some(delays[(redelivery_count as usize).min(delays.len() - 1)]);
        }
        let (first, longest, factor) = self.multiplier?;
        let grown = first as f64 * factor.powf(redelivery_count as f64);
        Some(if first == 0 { 0 } else { grown.min(longest as f64) as i64 })
    }
}

/// What an application nacks.
#[derive(Clone)]
pub struct MessageId {
    pub position: Position,
    /// None: the message is not of a batch.
    pub batch_index: Option<i64>,
    /// The places of all its chunks, in ascending order; none: it is not in chunks.
    pub chunks: Vec<Position>,
}

/// The clocks, the timer and the consumer of a tracker. Clones are the same.
#[derive(Clone)]
pub struct World(Rc<State>);

struct State {
    timers: Timers,
    ahead: Cell<i64>, // of the wall clock, in milliseconds
    failing: Cell<bool>,
    inner: RefCell<Vec<Inside>>,
    emissions: RefCell<Vec<Emission>>,
    tracker: RefCell<Option<Rc<dyn Tracker>>>,
}

/// What the application does in its next callback.
enum Inside {
    Nack(Position, i64),
    Close,
}

/// What one call of the callback came to.
struct Emission {
    at: i64,
    ids: Vec<Position>,
    made: Vec<Vec<Position>>,
    failed: bool,
}

/// The broker did not take a request.
#[derive(Debug)]
pub struct RequestFailed;

impl World {
    /// Milliseconds since the epoch. They may jump, both ways.
    pub fn wall(&self) -> i64 {
        self.0.timers.now() / MILLISECOND + self.0.ahead.get()
    }

    /// Nanoseconds since some moment. They only go forward.
    pub fn monotonic(&self) -> i64 {
        self.0.timers.now()
    }

    /// Arms a timeout for a time of the monotonic clock.
    pub fn arm(&self, deadline: i64) -> TimeoutId {
        self.0.timers.arm(deadline)
    }

    /// Disarms a timeout.
    pub fn cancel(&self, timeout: TimeoutId) {
        self.0.timers.cancel(timeout)
    }

    /// The application's callback, with all ids of a firing. It may call the tracker.
    pub fn on_negative_acks_send(&self, ids: &[Position]) {
        let (at, ids) = (in_ms(self.monotonic()), sorted(ids));
        self.0.emissions.borrow_mut().push(Emission { at, ids, made: vec![], failed: false });
        let tracker = self.tracker();
        for call in self.0.inner.take() {
            match call {
                Inside::Nack(position, count) => tracker.add_message(plain(position), count),
                Inside::Close => tracker.close(),
            }
        }
    }

    /// Sends one request, of at most 1,000 ids.
    pub fn redeliver_unacknowledged_messages(&self, ids: &[Position]) -> Result<(), RequestFailed> {
        let mut emissions = self.0.emissions.borrow_mut();
        let last = emissions.last_mut().expect("the callback comes first");
        if self.0.failing.take() {
            last.failed = true;
            return Err(RequestFailed);
        }
        last.made.push(sorted(ids));
        Ok(())
    }

    fn tracker(&self) -> Rc<dyn Tracker> {
        self.0.tracker.borrow().clone().expect("it is made")
    }
}

/// Tracks messages that were nacked. While it calls its consumer back, other calls may come, so it takes itself by a
/// shared reference: hold no borrow while you call.
pub trait Tracker {
    /// Tracks a message by its id alone.
    fn add(&self, id: MessageId);
    /// Tracks a message that was redelivered so often before.
    fn add_message(&self, id: MessageId, redelivery_count: i64);
    /// How many items are tracked.
    fn nacked_messages_count(&self) -> usize;
    /// Disarms the timer and lets go of everything.
    fn close(&self);
    /// A timeout fires. What a request ends with may be handed on.
    fn fired(&self, timeout: TimeoutId) -> Result<(), RequestFailed>;
}

struct Adapter {
    world: World,
    tracker: Rc<dyn Tracker>,
}

impl Drop for Adapter {
    fn drop(&mut self) {
        self.world.0.tracker.take(); // they refer to each other
    }
}

impl Adapter {
    fn fire(&self, timeout: TimeoutId) {
        let _ = self.tracker.fired(timeout); // what a request ends with ends where the timer fires
    }

    /// A message in chunks, the last of which is the entry. The ledgers of the earlier ones are lower, two by two.
    fn chunked(&self, (ledger, entry): Position, chunks: i64, count: i64, apart: i64, below: i64) {
        let chunks = (0..chunks).rev().map(|back| (ledger - (back + 1) / 2 * below, entry - back * apart)).collect();
        self.tracker.add_message(MessageId { position: (ledger, entry), batch_index: None, chunks }, count);
    }

    /// Many messages, of several ledgers in turn, with redelivery counts that rise and begin anew.
    fn fill(&self, f: &Fields) {
        let (step, n, count, ledgers, rising) = (f.int(2), f.int(3), f.int(4), f.int(5), f.int(6));
        let turns = if f.int(7) == 0 { n } else { f.int(7) };
        for i in 0..n {
            let position = (f.int(0) + i % ledgers, f.int(1) + i / ledgers * step);
            let risen = if rising == 0 { count } else { (count + i % turns * rising).min(MOST_REDELIVERED) };
            if f.int(8) > 1 {
                self.chunked(position, f.int(8), risen, 1, 0);
            } else {
                self.tracker.add_message(plain(position), risen);
            }
        }
    }

    /// What was emitted since it was last asked.
    fn told(&self) -> Value {
        let emissions = self.world.0.emissions.take();
        json!(emissions.iter().map(|each| json!([each.at, each.ids, each.requests()])).collect::<Vec<_>>())
    }
}

impl Subject for Adapter {
    fn perform(&self, name: &str, f: &Fields) -> Value {
        let State { timers, ahead, failing, inner, .. } = &*self.world.0;
        let at = || (f.int(0), f.int(1));
        match name {
            "nack" => self.tracker.add_message(plain(at()), f.int(2)),
            "id" => self.tracker.add(plain(at())),
            "batch" => {
                let id = MessageId { batch_index: Some(f.int(2)), ..plain(at()) };
                self.tracker.add_message(id, f.int(3))
            }
            "chunked" => self.chunked(at(), f.int(2), f.int(3), f.int(4), 0),
            "spread" => self.chunked(at(), f.int(2), f.int(3), f.int(4), f.int(5)),
            "fill" => self.fill(f),
            "jump" => ahead.set(ahead.get() + f.int(0)),
            "fail" => failing.set(true),
            "inside" if f.word(0) == "close" => inner.borrow_mut().push(Inside::Close),
            "inside" => inner.borrow_mut().push(Inside::Nack((f.int(1), f.int(2)), f.int(3))),
            "close" => self.tracker.close(),
            "adv" => {
                timers.advance(f.int(0) * MILLISECOND, |timeout| self.fire(timeout));
                return self.told();
            }
            "stale" => {
                timers.last_cancelled().into_iter().for_each(|timeout| self.fire(timeout));
                return self.told();
            }
            _ => fail("UnknownOperation", name),
        }
        Value::Null
    }

    fn seen(&self) -> Vec<Value> {
        let armed: Vec<i64> = self.world.0.timers.armed().into_iter().map(in_ms).collect();
        vec![json!(self.tracker.nacked_messages_count()), json!(armed)]
    }
}

impl Emission {
    /// The requests, as the protocol has them.
    fn requests(&self) -> Value {
        let requested = sorted(&self.made.concat());
        let sizes: Vec<usize> = self.made.iter().map(Vec::len).collect();
        let fit = sizes.iter().all(|&size| size <= IDS_OF_A_REQUEST);
        let own = requested.iter().all(|position| self.ids.binary_search(position).is_ok());
        if sizes.is_empty() || self.failed && own && fit {
            return json!(0);
        }
        if requested != self.ids {
            return json!(self.made);
        }
        if sizes.len() == 1 {
            return json!(1);
        }
        if fit && sizes.len() == self.ids.len().div_ceil(IDS_OF_A_REQUEST) {
            // it does not matter where the ids are cut: the full ones first
            return json!(self.ids.chunks(IDS_OF_A_REQUEST).map(<[Position]>::len).collect::<Vec<_>>());
        }
        json!(sizes)
    }
}

/// Has broker-tck check trackers that `fresh` makes.
pub fn serve<T: Tracker + 'static>(declared: &Declaration, fresh: impl Fn(Config, World) -> T) -> io::Result<()> {
    converse("negative-acks", declared, |config| {
        let config = Config::deserialize(config).expect("a configuration of negative-acks");
        let world = World(Rc::new(State {
            timers: Timers::new(config.clock * MILLISECOND),
            ahead: Cell::new(0),
            failing: Cell::new(false),
            inner: RefCell::default(),
            emissions: RefCell::default(),
            tracker: RefCell::new(None),
        }));
        let tracker: Rc<dyn Tracker> = Rc::new(fresh(config, world.clone()));
        world.0.tracker.replace(Some(tracker.clone()));
        Box::new(Adapter { world, tracker })
    })
}

fn plain(position: Position) -> MessageId {
    MessageId { position, batch_index: None, chunks: vec![] }
}

fn sorted(ids: &[Position]) -> Vec<Position> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}

/// A time in milliseconds, rounded up.
fn in_ms(nanoseconds: i64) -> i64 {
    (nanoseconds + MILLISECOND - 1) / MILLISECOND
}
