//! A small tracker that conforms: put yours in its place.

use std::collections::BTreeSet;

use broker_tck::delayed_delivery::{Config, Tracker};
use broker_tck::{Position, TimeoutId, Timers};

/// Tracks delayed messages in a sorted set, each with the key of the bucket of time that it is in.
pub struct Buckets {
    config: Config,
    width: i64, // of a bucket: the tick, rounded down to a power of two
    timers: Timers,
    held: BTreeSet<(i64, Position)>,
    is_fixed: bool,
    highest: i64,
    armed: Option<(TimeoutId, i64)>, // the timeout, and the time that it is for
    last_run: Option<i64>,
}

impl Buckets {
    pub fn new(config: Config, timers: Timers) -> Self {
        let width = 1 << config.tick.max(1).ilog2();
        let held = BTreeSet::new();
        Buckets { config, width, timers, held, is_fixed: true, highest: 0, armed: None, last_run: None }
    }

    fn cutoff(&self) -> i64 {
        self.timers.now() + if self.config.strict { 0 } else { self.config.tick }
    }

    /// The key of a time's bucket: the bucket's first time, or with strict delivery its last one.
    fn key(&self, at: i64) -> i64 {
        let up = if self.config.strict { at.saturating_add(self.width - 1) } else { at };
        up & -self.width
    }

    fn first(&self) -> Option<i64> {
        self.held.first().map(|&(key, _)| key)
    }

    /// Whether the first bucket is due.
    fn is_due(&self) -> bool {
        let rest = if self.config.strict { 0 } else { self.width - 1 };
        self.first().is_some_and(|key| key + rest <= self.cutoff())
    }

    fn disarm(&mut self) {
        if let Some((timeout, _)) = self.armed.take() {
            self.timers.cancel(timeout);
        }
    }

    /// Arms the timer for the first bucket, a tick after the last run at the earliest.
    fn update_timer(&mut self) {
        let Some(key) = self.first() else { return self.disarm() };
        let now = self.timers.now();
        let earliest = key.saturating_add(self.width - 1 - self.config.tick);
        let wake = if self.config.strict { key } else { key.max(earliest) };
        if self.armed.is_some_and(|(_, target)| target == wake) {
            return;
        }
        self.disarm();
        self.last_run = self.last_run.filter(|&run| run <= now); // else the clock was set back
        if wake > now {
            let at = self.last_run.map_or(wake, |run| wake.max(run + self.config.tick));
            self.armed = Some((self.timers.arm(at), wake));
        }
    }
}

impl Tracker for Buckets {
    fn add_message(&mut self, ledger: i64, entry: i64, at: i64) -> bool {
        if at <= self.cutoff() {
            self.is_fixed = false;
            return false;
        }
        self.held.insert((self.key(at), (ledger, entry)));
        self.update_timer();
        self.is_fixed = self.is_fixed && at >= self.highest - self.config.tick;
        self.highest = self.highest.max(at);
        true
    }

    fn has_message_available(&mut self) -> bool {
        let available = self.is_due();
        if !available {
            self.update_timer();
        }
        available
    }

    fn get_scheduled_messages(&mut self, most: i64) -> Vec<Position> {
        let mut taken = Vec::new();
        while (taken.len() as i64) < most && self.is_due() {
            taken.extend(self.held.pop_first().map(|(_, position)| position));
        }
        taken.sort_unstable();
        taken.dedup(); // one that was due in two buckets comes once
        if self.held.is_empty() {
            (self.is_fixed, self.highest) = (true, 0);
        }
        self.update_timer();
        taken
    }

    fn should_pause_all_deliveries(&mut self) -> bool {
        let enough = self.config.lookahead > 0 && self.held.len() as i64 >= self.config.lookahead;
        enough && self.is_fixed && !self.has_message_available()
    }

    fn reset_tick_time(&mut self, tick: i64) {
        self.config.tick = tick;
    }

    fn number_of_delayed_messages(&self) -> usize {
        self.held.len()
    }

    fn buffer_memory_usage(&self) -> usize {
        24 * self.held.len()
    }

    fn clear(&mut self) {
        self.held.clear();
    }

    fn close(&mut self) {
        self.disarm();
    }

    fn fired(&mut self, timeout: TimeoutId) -> bool {
        if !self.armed.is_some_and(|(armed, _)| armed == timeout) {
            return false; // it was cancelled
        }
        self.armed = None;
        self.last_run = Some(self.timers.now());
        true
    }
}
