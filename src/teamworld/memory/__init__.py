"""The symbolic world model that outlives an episode (DR. WELL, symbolic world model).

``contract`` holds the data types, ``tracker`` makes them from a log, ``world_model`` answers what a method asks,
``store`` keeps them on disk, ``graph`` and ``drawing`` show them. Nothing is imported here, so that using one part
costs no other.
"""
