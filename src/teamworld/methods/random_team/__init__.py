"""A random team: the lower reference row of every table."""
