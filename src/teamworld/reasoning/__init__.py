"""Minds: questions, and what answers them."""
