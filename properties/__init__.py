"""What is asserted of a subject, and how it is driven."""
