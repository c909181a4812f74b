//! A small tracker that conforms: put yours in its place.

use std::cell::RefCell;
use std::collections::BTreeMap;

use broker_tck::negative_acks::{Config, MessageId, RequestFailed, Tracker, World};
use broker_tck::{Position, TimeoutId};

const IDS_OF_A_REQUEST: usize = 1_000;
const NANOSECONDS_OF_A_MILLISECOND: i64 = 1_000_000;

/// Tracks messages in a sorted map, by the key of the bucket in which they become due.
pub struct Buckets {
    config: Config,
    world: World,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    held: BTreeMap<(i64, Position), Vec<Position>>, // the chunks of each message; none: it has no chunks
    armed: Option<(TimeoutId, i64)>,
    is_closed: bool,
}

impl Buckets {
    pub fn new(config: Config, world: World) -> Self {
        Buckets { config, world, state: RefCell::default() }
    }

    fn delay(&self, redelivery_count: i64) -> i64 {
        self.config.backoff(redelivery_count).unwrap_or_else(|| (self.config.delay_us / 1000).max(100))
    }

    /// The key of an instant's bucket: the instant with its low bits cleared.
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

    /// Removes what is due, and arms the timer for the rest. Returns each id once, those of chunks as well.
    fn take_due(&self, state: &mut State) -> Vec<Position> {
        let now = self.world.wall();
        let mut ids = Vec::new();
        while let Some(first) = state.held.first_entry().filter(|first| first.key().0 <= now) {
            let ((_, position), chunks) = first.remove_entry();
            ids.push(position);
            ids.extend(chunks);
        }
        if let Some((&(key, _), _)) = state.held.first_key_value() {
            self.arm(state, key - now);
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
        let chunks = state.held.entry((self.key(self.world.wall() + wait), id.position)).or_default();
        if !id.chunks.is_empty() {
            *chunks = id.chunks;
        }
        self.arm(state, wait);
    }

    fn nacked_messages_count(&self) -> usize {
        self.state.borrow().held.len()
    }

    fn close(&self) {
        let state = &mut *self.state.borrow_mut();
        state.is_closed = true;
        state.held.clear();
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
