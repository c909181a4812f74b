"""What becomes of a difference: reduced, explained, and told."""
