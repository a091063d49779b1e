"""The symbolic world model that outlives an episode (DR. WELL spec A7-A9).

``contract`` holds the data types, ``tracker`` makes them from a log, ``world_model`` answers what a
method asks, ``store`` keeps them on disk, ``graph`` and ``picture`` show them. Nothing is loaded here,
so that whoever needs one part pays for no other.
"""
