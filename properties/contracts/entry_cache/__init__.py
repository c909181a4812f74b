"""Contract ``entry-cache``: its operations, adapter, generator and invariants."""
