"""Reasoning: questions, and what answers them."""
