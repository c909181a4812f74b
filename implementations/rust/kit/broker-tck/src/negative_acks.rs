//! Contract `negative-acks`: a tracker of messages that a consumer could not process.
//!
//! A [`World`] and a [`Tracker`] stay in one thread, and the compiler sees to that. So the rig makes no call from another
//! thread: leave the capability `threads` out.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use serde_json::{json, Value};

use crate::{fail, Declaration, Fields, Position, Subject, TimeoutId, Timers};

const MILLISECOND: i64 = 1_000_000; // nanoseconds
const IDS_OF_A_REQUEST: usize = 1_000;
const MOST_REDELIVERED: i64 = i32::MAX as i64;

/// What a tracker is configured with.
#[derive(Clone)]
pub struct Config {
    /// The delay of every nack without a backoff, in microseconds.
    pub delay_us: i64,
    /// How many low bits of an instant in milliseconds do not matter.
    pub precision_bits: u32,
    /// A backoff: the delay in milliseconds by redelivery count, the last for all above.
    pub backoff_ms: Option<Vec<i64>>,
    /// Another: the first and the longest delay in milliseconds, and the factor.
    pub multiplier: Option<(f64, f64, f64)>,
}

impl Config {
    fn new(config: &Value) -> Self {
        let int = |name: &str| config[name].as_i64().expect("a number of 64 bits");
        let delay = |each: &Value| each.as_i64().expect("a delay");
        let real = |each: &Value| each.as_f64().expect("a number");
        let numbers = |given: &Vec<Value>| (real(&given[0]), real(&given[1]), real(&given[2]));
        Config {
            delay_us: int("delay_us"),
            precision_bits: int("precision_bits") as u32,
            backoff_ms: config["backoff_ms"].as_array().map(|delays| delays.iter().map(delay).collect()),
            multiplier: config["multiplier"].as_array().map(numbers),
        }
    }

