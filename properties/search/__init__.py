"""Search: walks, the Hypothesis machine and invariants; the reduction of failing traces; the isolation of subjects."""
