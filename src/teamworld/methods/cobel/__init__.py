"""CoBel-World: teams that keep symbolic beliefs of the world and of each other, and speak when these do not fit."""
