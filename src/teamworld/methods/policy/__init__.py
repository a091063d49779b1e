"""A trained policy as a method: a network in a file decides by numbers."""
