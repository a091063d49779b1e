"""One table of the events of an episode: read from its log, checked, with what agents believe."""
