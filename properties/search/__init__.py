"""Search: walks, machine and invariants; failing traces made shorter; subjects kept from doing harm."""
