"""Known mistakes of bucket delivery."""
