/**
 * Lets broker-tck check an implementation that is written for Node.js.
 *
 * A program calls `serveDelayedDelivery` or `serveNegativeAcks` with a function that makes its implementation. This
 * module speaks the protocol of broker-tck on standard input and output, and has the clock, the timers, and whatever
 * else the implementation is given. What the program prints by `console.log` goes to standard error.
 *
 * Ids and times have 64 bits, more than a number of JavaScript can hold, so every integer is a `bigint`.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const MOST_FIRINGS = 10_000;
const MILLISECOND = 1_000_000n; // nanoseconds
const IDS_OF_A_REQUEST = 1_000;
const MOST_REDELIVERED = 2n ** 31n - 1n;

/** An error, by the name that rules know it by. */
export class Failure extends Error {
  constructor(name, message = "") {
    super(message);
    this.name = name;
  }
}

/** What a request ends with that the broker did not take. */
export class RequestFailed extends Failure {
  constructor() {
    super("RequestFailed", "the broker did not take it");
  }
}

// ---- Lines

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d+$/;

/** A value of JSON; each whole number is a bigint. */
export function parse(line) {
  const marked = line.replace(TEXT_OR_NUMBER, (found) => (WHOLE.test(found) ? `{"whole":"${found}"}` : found));
  return JSON.parse(marked, (_, value) => (value?.whole === undefined ? value : BigInt(value.whole)));
}

/** JSON of a value; whole numbers may be bigints or numbers. */
export function written(value) {
  if (typeof value === "bigint") return String(value);
  if (value === undefined) return "null";
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${written(each)}`).join(",")}}`;
}

function say(message) {
  writeSync(1, `${written(message)}\n`);
}

// ---- The conversation

/** What `call` returns; the error that it throws, as the protocol has it. */
function attempt(call) {
  try {
    return { value: call() };
  } catch (error) {
    return { error: { error: error.name, message: error.message } };
  }
}

/** The outcome of an operation: its result, then the observables. If these cannot be told, the error is the result. */
function answer(made, [name, ...fields]) {
  if (made.error) return [made.error, null, null];
  const result = attempt(() => made.value.perform(name, fields));
  const seen = attempt(() => made.value.seen());
  return seen.error ? [seen.error, null, null] : [result.error ?? result.value, ...seen.value];
}

/** Speak the protocol until standard input ends, with a new subject for each trace. */
async function serve(contract, declaration, fresh) {
  console.log = console.error;
  say({ protocol: 1, contract, levels: ["operations", "traces"], ...declaration });
  let welcomed = false;
  let made = { error: { error: "NoTrace" } };
  for await (const line of createInterface({ input: process.stdin })) {
    const message = parse(line);
    if (!welcomed) {
      welcomed = true;
      if (message.error) throw new Error(message.error);
    } else if (Array.isArray(message)) {
      say(answer(made, message));
    } else {
      made = attempt(() => fresh(message.config));
    }
  }
}

// ---- Clock and timers

/** A timer that was armed. */
class Timeout {
  constructor(timers, deadline, fire) {
    this.timers = timers;
    this.deadline = deadline;
    this.fire = () => fire(this);
    this.cancelled = false;
  }

  /** Disarm it. A firing that is on its way already may still arrive: see `cancelled`. */
  cancel() {
    const at = this.timers.live.indexOf(this);
    if (at >= 0) {
      this.timers.live.splice(at, 1);
      this.timers.lastCancelled = this;
    }
    this.cancelled = true;
  }
}

/** A clock that moves when it is told to, and the timeouts that wait by it. The unit is the contract's. */
class Timers {
  constructor(now) {
    this.now = now;
    this.live = []; // in the order in which they were armed
  }

  arm(deadline, fire) {
    const timeout = new Timeout(this, deadline, fire);
    this.live.push(timeout);
    return timeout;
  }

  /** Move the clock. Timeouts fire on the way, each at its deadline; of several, the one that was armed first. */
  advance(by) {
    const until = this.now + by;
    for (let first, atOnce = 0; (first = this.first()) && first.deadline <= until; ) {
      atOnce = first.deadline > this.now ? 0 : atOnce + 1;
      if (atOnce > MOST_FIRINGS) throw new Failure("RuntimeError", "the timer fires and fires, and time does not move");
      if (first.deadline > this.now) this.now = first.deadline;
      this.live.splice(this.live.indexOf(first), 1);
      first.fire();
    }
    this.now = until;
  }

  first() {
    return this.live.reduce((first, each) => (first && first.deadline <= each.deadline ? first : each), undefined);
  }

  /** Have the timeout fire all the same that was cancelled last. */
  stale() {
    this.lastCancelled?.fire();
  }

