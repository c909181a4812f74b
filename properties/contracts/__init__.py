"""The contracts that there are, by name; the first is the default."""

from broker_tck.properties.contracts.active_cursors.contract import ACTIVE_CURSORS
from broker_tck.properties.contracts.bucket_delivery.contract import BUCKET_DELIVERY
from broker_tck.properties.contracts.delayed_delivery.contract import DELAYED_DELIVERY
from broker_tck.properties.contracts.entry_cache.contract import ENTRY_CACHE
from broker_tck.properties.contracts.negative_acks.contract import NEGATIVE_ACKS
from broker_tck.properties.contracts.topic_delivery.contract import TOPIC_DELIVERY

CONTRACTS = {
    contract.name: contract
    for contract in (DELAYED_DELIVERY, NEGATIVE_ACKS, ACTIVE_CURSORS, ENTRY_CACHE, BUCKET_DELIVERY, TOPIC_DELIVERY)
}
