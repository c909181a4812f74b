"""Known mistakes: the version of a container: how many changes there were."""

from __future__ import annotations

from broker_tck.properties.mistakes.book import look_at

look_at("CC-12", "updates of names that are not there; updates to the same position, which count")
