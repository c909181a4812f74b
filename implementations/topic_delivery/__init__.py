"""Delayed messages of a topic, for all its subscriptions at once."""
