"""What holds of the views of a topic whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from broker_tck.properties.engine.contract import Law, Variation

LAWS: tuple[Law, ...] = ()
VARIATIONS: tuple[Variation, ...] = ()
