"""CAMON: a moving leader plans for itself, reviews what others propose, and may order anybody to do something else."""
