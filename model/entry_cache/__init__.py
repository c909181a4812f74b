"""The reference model of contract ``entry-cache``."""
