"""MHP: Monte Carlo tree search over what to bring next, and a planner of the steps that bring it."""
