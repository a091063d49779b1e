"""One run of a team in one world instance: the loop, rooms and channels, talk and time."""
