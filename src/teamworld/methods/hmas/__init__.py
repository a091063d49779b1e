"""The frameworks of Chen et al. (arXiv 2309.15943), CMAS, DMAS, HMAS-1 and HMAS-2: who plans, and who is heard."""
