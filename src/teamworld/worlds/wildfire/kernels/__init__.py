"""Compiled kernels of the wildfire world; each file holds a kernel and all functions that it calls."""
