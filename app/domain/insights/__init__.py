"""Reflection over many memories: what they say together that none of them says alone."""
