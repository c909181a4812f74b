"""Known mistakes of delayed delivery."""
