"""Dreaming: what a look over all of an owner's memories finds to be put in order."""
