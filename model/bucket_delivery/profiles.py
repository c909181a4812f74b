"""Every profile of the contract."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.released_42 import Bucket42
from broker_tck.model.bucket_delivery.released_50 import Bucket50
from broker_tck.model.bucket_delivery.released_2025 import Bucket2025
from broker_tck.model.bucket_delivery.specification import BucketDelivery

PROFILES = {m.PROFILE: m for m in (BucketDelivery, Bucket50, Bucket42, Bucket2025)}
"""Every profile of the contract; the first is the default."""
