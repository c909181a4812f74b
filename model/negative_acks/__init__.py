"""The reference model of contract ``negative-acks``."""
