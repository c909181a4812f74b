"""Contract ``bucket-delivery``: its operations, adapter, generator and invariants."""
