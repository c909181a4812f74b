"""The engine: makes, performs and compares traces of all contracts."""
