"""The reference model of contract ``active-cursors``."""
