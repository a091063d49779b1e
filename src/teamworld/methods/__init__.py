"""Coordination methods: protocols among minds. Each is a folder with the same rooms."""
