"""Running experiments: configuration, the runner, resuming, replaying, and the results on disk."""
