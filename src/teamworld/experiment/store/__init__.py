"""What stands on disk: the folder of a run, its results, calls of language models, the answer cache, data frames."""
