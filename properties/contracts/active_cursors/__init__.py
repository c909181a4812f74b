"""Contract ``active-cursors``: its operations, adapter, generator and invariants."""
