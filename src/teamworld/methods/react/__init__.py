"""ReAct and Reflexion: each agent alone, reasoning then one action, with its own history; no messages."""
