"""The reference model of contract ``delayed-delivery``."""
