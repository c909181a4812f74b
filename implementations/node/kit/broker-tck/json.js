/** JSON whose whole numbers are bigints: ids and times have 64 bits, more than a number of JavaScript can hold. */

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d+$/;

/** The value of a line; each whole number is a bigint. */
export function parse(line) {
  const marked = line.replace(TEXT_OR_NUMBER, (found) => (WHOLE.test(found) ? `{"whole":"${found}"}` : found));
  return JSON.parse(marked, (_, value) => (value?.whole === undefined ? value : BigInt(value.whole)));
}

/** A value as JSON; whole numbers may be bigints or numbers. */
export function stringify(value) {
  if (typeof value === "bigint") return String(value);
  if (value === undefined || value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(stringify).join(",")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${stringify(each)}`).join(",")}}`;
}
