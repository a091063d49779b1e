"""``python -m teamworld``."""

from teamworld.cli import main

main()
