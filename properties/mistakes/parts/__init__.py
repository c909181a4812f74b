"""Known mistakes of parts."""
