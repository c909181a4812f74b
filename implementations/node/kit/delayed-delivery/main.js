/** Lets broker-tck check a delayed-delivery tracker. */
import { serveDelayedDelivery } from "./broker-tck/delayed-delivery.js";
import { Tracker } from "./tracker.js";

const declaration = {
  profiles: ["timebucket-ideal"],
  capabilities: { entry_id_bits: 63 },
  software: "my tracker 0.1",
};
await serveDelayedDelivery(declaration, (config, clock, newTimeout) => new Tracker(config, clock, newTimeout));
