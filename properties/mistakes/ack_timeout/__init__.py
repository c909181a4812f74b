"""Known mistakes of contract ``ack-timeout``."""
