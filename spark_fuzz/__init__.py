"""Campaigns: what Spark plans, distributes and merges of long runs of walks."""
