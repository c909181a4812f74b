"""Proofs: each known mistake is noticed, and by its own rule; each invariant is broken by something."""
