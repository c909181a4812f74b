"""Known mistakes of active cursors."""
