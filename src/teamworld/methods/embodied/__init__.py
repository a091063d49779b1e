"""Embodied: no leader; at each step agents talk in private and to all, then each chooses its own action."""
