"""How a trace is made short: the reducer, and what it tries."""
