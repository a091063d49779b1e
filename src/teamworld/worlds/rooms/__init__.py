"""Rooms: a small world to learn from. Carriers and scouts bring things through doors to a table, past a fire."""
