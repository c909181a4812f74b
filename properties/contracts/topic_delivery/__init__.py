"""Contract ``topic-delivery``: its operations, adapter, generator and invariants."""
