"""The store of a campaign: its tables and their rows."""
