"""Contract ``negative-acks``: its operations, adapter, generator and invariants."""
