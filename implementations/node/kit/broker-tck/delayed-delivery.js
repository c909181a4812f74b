/** Contract `delayed-delivery`: a tracker of the delayed messages of one subscription. */
import { serve } from "./rig.js";
import { Timers } from "./timers.js";

/** A tracker as the subject of a trace. */
export function delayedDelivery(config, fresh) {
  const timers = new Timers(config.clock);
  let asked; // the times at which a firing asked for a read
  const newTimeout = (deadline, fired) =>
    timers.arm(deadline, (timeout) => {
      if (fired(timeout)) asked.push(timers.now);
    });
  const tracker = fresh(config, () => timers.now, newTimeout);

  function askedDuring(move) {
    asked = [];
    move();
    return asked;
  }

  function fill(ledger, entry, step, n, at, apart) {
    let taken = 0;
    for (let i = 0n; i < n; i++) taken += tracker.addMessage(ledger, entry + i * step, at + i * apart) ? 1 : 0;
    return taken;
  }

  return {
    operations: {
      add: (ledger, entry, at) => tracker.addMessage(ledger, entry, at),
      fill,
      has: () => tracker.hasMessageAvailable(),
      get: (most) => tracker.getScheduledMessages(most),
      pause: () => tracker.shouldPauseAllDeliveries(),
      tick: (tick) => tracker.resetTickTime(tick),
      adv: (ms) => askedDuring(() => timers.advance(ms)),
      jump: (by) => timers.jump(by),
      stale: () => askedDuring(() => timers.stale()).length > 0,
      memory: () => tracker.getBufferMemoryUsage(),
      clear: () => tracker.clear(),
      close: () => tracker.close(),
    },
    seen: () => [tracker.getNumberOfDelayedMessages(), timers.armed()],
  };
}

/**
 * Have broker-tck check trackers of delayed messages.
 *
 * `fresh(config, clock, newTimeout)` makes one. `config` has `tick`, `strict` and `lookahead`. `clock()` is the time
 * now, in milliseconds: a tracker has no other source of time. `newTimeout(deadline, fired)` arms a timeout, and calls
 * `fired(timeout)` then, never inside of a call of the tracker; it answers whether the dispatcher must read now.
 *
 * A tracker has `addMessage(ledger, entry, deliverAt)`, `hasMessageAvailable()`, `getScheduledMessages(most)`,
 * `shouldPauseAllDeliveries()`, `resetTickTime(tick)`, `getNumberOfDelayedMessages()`, `getBufferMemoryUsage()`,
 * `clear()` and `close()`. A position is an array `[ledger, entry]`. Every whole number that a tracker is given is a
 * bigint.
 */
export function serveDelayedDelivery(declaration, fresh) {
  return serve("delayed-delivery", declaration, (config) => delayedDelivery(config, fresh));
}
