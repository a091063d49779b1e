"""A person in the team: the page on which one agent's questions are answered, and its server."""
