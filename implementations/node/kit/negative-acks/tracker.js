const IDS_OF_A_REQUEST = 1_000;
const NANOSECONDS_OF_A_MILLISECOND = 1_000_000n;

/** Tracks messages by the bucket in which they become due. It conforms: make it yours. */
export class Tracker {
  constructor(config, clocks, newTimeout, consumer) {
    Object.assign(this, { config, clocks, newTimeout, consumer, buckets: new Map(), isClosed: false });
  }

  add(id) {
    this.addMessage(id, 0n);
  }

  addMessage({ ledger, entry, chunks }, redeliveryCount) {
    if (this.isClosed) return;
    const delay = this.delay(redeliveryCount);
    const key = ((this.clocks.wall() + delay) >> this.config.precision_bits) << this.config.precision_bits;
    if (!this.buckets.has(key)) this.buckets.set(key, new Map());
    this.buckets.get(key).set(`${ledger}:${entry}`, chunks.length ? chunks : [[ledger, entry]]);
    this.arm(delay);
  }

  getNackedMessagesCount() {
    return [...this.buckets.values()].reduce((sum, bucket) => sum + bucket.size, 0);
  }

  close() {
    this.isClosed = true;
    this.buckets.clear();
    this.disarm();
  }

  delay(redeliveryCount) {
    const { backoff_ms: delays, multiplier, delay_us: delay } = this.config;
    if (delays) return delays[Math.min(Number(redeliveryCount), delays.length - 1)];
    if (!multiplier) return delay / 1000n > 100n ? delay / 1000n : 100n;
    const [first, longest, factor] = multiplier.map(Number);
    return first === 0 ? 0n : BigInt(Math.trunc(Math.min(first * factor ** Number(redeliveryCount), longest)));
  }

  /** Have the timer fire after so many milliseconds, unless it fires sooner. */
  arm(delay) {
    const deadline = this.clocks.monotonic() + delay * NANOSECONDS_OF_A_MILLISECOND;
    if (this.timeout?.deadline <= deadline) return;
    this.disarm();
    this.timeout = this.newTimeout(deadline, (timeout) => this.fired(timeout));
  }

  disarm() {
    this.timeout?.cancel();
    this.timeout = undefined;
  }

  /** Take the buckets that are due, arm for the next one, and only then call. */
  fired(timeout) {
    if (timeout.cancelled) return;
    this.timeout = undefined;
    const now = this.clocks.wall();
    const due = [...this.buckets.keys()].filter((key) => key <= now);
    const emitted = due.flatMap((key) => [...this.buckets.get(key).values()].flat());
    for (const key of due) this.buckets.delete(key);
    const next = [...this.buckets.keys()].reduce((least, key) => (least < key ? least : key), undefined);
    if (next !== undefined) this.arm(next - now);
    const ids = [...new Map(emitted.map((id) => [String(id), id])).values()];
    if (ids.length) this.consumer.onNegativeAcksSend(ids);
    for (let from = 0; from < ids.length; from += IDS_OF_A_REQUEST) {
      this.consumer.redeliverUnacknowledgedMessages(ids.slice(from, from + IDS_OF_A_REQUEST));
    }
  }
}