  /** Set the clock. Timeouts wait by one that never jumps, so their deadlines move along. */
  jump(by) {
    this.now += by;
    for (const timeout of this.live) timeout.deadline += by;
  }

  armed() {
    return this.live.map((timeout) => timeout.deadline).sort(ascending);
  }
}

function ascending(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Positions in ascending order. */
function sorted(ids) {
  return [...ids].sort((a, b) => ascending(a[0], b[0]) || ascending(a[1], b[1]));
}

// ---- Contract delayed-delivery

class DelayedDelivery {
  constructor(config, fresh) {
    this.timers = new Timers(config.clock);
    this.asked = []; // the times at which a firing asked for a read
    const newTimeout = (deadline, fired) =>
      this.timers.arm(deadline, (timeout) => {
        if (fired(timeout)) this.asked.push(this.timers.now);
      });
    this.tracker = fresh(config, () => this.timers.now, newTimeout);
  }

  perform(name, fields) {
    const operation = this[`_${name}`];
    if (!operation) throw new Failure("UnknownOperation", name);
    this.asked = [];
    return operation.apply(this, fields);
  }

  seen() {
    return [this.tracker.getNumberOfDelayedMessages(), this.timers.armed()];
  }

  _add(ledger, entry, at) {
    return this.tracker.addMessage(ledger, entry, at);
  }

  _fill(ledger, entry, step, n, at, apart) {
    let taken = 0;
    for (let i = 0n; i < n; i++) taken += this.tracker.addMessage(ledger, entry + i * step, at + i * apart) ? 1 : 0;
    return taken;
  }

  _has() {
    return this.tracker.hasMessageAvailable();
  }

  _get(most) {
    return this.tracker.getScheduledMessages(most);
  }

  _pause() {
    return this.tracker.shouldPauseAllDeliveries();
  }

  _tick(tick) {
    this.tracker.resetTickTime(tick);
  }

  _adv(ms) {
    this.timers.advance(ms);
    return this.asked;
  }

  _jump(by) {
    this.timers.jump(by);
  }

  _stale() {
    this.timers.stale();
    return this.asked.length > 0;
  }

  _memory() {
    return this.tracker.getBufferMemoryUsage();
  }

  _clear() {
    this.tracker.clear();
  }

  _close() {
    this.tracker.close();
  }
}

/**
 * Have broker-tck check trackers of delayed messages.
 *
 * `fresh(config, clock, newTimeout)` makes one. `config` has `tick`, `strict`, `lookahead` and `clock`. `clock()` is
 * the time now, in milliseconds. `newTimeout(deadline, fired)` arms a timeout, and calls `fired(timeout)` then, never
 * inside of a call of the tracker; it answers whether the dispatcher must read now.
 *
 * A tracker has `addMessage(ledger, entry, deliverAt)`, `hasMessageAvailable()`, `getScheduledMessages(most)`,
 * `shouldPauseAllDeliveries()`, `resetTickTime(tick)`, `getNumberOfDelayedMessages()`, `getBufferMemoryUsage()`,
 * `clear()` and `close()`.
 */
export function serveDelayedDelivery(declaration, fresh) {
  return serve("delayed-delivery", declaration, (config) => new DelayedDelivery(config, fresh));
}

// ---- Contract negative-acks

class NegativeAcks {
  constructor(config, fresh) {
    this.timers = new Timers(config.clock * MILLISECOND);
    this.ahead = 0n; // of the wall clock, in milliseconds
    this.failing = false;
    this.inner = []; // what the application does in its next callback
    this.emissions = [];
    const clocks = { wall: () => this.timers.now / MILLISECOND + this.ahead, monotonic: () => this.timers.now };
    const newTimeout = (deadline, fired) => this.timers.arm(deadline, (timeout) => endingHere(() => fired(timeout)));
    this.tracker = fresh(config, clocks, newTimeout, this);
  }

  /** The application's callback, with all ids of a firing. It may call the tracker. */
  onNegativeAcksSend(ids) {
    this.emissions.push({ at: inMs(this.timers.now), ids: sorted(ids), made: [], failed: false });
    const inner = this.inner;
    this.inner = [];
    for (const call of inner) call();
  }

  /** A request to the broker, of at most 1,000 ids. It may throw. */
  redeliverUnacknowledgedMessages(ids) {
    const last = this.emissions.at(-1);
    if (this.failing) {
      this.failing = false;
      last.failed = true;
      throw new RequestFailed();
    }
    last.made.push(sorted(ids));
  }

  perform(name, fields) {
    const operation = this[`_${name}`];
    if (!operation) throw new Failure("UnknownOperation", name);
    return operation.apply(this, fields);
  }

  seen() {
    return [this.tracker.getNackedMessagesCount(), this.timers.armed().map(inMs)];
  }

  _nack(ledger, entry, count) {
    this.tracker.addMessage({ ledger, entry, batchIndex: -1n, chunks: [] }, count);
  }

  _id(ledger, entry) {
    this.tracker.add({ ledger, entry, batchIndex: -1n, chunks: [] });
  }

  _batch(ledger, entry, batchIndex, count) {
    this.tracker.addMessage({ ledger, entry, batchIndex, chunks: [] }, count);
  }

  /** A message in chunks, the last of which is the entry. The ledgers of the earlier ones are lower, two by two. */
  _chunked(ledger, entry, number, count, apart, below = 0n) {
    const chunks = [];
    for (let back = number - 1n; back >= 0n; back--) {
      chunks.push([ledger - ((back + 1n) / 2n) * below, entry - back * apart]);
    }
    this.tracker.addMessage({ ledger, entry, batchIndex: -1n, chunks }, count);
  }

  _spread(ledger, entry, number, count, apart, below) {
    this._chunked(ledger, entry, number, count, apart, below);
  }

  /** Many messages, of several ledgers in turn, with redelivery counts that rise and begin anew. */
  _fill(ledger, entry, step, n, count, ledgers, rising, turns, chunks) {
    for (let i = 0n; i < n; i++) {
      const [at, of] = [entry + (i / ledgers) * step, ledger + (i % ledgers)];
      const risen = count + (i % (turns || n)) * rising;
      const redelivered = rising && risen > MOST_REDELIVERED ? MOST_REDELIVERED : risen;
      if (chunks > 1n) this._chunked(of, at, chunks, redelivered, 1n);
      else this._nack(of, at, redelivered);
    }
  }

  _adv(ms) {
    this.timers.advance(ms * MILLISECOND);
    return this.told();
  }

  _jump(by) {
    this.ahead += by;
  }

  _fail() {
    this.failing = true;
  }

  _inside(what, ledger, entry, count) {
    this.inner.push(what === "close" ? () => this.tracker.close() : () => this._nack(ledger, entry, count));
  }

  _stale() {
    this.timers.stale();
    return this.told();
  }

  _close() {
    this.tracker.close();
  }

  /** What was emitted since it was last asked. */
  told() {
    const told = this.emissions.map((each) => [each.at, each.ids, requests(each)]);
    this.emissions = [];
    return told;
  }
}

/** What a request throws ends where the timer fires. */
function endingHere(call) {
  try {
    call();
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
  }
}

/** A time in milliseconds, rounded up. */
function inMs(nanoseconds) {
  return (nanoseconds + MILLISECOND - 1n) / MILLISECOND;
}

/** The requests of one callback, as the protocol has them. */
function requests({ ids, made, failed }) {
  const [own, requested] = [ids.map(String), sorted(made.flat()).map(String)];
  const sizes = made.map((request) => request.length);
  const fit = sizes.every((size) => size <= IDS_OF_A_REQUEST);
  const known = new Set(own);
  if (!sizes.length || (failed && fit && requested.every((id) => known.has(id)))) return 0;
  if (requested.join(";") !== own.join(";")) return made;
  if (sizes.length === 1) return 1;
  if (fit && sizes.length === Math.ceil(ids.length / IDS_OF_A_REQUEST)) {
    // it does not matter where the ids are cut: the full ones first
    return sizes.map((_, i) => Math.min(IDS_OF_A_REQUEST, ids.length - i * IDS_OF_A_REQUEST));
  }
  return sizes;
}

/**
 * Have broker-tck check trackers of negative acks.
 *
 * `fresh(config, clocks, newTimeout, consumer)` makes one. `config` has `delay_us`, `precision_bits`, `clock`,
 * `backoff_ms` and `multiplier`. `clocks.wall()` is in milliseconds and may jump; `clocks.monotonic()` is in
 * nanoseconds and only goes forward. `newTimeout(deadline, fired)` arms a timeout by the latter. `consumer` has
 * `onNegativeAcksSend(ids)` and `redeliverUnacknowledgedMessages(ids)`, of arrays `[ledger, entry]`.
 *
 * A tracker has `add(id)`, `addMessage(id, redeliveryCount)`, `getNackedMessagesCount()` and `close()`. An `id` has
 * `ledger`, `entry`, `batchIndex` (-1: of no batch) and `chunks` (in ascending order; none: not in chunks).
 */
export function serveNegativeAcks(declaration, fresh) {
  return serve("negative-acks", declaration, (config) => new NegativeAcks(config, fresh));
}
