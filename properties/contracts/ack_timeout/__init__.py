"""Contract ``ack-timeout``: its operations, adapter, generator and invariants."""
