"""Known mistakes of entry cache."""
