"""Results that prove themselves: a run, a grid or a comparison in one file, whose tables anybody can rebuild."""
