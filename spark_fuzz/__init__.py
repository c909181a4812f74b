"""Campaigns on Spark live here; they are not part of this release."""
