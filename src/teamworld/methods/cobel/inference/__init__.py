"""Exact inference over finite variables, for beliefs, beliefs about beliefs, intents and the worth of talking.

Pure mathematics (CoBel-World spec B3): no world, no method, no language model.
"""

from teamworld.methods.cobel.inference.coupling import Limit
from teamworld.methods.cobel.inference.tables import Beliefs, Claim, Evidence, Sight, label, refinement
from teamworld.methods.cobel.inference.witness import Minds, presence

__all__ = ["Beliefs", "Claim", "Evidence", "Limit", "Minds", "Sight", "label", "presence", "refinement"]
