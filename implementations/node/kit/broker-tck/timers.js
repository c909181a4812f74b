/** A clock that moves when it is told to, and the timeouts that wait by it. */
import { Failure } from "./rig.js";

const MOST_FIRINGS = 10_000;
const LAST_TIME = 2n ** 63n - 1n;

/** A timer that was armed. */
class Timeout {
  constructor(timers, deadline, fired) {
    this.timers = timers;
    this.deadline = deadline;
    this.fired = fired;
    this.cancelled = false;
  }

  /** Disarm it. A firing that is on its way already may still arrive: see `cancelled`. */
  cancel() {
    if (this.timers.disarm(this)) this.timers.lastCancelled = this;
    this.cancelled = true;
  }
}

/** The clock and the timeouts of one trace. The unit is the contract's. */
export class Timers {
  constructor(now) {
    this.now = now;
    this.live = []; // in the order in which they were armed
    this.lastCancelled = undefined;
  }

  /** Arm a timeout. It calls `fired(timeout)` at the deadline. */
  arm(deadline, fired) {
    const timeout = new Timeout(this, deadline, fired);
    this.live.push(timeout);
    return timeout;
  }

  /** Take a timeout out. Returns whether it was armed. */
  disarm(timeout) {
    const at = this.live.indexOf(timeout);
    if (at >= 0) this.live.splice(at, 1);
    return at >= 0;
  }

  /** Move the clock. Timeouts fire on the way, each at its deadline; of several, the one that was armed first. */
  advance(by) {
    const until = this.now + by;
    let atOnce = 0;
    for (let next = this.next(); next && next.deadline <= until; next = this.next()) {
      atOnce = next.deadline > this.now ? 0 : atOnce + 1;
      if (atOnce > MOST_FIRINGS) throw new Failure("RuntimeError", "the timer fires and fires, and time does not move");
      if (next.deadline > this.now) this.now = next.deadline;
      this.disarm(next);
      next.fired(next);
    }
    this.now = until;
  }

  /** The timeout that fires next; undefined if none is armed. */
  next() {
    return this.live.reduce((first, each) => (first && first.deadline <= each.deadline ? first : each), undefined);
  }

  /** Have the timeout fire all the same that was cancelled last. */
  stale() {
    this.lastCancelled?.fired(this.lastCancelled);
  }

  /** Set the clock. Timeouts wait by one that never jumps, so their deadlines move along. */
  jump(by) {
    this.now += by;
    for (const timeout of this.live) {
      const moved = timeout.deadline + by;
      timeout.deadline = moved < LAST_TIME ? moved : LAST_TIME; // no time is later
    }
  }

  /** The deadlines, in ascending order. */
  armed() {
    return this.live.map((timeout) => timeout.deadline).sort(ascending);
  }
}

/** The order of bigints, for `sort`. */
export function ascending(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
