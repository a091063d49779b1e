"""Wildfire: firefighters, bulldozers, drones and helicopters against a spreading fire."""
