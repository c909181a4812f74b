"""With what the caches of a walk are configured: mostly small numbers, now and then as wide as a broker accepts."""

from __future__ import annotations

from msgspec import structs

from broker_tck.properties.contracts.entry_cache.operations import Capabilities, Config
from broker_tck.properties.contracts.entry_cache.reading_walk import GRACES, LIMITS, QUEUES, TIMEOUTS
from broker_tck.properties.engine.choices import Choices, one_of, weighted

REQUEUES = (0, 1, 1, 1, 2, 2, 3)
"""A limit of five shows nothing that three does not, and in longer traces."""
MANY_REQUEUES = (16, 32, 64, 127, 128, 255, 256, 257)
"""Where a small counter of requeueings ends."""
TTLS = (0, 1, 10, 50, 50, 1_000)
LONG_TTLS = (2**31 - 1, 2**31, 2**32, 2**40)
LARGEST = (None, None, 0, 30, 60, 100, 300, 500, 1_000, 3_000)
ODD_LARGEST = (1, 2, 49, 51, 101, 9_999)
"""Sizes of which the percentages are no whole numbers of bytes."""
HUGE_LARGEST = (2**31 - 1, 2**31, 2**32 - 1, 2**32 + 1, 2**33 + 7, 2**40)
WATERMARKS = (0, 50, 80, 90, 90, 90, 97, 98, 99, 100)

REQUEUES_OF = weighted([(REQUEUES, 60), (MANY_REQUEUES, 1)])
TTLS_OF = weighted([(TTLS, 14), (LONG_TTLS, 1)])
LARGEST_OF = weighted([(LARGEST, 20), (ODD_LARGEST, 2), (HUGE_LARGEST, 1)])
"""Which of them, and how likely: wide ones leave most of what the rules are about out of a walk."""


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk; calls overlap where the broker orders no passes itself."""
    requeues, extend = one_of(choices, one_of(choices, REQUEUES_OF)), choices.below(2) == 1
    ttl, largest = one_of(choices, one_of(choices, TTLS_OF)), one_of(choices, one_of(choices, LARGEST_OF))
    watermark = one_of(choices, WATERMARKS)
    config = Config(requeues, extend, ttl, largest if capabilities.manager else None, watermark)
    config = with_reads(config, choices) if capabilities.reads else config
    return structs.replace(config, max_size=None) if capabilities.steps and choices.below(2) else config


def with_reads(config: Config, choices: Choices) -> Config:
    """The same, for readers as well."""
    return structs.replace(
        config,
        by_read_count=choices.below(4) > 0,
        grace=one_of(choices, GRACES),
        max_reads_in_flight=one_of(choices, LIMITS),
        acquire_timeout=one_of(choices, TIMEOUTS),
        acquire_queue=one_of(choices, QUEUES),
    )


def has_exact_goal(largest: int | None, watermark: int) -> bool:
    """Whether the size at the watermark is the same by whole numbers and by fractions: a broker may use either."""
    return largest is None or int(largest * (watermark / 100)) == largest * watermark // 100
