"""Subjects that are right and built otherwise than the bundled ones: whatever the kit says of them is a false alarm."""
