"""Known mistakes of negative acks."""
