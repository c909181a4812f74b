"""Where a campaign's rows are kept, and what they look like."""
