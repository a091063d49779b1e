"""``python -m teamworld.cli``."""

from teamworld.cli import main

main()
