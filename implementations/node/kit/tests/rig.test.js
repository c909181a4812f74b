import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, stringify } from "../broker-tck/json.js";
import { delayedDelivery } from "../broker-tck/delayed-delivery.js";
import { negativeAcks, requests } from "../broker-tck/negative-acks.js";
import { converse, Failure } from "../broker-tck/rig.js";
import { Timers } from "../broker-tck/timers.js";

test("a whole number keeps its 64 bits, and another is a number", () => {
  const line = '{"a":[9223372036854775807,-9223372036854775808,2.5,"7",true,null]}';
  const read = parse(line);
  assert.deepEqual(read, { a: [2n ** 63n - 1n, -(2n ** 63n), 2.5, "7", true, null] });
  assert.equal(stringify(read), line);
});

/** What is said to some lines; "bad" fails, and "worse" throws. */
async function said(...asked) {
  const lines = [];
  const operations = {
    echo: (number) => number,
    bad: () => {
      throw new Failure("IllegalArgumentException", "it is bad");
    },
    worse: () => undefined.method(),
  };
  const fresh = (config) => {
    if (config.tick === 0n) throw new Failure("IllegalArgumentException", "tick is 0");
    return { operations, seen: () => [7] };
  };
  await converse(asked, (line) => lines.push(line), { protocol: 1 }, fresh);
  return lines;
}

test("each operation is answered", async () => {
  const asked = [
    '{"protocol":1,"level":"traces"}',
    '{"config":{"tick":1}}',
    '["echo",9223372036854775807]',
    '["bad"]',
    '["constructor"]',
    '{"config":{"tick":0}}',
    '["echo",1]',
  ];
  assert.deepEqual(await said(...asked), [
    '{"protocol":1}',
    "[9223372036854775807,7]",
    '[{"error":"IllegalArgumentException","message":"it is bad"},7]',
    '[{"error":"UnknownOperation","message":"constructor"},7]',
    '[{"error":"IllegalArgumentException","message":"tick is 0"}]',
  ]);
});

test("an error that nobody asked for has its line", async () => {
  const [, answer] = await said('{"protocol":1}', '{"config":{"tick":1}}', '["worse"]');
  assert.match(answer, /"error":"TypeError","message":".* \(rig\.test\.js:\d+\)"/);
});

test("an error of the kit ends the program", async () => {
  await assert.rejects(said('{"protocol":1,"error":"no such contract"}'), { message: "no such contract" });
});

test("timeouts fire in order, at their deadlines", () => {
  const timers = new Timers(100n);
  const fired = [];
  const note = () => fired.push(timers.now);
  timers.arm(130n, note);
  timers.arm(110n, () => {
    note();
    timers.arm(90n, note); // it has passed: it fires now, and time does not go back
    timers.arm(120n, note);
  });
  timers.advance(25n);
  assert.deepEqual([fired, timers.now, timers.armed()], [[110n, 110n, 120n], 125n, [130n]]);
});

test("a timeout that was cancelled fires only if it is stale", () => {
  const timers = new Timers(0n);
  const fired = [];
  const timeout = timers.arm(10n, ({ cancelled }) => fired.push(cancelled));
  timeout.cancel();
  timeout.cancel();
  timers.advance(20n);
  assert.deepEqual(fired, []);
  timers.stale();
  assert.deepEqual(fired, [true]);
});

test("no deadline is later than the last time", () => {
  const timers = new Timers(0n);
  timers.arm(2n ** 63n - 2n, () => {});
  timers.jump(5n);
  assert.deepEqual(timers.armed(), [2n ** 63n - 1n]);
});

test("a timer that fires for ever is an error", () => {
  const timers = new Timers(0n);
  const again = () => timers.arm(0n, again);
  again();
  assert.throws(() => timers.advance(1n), { name: "RuntimeError" });
});

test("a firing that asks for a read is told", () => {
  const fresh = (_, clock, newTimeout) => ({ addMessage: (ledger, entry, at) => newTimeout(at, () => entry === 1n) });
  const { operations } = delayedDelivery({ clock: 0n }, fresh);
  operations.add(0n, 0n, 1n);
  operations.add(0n, 1n, 2n);
  assert.deepEqual(operations.adv(3n), [2n]);
  assert.deepEqual(operations.adv(3n), []);
});

test("requests are told as the protocol has it", () => {
  const many = Array.from({ length: 2017 }, (_, entry) => [1n, BigInt(entry)]);
  const [a, b] = [
    [0n, 1n],
    [0n, 2n],
  ];
  for (const [ids, made, failed, want] of [
    [[a], [], false, 0],
    [[a], [[a]], false, 1],
    [[a, b], [[a]], true, 0],
    [[a], [[b]], true, [[b]]],
    [[a, b], [[a]], false, [[a]]],
    [[a, b], [[b], [a]], false, [1, 1]],
    [many, [many], false, 1],
    [many, [many.slice(0, 17), many.slice(17, 1017), many.slice(1017)], false, [1000, 1000, 17]],
    [many, [many.slice(0, 1001), many.slice(1001)], false, [1001, 1016]],
  ]) {
    assert.deepEqual(requests({ ids, made, failed }), want);
  }
});

/** A subject, its consumer, and what its tracker was called. */
function nacks() {
  const calls = [];
  let given;
  const subject = negativeAcks({ clock: 0n }, (config, clocks, newTimeout, consumer) => {
    given = consumer;
    return { addMessage: ({ chunks }) => calls.push(chunks), close: () => calls.push("close") };
  });
  return { ...subject.operations, consumer: given, calls };
}

test("what the application does inside is done once", () => {
  const { inside, consumer, calls } = nacks();
  inside("nack", 0n, 0n, 0n);
  inside("close", 0n, 0n, 0n);
  for (let i = 0; i < 2; i++) consumer.onNegativeAcksSend([[0n, 1n]]);
  assert.deepEqual(calls, [[], "close"]);
});

test("chunks are at the places that the operation names", () => {
  const { chunked, spread, calls } = nacks();
  chunked(1n, 9n, 3n, 0n, 2n);
  spread(7n, 9n, 4n, 0n, 2n, 1n);
  assert.equal(calls.join(" "), "1,5,1,7,1,9 5,9,6,7,6,9,7,9");
});

test("a request that fails is told once", () => {
  const { fail, adv, consumer } = nacks();
  const ids = [[0n, 1n]];
  fail();
  consumer.onNegativeAcksSend(ids);
  assert.throws(() => consumer.redeliverUnacknowledgedMessages(ids), { name: "RequestFailed" });
  consumer.onNegativeAcksSend(ids);
  consumer.redeliverUnacknowledgedMessages(ids);
  assert.deepEqual(adv(0n), [
    [0n, ids, 0],
    [0n, ids, 1],
  ]);
});
