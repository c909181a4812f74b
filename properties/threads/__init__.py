"""Threads: programs for several threads, drawn and run under many schedules, and a judge of what happened."""
