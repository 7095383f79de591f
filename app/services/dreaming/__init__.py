"""Dreaming: memories put in order while nobody waits for it, as one job that one id undoes."""
