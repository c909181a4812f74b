//! A tracker that is written for speed. It keeps a bitmap of entries for each ledger of each bucket.

mod entries;

use std::cell::RefCell;
use std::collections::BTreeMap;

use broker_tck::negative_acks::{Config, MessageId, RequestFailed, Tracker, World};
use broker_tck::{Position, TimeoutId};
use entries::Entries;

const IDS_OF_A_REQUEST: usize = 1_000;
const NANOSECONDS_OF_A_MILLISECOND: i64 = 1_000_000;

/// Tracks messages by the bucket in which they become due.
pub struct Buckets {
    config: Config,
    world: World,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    buckets: BTreeMap<i64, Bucket>,
    count: usize,
    armed: Option<(TimeoutId, i64)>,
    is_closed: bool,
}

#[derive(Default)]
struct Bucket {
    ledgers: BTreeMap<i64, Entries>,
    chunks: BTreeMap<Position, Vec<Position>>, // of each message in chunks
}

impl Buckets {
    pub fn new(config: Config, world: World) -> Self {
        Buckets { config, world, state: RefCell::default() }
    }

    fn delay(&self, redelivery_count: i64) -> i64 {
        self.config.backoff(redelivery_count).unwrap_or_else(|| (self.config.delay_us / 1000).max(100))
    }

    /// The bucket of an instant: its low bits are cleared.
    fn key(&self, instant: i64) -> i64 {
        instant & -(1 << self.config.precision_bits)
    }

    /// Has the timer fire after so many milliseconds, unless it fires sooner.
    fn arm(&self, state: &mut State, wait: i64) {
        let deadline = self.world.monotonic() + wait * NANOSECONDS_OF_A_MILLISECOND;
        if !state.armed.is_some_and(|(_, armed)| armed <= deadline) {
            self.disarm(state);
            state.armed = Some((self.world.arm(deadline), deadline));
        }
    }

    fn disarm(&self, state: &mut State) {
        if let Some((timeout, _)) = state.armed.take() {
            self.world.cancel(timeout);
        }
    }

    /// Takes the buckets that are due, in the order in which their entries are emitted.
    fn take_due(&self, state: &mut State) -> Vec<Position> {
        let now = self.world.wall();
        let later = state.buckets.split_off(&(now + 1));
        let due = std::mem::replace(&mut state.buckets, later);
        if let Some((&key, _)) = state.buckets.first_key_value() {
            self.arm(state, key - now);
        }
        let mut ids = Vec::new();
        for Bucket { ledgers, chunks } in due.into_values() {
            for (ledger, mut entries) in ledgers {
                state.count -= entries.take(ledger, usize::MAX, &mut ids);
            }
            ids.extend(chunks.into_values().flatten());
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl Tracker for Buckets {
    fn add(&self, id: MessageId) {
        self.add_message(id, 0);
    }

    fn add_message(&self, id: MessageId, redelivery_count: i64) {
        let state = &mut *self.state.borrow_mut();
        if state.is_closed {
            return;
        }
        let wait = self.delay(redelivery_count);
        let (ledger, entry) = id.position;
        let bucket = state.buckets.entry(self.key(self.world.wall() + wait)).or_default();
        state.count += usize::from(bucket.ledgers.entry(ledger).or_default().add(entry));
        if !id.chunks.is_empty() {
            bucket.chunks.insert(id.position, id.chunks);
        }
        self.arm(state, wait);
    }

    fn nacked_messages_count(&self) -> usize {
        self.state.borrow().count
    }

    fn close(&self) {
        let state = &mut *self.state.borrow_mut();
        state.is_closed = true;
        state.buckets.clear();
        state.count = 0;
        self.disarm(state);
    }

    /// Takes what is due, arms for the next bucket, and only then calls.
    fn fired(&self, timeout: TimeoutId) -> Result<(), RequestFailed> {
        let ids = {
            let state = &mut *self.state.borrow_mut();
            if !state.armed.is_some_and(|(armed, _)| armed == timeout) {
                return Ok(()); // it was cancelled
            }
            state.armed = None;
            self.take_due(state)
        };
        if !ids.is_empty() {
            self.world.on_negative_acks_send(&ids);
        }
        ids.chunks(IDS_OF_A_REQUEST).try_for_each(|request| self.world.redeliver_unacknowledged_messages(request))
    }
}
