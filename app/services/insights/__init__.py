"""Reflection over many memories of a user (Park et al., "Generative Agents", 2023, section 4.2)."""