    /// The delay of the backoff in milliseconds; none: there is no backoff.
    pub fn backoff(&self, redelivery_count: i64) -> Option<i64> {
        if let Some(delays) = &self.backoff_ms {
            return Some(delays[(redelivery_count as usize).min(delays.len() - 1)]);
        }
        let (first, longest, factor) = self.multiplier?;
        let grown = first * factor.powf(redelivery_count as f64);
        Some(if first == 0.0 { 0 } else { grown.min(longest) as i64 })
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
    fn new(clock: i64) -> Self {
        World(Rc::new(State {
            timers: Timers::new(clock * MILLISECOND),
            ahead: Cell::new(0),
            failing: Cell::new(false),
            inner: RefCell::default(),
            emissions: RefCell::default(),
            tracker: RefCell::new(None),
        }))
    }

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
    fn new(world: World, fresh: impl FnOnce(World) -> Rc<dyn Tracker>) -> Self {
        let tracker = fresh(world.clone());
        world.0.tracker.replace(Some(tracker.clone()));
        Adapter { world, tracker }
    }

    fn fire(&self, timeout: TimeoutId) {
        let _ = self.tracker.fired(timeout); // what a request ends with ends where the timer fires
    }

    /// A message in chunks, the last of which is at a place. Each other one is `apart` lower than the next.
    fn chunked(&self, last: Position, chunks: i64, count: i64, apart: i64) {
        self.in_chunks(last, chunks, count, |back| (last.0, last.1 - back * apart));
    }

    /// The same with the earlier chunks in other ledgers, two by two: of the same entry, and of one that is lower.
    fn spread(&self, last: Position, chunks: i64, count: i64, apart: i64, below: i64) {
        self.in_chunks(last, chunks, count, |back| (last.0 - (back + 1) / 2 * below, last.1 - (back + 1) % 2 * apart));
    }

    /// A message in chunks. `earlier` returns the place of the chunk that is so many before the last.
    fn in_chunks(&self, last: Position, chunks: i64, count: i64, earlier: impl Fn(i64) -> Position) {
        let chunks = (1..chunks).rev().map(earlier).chain([last]).collect();
        self.tracker.add_message(MessageId { position: last, batch_index: None, chunks }, count);
    }

    /// Many messages, of several ledgers in turn, with redelivery counts that rise and begin anew.
    fn fill(&self, f: &Fields) {
        let (step, n, count, ledgers, rising) = (f.int(2), f.int(3), f.int(4), f.int(5), f.int(6));
        let turns = if f.int(7) == 0 { n } else { f.int(7) };
        for i in 0..n {
            let position = (f.int(0) + i % ledgers, f.int(1) + i / ledgers * step);
            let risen = if rising == 0 { count } else { (count + i % turns * rising).min(MOST_REDELIVERED) };
            if f.int(8) > 1 {
                self.chunked(position, f.int(8), risen, 1);
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
            "chunked" => self.chunked(at(), f.int(2), f.int(3), f.int(4)),
            "spread" => self.spread(at(), f.int(2), f.int(3), f.int(4), f.int(5)),
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
    crate::serve("negative-acks", declared, |config| {
        let clock = config["clock"].as_i64().expect("a number of 64 bits");
        Box::new(Adapter::new(World::new(clock), |world| Rc::new(fresh(Config::new(config), world))))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn emission(ids: &[Position], made: &[&[Position]], failed: bool) -> Emission {
        Emission { at: 0, ids: ids.to_vec(), made: made.iter().map(|request| request.to_vec()).collect(), failed }
    }

    #[test]
    fn requests_are_told_as_the_protocol_has_it() {
        let many: Vec<Position> = (0..2017).map(|entry| (1, entry)).collect();
        let (a, b) = ((0, 1), (0, 2));
        let cases = [
            (emission(&[a], &[], false), json!(0)),
            (emission(&[a], &[&[a]], false), json!(1)),
            (emission(&[a, b], &[&[a]], true), json!(0)),
            (emission(&[a], &[&[b]], true), json!([[[0, 2]]])),
            (emission(&[a, b], &[&[a]], false), json!([[[0, 1]]])),
            (emission(&[a, b], &[&[b], &[a]], false), json!([1, 1])),
            (emission(&many, &[&many], false), json!(1)),
            (emission(&many, &[&many[..17], &many[17..1017], &many[1017..]], false), json!([1000, 1000, 17])),
            (emission(&many, &[&many[..1001], &many[1001..]], false), json!([1001, 1016])),
        ];
        for (each, want) in cases {
            assert_eq!(each.requests(), want);
        }
    }

    #[test]
    fn times_are_rounded_up_to_milliseconds() {
        assert_eq!([0, 1, 999_999, 1_000_000, 1_000_001].map(in_ms), [0, 1, 1, 1, 2]);
    }

    #[test]
    fn backoff_grows_up_to_the_longest() {
        let config = json!({"delay_us": 0, "precision_bits": 8, "backoff_ms": null, "multiplier": [100, 1000, 3.0]});
        assert_eq!(
            [0, 1, 2, 3, 5_000].map(|count| Config::new(&config).backoff(count).unwrap()),
            [100, 300, 900, 1000, 1000]
        );
        let config = json!({"delay_us": 0, "precision_bits": 8, "backoff_ms": [5, 7], "multiplier": null});
        assert_eq!([0, 1, 2].map(|count| Config::new(&config).backoff(count).unwrap()), [5, 7, 7]);
    }

    /// Counts what it is called.
    #[derive(Default)]
    struct Caller {
        nacked: RefCell<Vec<MessageId>>,
        closed: Cell<u32>,
    }

    impl Tracker for Rc<Caller> {
        fn add(&self, id: MessageId) {
            self.add_message(id, 0);
        }
        fn add_message(&self, id: MessageId, _: i64) {
            self.nacked.borrow_mut().push(id);
        }
        fn nacked_messages_count(&self) -> usize {
            self.nacked.borrow().len()
        }
        fn close(&self) {
            self.closed.set(self.closed.get() + 1);
        }
        fn fired(&self, _: TimeoutId) -> Result<(), RequestFailed> {
            Ok(())
        }
    }

    fn adapter() -> (Rc<Caller>, Adapter) {
        let caller = Rc::new(Caller::default());
        let adapter = Adapter::new(World::new(0), |_| Rc::new(caller.clone()));
        (caller, adapter)
    }

    fn perform(adapter: &Adapter, operation: Value) -> Value {
        let fields = operation.as_array().unwrap();
        adapter.perform(fields[0].as_str().unwrap(), &Fields(&fields[1..]))
    }

    #[test]
    fn what_the_application_does_inside_is_done_once() {
        let (caller, adapter) = adapter();
        perform(&adapter, json!(["inside", "nack", 0, 0, 0]));
        perform(&adapter, json!(["inside", "close", 0, 0, 0]));
        adapter.world.on_negative_acks_send(&[(0, 1)]);
        adapter.world.on_negative_acks_send(&[(0, 1)]);
        assert_eq!((caller.nacked.borrow().len(), caller.closed.get()), (1, 1));
    }

    #[test]
    fn chunks_are_at_the_places_that_the_operation_names() {
        let (caller, adapter) = adapter();
        perform(&adapter, json!(["chunked", 1, 9, 3, 0, 2]));
        perform(&adapter, json!(["spread", 7, 9, 4, 0, 2, 1]));
        let chunks: Vec<_> = caller.nacked.borrow().iter().map(|id| id.chunks.clone()).collect();
        assert_eq!(chunks, [vec![(1, 5), (1, 7), (1, 9)], vec![(5, 9), (6, 7), (6, 9), (7, 9)]]);
    }

    #[test]
    fn request_that_fails_is_told_once() {
        let (_, adapter) = adapter();
        perform(&adapter, json!(["fail"]));
        let ids = [(0, 1)];
        for _ in 0..2 {
            adapter.world.on_negative_acks_send(&ids);
            let _ = adapter.world.redeliver_unacknowledged_messages(&ids);
        }
        assert_eq!(perform(&adapter, json!(["adv", 0])), json!([[0, [[0, 1]], 0], [0, [[0, 1]], 1]]));
    }
}
