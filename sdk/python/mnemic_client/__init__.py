"""Mnemic's Python client."""
