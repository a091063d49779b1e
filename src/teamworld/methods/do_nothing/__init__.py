"""A team that does nothing: the zero from which what others achieve, or prevent, is counted."""
