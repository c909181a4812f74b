"""The entry caches of released brokers."""
