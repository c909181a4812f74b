/**
 * Contract `negative-acks`: a tracker of messages that a consumer could not process.
 *
 * A tracker of JavaScript has one thread, so no call inside the callback comes from another one: leave the capability
 * `threads` out.
 */
import { Failure, serve } from "./rig.js";
import { ascending, Timers } from "./timers.js";

const MILLISECOND = 1_000_000n; // nanoseconds
const IDS_OF_A_REQUEST = 1_000;
const MOST_REDELIVERED = 2n ** 31n - 1n;

/** What a request throws that the broker did not take. */
export class RequestFailed extends Failure {
  constructor() {
    super("RequestFailed", "the broker did not take it");
  }
}

/** The application, and the broker behind it. */
class Consumer {
  constructor(timers) {
    this.timers = timers;
    this.failing = false; // whether the next request throws
    this.inner = []; // what the application does in its next callback
    this.emissions = [];
  }

  /** The application's callback, with all ids of a firing. It may call the tracker. */
  onNegativeAcksSend(ids) {
    this.emissions.push({ at: inMs(this.timers.now), ids: sorted(ids), made: [], failed: false });
    for (const call of this.inner.splice(0)) call();
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

  /** What was emitted since it was last asked. */
  told() {
    return this.emissions.splice(0).map((each) => [each.at, each.ids, requests(each)]);
  }
}

/** A tracker as the subject of a trace. */
export function negativeAcks(config, fresh) {
  const timers = new Timers(config.clock * MILLISECOND);
  const consumer = new Consumer(timers);
  let ahead = 0n; // of the wall clock, in milliseconds
  const clocks = { wall: () => timers.now / MILLISECOND + ahead, monotonic: () => timers.now };
  const newTimeout = (deadline, fired) => timers.arm(deadline, (timeout) => endingHere(() => fired(timeout)));
  const tracker = fresh(config, clocks, newTimeout, consumer);

  function nack(ledger, entry, count) {
    tracker.addMessage({ ledger, entry, batchIndex: -1n, chunks: [] }, count);
  }

  /** Nack a message in chunks. `earlier(back)` is the place of the chunk that is so many before the last. */
  function inChunks(ledger, entry, number, count, earlier) {
    const chunks = [];
    for (let back = number - 1n; back > 0n; back--) chunks.push(earlier(back));
    tracker.addMessage({ ledger, entry, batchIndex: -1n, chunks: [...chunks, [ledger, entry]] }, count);
  }

  function chunked(ledger, entry, number, count, apart) {
    inChunks(ledger, entry, number, count, (back) => [ledger, entry - back * apart]);
  }

  /** The earlier chunks are in other ledgers, two by two: of the same entry, and of one that is lower. */
  function spread(ledger, entry, number, count, apart, below) {
    const earlier = (back) => [ledger - ((back + 1n) / 2n) * below, entry - ((back + 1n) % 2n) * apart];
    inChunks(ledger, entry, number, count, earlier);
  }

  /** Many messages, of several ledgers in turn, with redelivery counts that rise and begin anew. */
  function fill(ledger, entry, step, n, count, ledgers, rising, turns, chunks) {
    for (let i = 0n; i < n; i++) {
      const [at, of] = [entry + (i / ledgers) * step, ledger + (i % ledgers)];
      const risen = count + (i % (turns || n)) * rising;
      const redelivered = rising && risen > MOST_REDELIVERED ? MOST_REDELIVERED : risen;
      if (chunks > 1n) chunked(of, at, chunks, redelivered, 1n);
      else nack(of, at, redelivered);
    }
  }

  return {
    operations: {
      nack,
      id: (ledger, entry) => tracker.add({ ledger, entry, batchIndex: -1n, chunks: [] }),
      batch: (ledger, entry, batchIndex, count) => tracker.addMessage({ ledger, entry, batchIndex, chunks: [] }, count),
      chunked,
      spread,
      fill,
      adv(ms) {
        timers.advance(ms * MILLISECOND);
        return consumer.told();
      },
      jump(by) {
        ahead += by;
      },
      fail() {
        consumer.failing = true;
      },
      inside(what, ledger, entry, count) {
        consumer.inner.push(what === "close" ? () => tracker.close() : () => nack(ledger, entry, count));
      },
      stale() {
        timers.stale();
        return consumer.told();
      },
      close: () => tracker.close(),
    },
    seen: () => [tracker.getNackedMessagesCount(), timers.armed().map(inMs)],
  };
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

/** Positions in ascending order. */
function sorted(ids) {
  return [...ids].sort((a, b) => ascending(a[0], b[0]) || ascending(a[1], b[1]));
}

/** The requests of one callback, as the protocol has them. */
export function requests({ ids, made, failed }) {
  const own = ids.map(String);
  const requested = sorted(made.flat()).map(String);
  const sizes = made.map((request) => request.length);
  const fit = sizes.every((size) => size <= IDS_OF_A_REQUEST);
  const known = new Set(own);
  if (sizes.length === 0 || (failed && fit && requested.every((id) => known.has(id)))) return 0;
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
 * `fresh(config, clocks, newTimeout, consumer)` makes one. `config` has `delay_us` and `precision_bits`, and for a
 * backoff either `backoff_ms`, the delay by redelivery count, or `multiplier`, the first and the longest delay and the
 * factor. `clocks.wall()` is in milliseconds and may jump; `clocks.monotonic()` is in nanoseconds and never goes back.
 * `newTimeout(deadline, fired)` arms a timeout by the latter. `consumer` has `onNegativeAcksSend(ids)` and
 * `redeliverUnacknowledgedMessages(ids)`, of arrays `[ledger, entry]`.
 *
 * A tracker has `add(id)`, `addMessage(id, redeliveryCount)`, `getNackedMessagesCount()` and `close()`. An `id` has
 * `ledger`, `entry`, `batchIndex` (-1: of no batch) and `chunks` (in ascending order; none: not in chunks). Every whole
 * number that a tracker is given is a bigint.
 */
export function serveNegativeAcks(declaration, fresh) {
  return serve("negative-acks", declaration, (config) => negativeAcks(config, fresh));
}
