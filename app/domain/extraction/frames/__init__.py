"""Slots that no list names: who has what, found by the form of a sentence; pure."""
