"""Report: what a check came to, made once and rendered late."""
