"""The homes of episodes: generated ones and the published ones."""
