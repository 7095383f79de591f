"""Forgetting: what expires, fades, is archived, condensed, merged, and asked about again."""
