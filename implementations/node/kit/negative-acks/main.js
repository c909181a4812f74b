/** Lets broker-tck check a tracker of negative acks. */
import { serveNegativeAcks } from "./broker-tck/negative-acks.js";
import { Tracker } from "./tracker.js";

const declaration = {
  profiles: ["pip-393-spec"],
  capabilities: { precision_bits: 62, chunk_ledgers: true },
  software: "my tracker 0.1",
};
await serveNegativeAcks(declaration, (...given) => new Tracker(...given));
