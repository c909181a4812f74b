const LAST_TIME = 2n ** 63n - 1n;

/** Tracks delayed messages in a sorted array of [key of the bucket, ledger, entry]. It conforms: make it yours. */
export class Tracker {
  constructor(config, clock, newTimeout) {
    Object.assign(this, { strict: config.strict, lookahead: config.lookahead, tick: config.tick, clock, newTimeout });
    this.width = 1n << BigInt(config.tick.toString(2).length - 1); // the tick, rounded down to a power of two
    this.held = [];
    this.isFixed = true;
    this.highest = 0n;
  }

  addMessage(ledger, entry, at) {
    if (at <= this.cutoff()) {
      this.isFixed = false;
      return false;
    }
    const up = this.strict ? smaller(at + this.width - 1n, LAST_TIME) : at;
    const one = [up & -this.width, ledger, entry];
    const place = this.place(one);
    if (place === this.held.length || compare(this.held[place], one) !== 0) this.held.splice(place, 0, one);
    this.updateTimer();
    this.isFixed = this.isFixed && at >= this.highest - this.tick;
    this.highest = larger(this.highest, at);
    return true;
  }

  hasMessageAvailable() {
    const available = this.held.length > 0 && this.isDue(this.held[0][0]);
    if (!available) this.updateTimer();
    return available;
  }

  getScheduledMessages(most) {
    let count = 0;
    while (count < most && count < this.held.length && this.isDue(this.held[count][0])) count++;
    const taken = this.held.splice(0, count).map(([, ledger, entry]) => [ledger, entry]).sort(compare);
    if (this.held.length === 0) [this.isFixed, this.highest] = [true, 0n];
    this.updateTimer();
    return taken.filter((one, i) => i === 0 || compare(taken[i - 1], one) !== 0); // of two buckets: once
  }

  shouldPauseAllDeliveries() {
    const enough = this.lookahead > 0n && this.held.length >= this.lookahead;
    return enough && this.isFixed && !this.hasMessageAvailable();
  }

  resetTickTime(tick) {
    this.tick = tick;
  }

  getNumberOfDelayedMessages() {
    return this.held.length;
  }

  getBufferMemoryUsage() {
    return 24 * this.held.length;
  }

  clear() {
    this.held = [];
  }

  close() {
    this.timeout?.cancel();
    this.timeout = this.target = undefined;
  }

  cutoff() {
    return this.clock() + (this.strict ? 0n : this.tick);
  }

  isDue(key) {
    return key + (this.strict ? 0n : this.width - 1n) <= this.cutoff();
  }

  /** Arm the timer for the first bucket, a tick after the last run at the earliest. */
  updateTimer() {
    if (this.held.length === 0) return this.close();
    const [key, now] = [this.held[0][0], this.clock()];
    const wake = this.strict ? key : larger(key, key + this.width - 1n - this.tick);
    if (wake === this.target) return;
    this.close();
    if (this.lastRun > now) this.lastRun = undefined; // the clock was set back
    if (wake <= now) return;
    const at = this.lastRun === undefined ? wake : larger(wake, this.lastRun + this.tick);
    this.target = wake;
    this.timeout = this.newTimeout(at, (timeout) => this.fired(timeout));
  }

  fired(timeout) {
    if (timeout.cancelled) return false;
    this.lastRun = this.clock();
    this.timeout = this.target = undefined;
    return true;
  }

  /** The first place of those that do not come before one. */
  place(one) {
    let [low, high] = [0, this.held.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.held[middle], one) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function compare(a, b) {
  const at = a.findIndex((each, i) => each !== b[i]);
  return at < 0 ? 0 : a[at] < b[at] ? -1 : 1;
}

const larger = (a, b) => (a > b ? a : b);
const smaller = (a, b) => (a < b ? a : b);
