"""How memories fade, expire, are archived, condensed and merged. Pure rules."""
