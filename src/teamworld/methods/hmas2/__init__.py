"""HMAS-2: a central planner gives every agent one action at each step, and revises by what the agents object."""
