"""Coordination methods: protocols among reasoners. Each is a folder with the same rooms."""
