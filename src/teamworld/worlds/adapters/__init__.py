"""Other people's environments as worlds: a PettingZoo ``ParallelEnv`` and a describer that its user writes."""

from teamworld.worlds.adapters.describer import Describer as Describer
from teamworld.worlds.adapters.describer import Look as Look
from teamworld.worlds.adapters.describer import MacroAction as MacroAction
from teamworld.worlds.adapters.describer import ParallelEnvironment as ParallelEnvironment
from teamworld.worlds.adapters.describer import Sight as Sight
from teamworld.worlds.adapters.world import AdapterWorld as AdapterWorld
from teamworld.worlds.base import picture as picture
