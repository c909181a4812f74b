"""Explain: which known mistakes a failing trace shows, which findings are one bug, which deviations happen."""
