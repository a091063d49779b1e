"""CoBel-World: symbolic beliefs of the world and of each other."""
