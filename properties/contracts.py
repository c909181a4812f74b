"""The contracts that there are, by name; the first is the default."""

from broker_tck.properties.delayed_delivery.contract import DELAYED_DELIVERY

CONTRACTS = {contract.name: contract for contract in (DELAYED_DELIVERY,)}
