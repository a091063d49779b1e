"""The symbolic world model that outlives an episode (DR. WELL, symbolic world model).

``contract`` holds the data types, ``episode_learning`` makes them from a log, ``guidebook`` answers what a method asks,
``store`` keeps them on disk, ``graph`` and ``drawing`` show them. Nothing is imported here, so that using one part
costs no other.
"""
