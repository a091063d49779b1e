"""Transport: agents find things in a house, carry them in hands and containers, and bring them to the bed (TDW-MAT)."""
