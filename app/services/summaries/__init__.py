"""Summaries of sessions: folded in the background or on demand, read with their tree, and forgotten with a message."""
