"""Known mistakes of topic delivery."""
