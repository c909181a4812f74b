"""Contract ``delayed-delivery``: its operations, adapter, generator and invariants."""
