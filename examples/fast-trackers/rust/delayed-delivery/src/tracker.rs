//! A tracker that is written for speed. It keeps a bitmap of entries for each ledger of each bucket.

mod entries;

use std::collections::BTreeMap;

use broker_tck::delayed_delivery::{Config, Tracker};
use broker_tck::{Position, TimeoutId, Timers};
use entries::Entries;

/// Tracks delayed messages in buckets of time.
pub struct Buckets {
    config: Config,
    width: i64, // of a bucket: the tick, rounded down to a power of two
    timers: Timers,
    buckets: BTreeMap<i64, BTreeMap<i64, Entries>>,
    count: usize,
    is_fixed: bool,
    highest: i64,
    armed: Option<(TimeoutId, i64)>, // the timeout, and the time that it is for
    last_run: Option<i64>,
}

impl Buckets {
    pub fn new(config: Config, timers: Timers) -> Self {
        let width = 1 << config.tick.max(1).ilog2();
        let buckets = BTreeMap::new();
        Buckets { config, width, timers, buckets, count: 0, is_fixed: true, highest: 0, armed: None, last_run: None }
    }

    fn cutoff(&self) -> i64 {
        self.timers.now() + if self.config.strict { 0 } else { self.config.tick }
    }

    fn is_due(&self, key: i64) -> bool {
        key.saturating_add(if self.config.strict { 0 } else { self.width - 1 }) <= self.cutoff()
    }

    fn first(&self) -> Option<i64> {
        self.buckets.first_key_value().map(|(&key, _)| key)
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
        let up = if self.config.strict { at.saturating_add(self.width - 1) } else { at };
        let ledgers = self.buckets.entry(up & -self.width).or_default();
        self.count += usize::from(ledgers.entry(ledger).or_default().add(entry));
        self.update_timer();
        self.is_fixed = self.is_fixed && at >= self.highest - self.config.tick;
        self.highest = self.highest.max(at);
        true
    }

    fn has_message_available(&mut self) -> bool {
        let available = self.first().is_some_and(|key| self.is_due(key));
        if !available {
            self.update_timer();
        }
        available
    }

    fn get_scheduled_messages(&mut self, most: i64) -> Vec<Position> {
        let (mut taken, mut left) = (Vec::new(), usize::try_from(most).unwrap_or(0));
        while left > 0 && self.first().is_some_and(|key| self.is_due(key)) {
            let Some(mut bucket) = self.buckets.first_entry() else { break };
            while let Some(mut ledger) = bucket.get_mut().first_entry().filter(|_| left > 0) {
                let number = *ledger.key();
                left -= ledger.get_mut().take(number, left, &mut taken);
                if ledger.get().is_empty() {
                    ledger.remove();
                }
            }
            if bucket.get().is_empty() {
                bucket.remove();
            }
        }
        self.count -= taken.len();
        taken.sort_unstable();
        taken.dedup(); // one that was due in two buckets comes once
        if self.buckets.is_empty() {
            (self.is_fixed, self.highest) = (true, 0);
        }
        self.update_timer();
        taken
    }

    fn should_pause_all_deliveries(&mut self) -> bool {
        let enough = self.config.lookahead > 0 && self.count as i64 >= self.config.lookahead;
        enough && self.is_fixed && !self.has_message_available()
    }

    fn reset_tick_time(&mut self, tick: i64) {
        self.config.tick = tick;
    }

    fn number_of_delayed_messages(&self) -> usize {
        self.count
    }

    fn buffer_memory_usage(&self) -> usize {
        self.buckets.values().flat_map(BTreeMap::values).map(Entries::bytes).sum()
    }

    fn clear(&mut self) {
        self.buckets.clear();
        self.count = 0;
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
