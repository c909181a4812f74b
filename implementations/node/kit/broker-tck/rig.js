/**
 * Lets broker-tck check an implementation that is written for Node.js.
 *
 * A program calls `serveDelayedDelivery` or `serveNegativeAcks` with a function that makes its implementation. The rig
 * speaks the protocol of broker-tck on standard input and output, and has the clock, the timers, and whatever else the
 * implementation is given. What the program prints by `console.log` goes to standard error.
 */
import { createInterface } from "node:readline";

import { parse, stringify } from "./json.js";

/** An error, by the name that rules know it by. */
export class Failure extends Error {
  constructor(name, message = "") {
    super(message);
    this.name = name;
  }
}

/** What `call` returns; the error that it throws, as the protocol has it. */
function attempt(call) {
  try {
    return { value: call() };
  } catch (error) {
    if (!(error instanceof Error)) return { error: { error: "throw", message: String(error) } };
    return { error: { error: error.name, message: error.message + (error instanceof Failure ? "" : place(error)) } };
  }
}

/** The line that threw, in brackets. */
function place(error) {
  const found = /([^/\\]+:\d+):\d+\)?$/m.exec(error.stack);
  return found ? ` (${found[1]})` : "";
}

/** The answer to an operation: its result, then the observables. If these cannot be told, the error alone. */
function answer(made, [name, ...fields]) {
  if (made.error) return [made.error];
  const { operations, seen } = made.value;
  const result = attempt(() => {
    if (!Object.hasOwn(operations, name)) throw new Failure("UnknownOperation", name);
    return operations[name](...fields);
  });
  const observed = attempt(seen);
  return observed.error ? [observed.error] : [result.error ?? result.value, ...observed.value];
}

/**
 * Speak the protocol until the lines end.
 *
 * `fresh(config)` makes the subject of a trace: `operations` by their names, and `seen()`, the observables in the order
 * of the contract. `say` takes each line that is written.
 */
export async function converse(lines, say, greeting, fresh) {
  let welcomed = false;
  let made;
  say(stringify(greeting));
  for await (const line of lines) {
    const message = parse(line);
    if (!welcomed) {
      welcomed = true;
      if (message.error) throw new Error(message.error);
    } else if (Array.isArray(message)) {
      say(stringify(answer(made, message)));
    } else {
      made = attempt(() => fresh(message.config));
    }
  }
}

/** Have broker-tck check subjects of a contract. */
export function serve(contract, declaration, fresh) {
  console.log = console.error; // what is printed is no answer
  const greeting = { protocol: 1, contract, levels: ["operations", "traces"], ...declaration };
  const say = (line) => process.stdout.write(`${line}\n`);
  return converse(createInterface({ input: process.stdin }), say, greeting, fresh);
}
