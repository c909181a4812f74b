"""Every profile of the contract."""

from __future__ import annotations

from broker_tck.model.topic_delivery.pip_448 import Pip448
from broker_tck.model.topic_delivery.specification import TopicDelivery

PROFILES = {m.PROFILE: m for m in (TopicDelivery, Pip448)}
"""Every profile of the contract; the first is the default."""
