"""Count where things lie in development homes, and store it as the prior of the household's inference."""

from __future__ import annotations

import json

from teamworld.worlds.household.homes.placement import PLACEMENTS
from teamworld.worlds.household.placement_prior import FILE, estimate

if __name__ == "__main__":
    table = {rule: estimate(rule) for rule in PLACEMENTS}
    FILE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
