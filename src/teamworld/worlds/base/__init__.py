"""What several worlds share: the base of views, the reading of options."""
