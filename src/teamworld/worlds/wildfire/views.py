"""What one agent may know now; every part is made when first read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from teamworld.errors import UserError, suggest
from teamworld.language import Action, AgentId, Facts
from teamworld.worlds.base.views import FrameView
from teamworld.worlds.contract import ActionSchema, Goal, Option, Outcome, Verdict
from teamworld.worlds.wildfire.domain import WildfireDomain
from teamworld.worlds.wildfire.knowledge import Knowledge
from teamworld.worlds.wildfire.scene import Scene, imagined


@dataclass(eq=False)
class Frame:
    """One moment of the world, shared by all views of it."""

    t: int
    horizon: int
    domain: WildfireDomain
    knowledge: Mapping[AgentId, Knowledge]
    """Of each living agent; the same for all where the team shares its map."""
    histories: Mapping[AgentId, tuple[Outcome, ...]]
    shown: Callable[[AgentId, str], str]
    """Describes what an agent sees, in one of ``FORMS``."""
    _known: dict[int, Facts] = field(default_factory=dict)
    _split: dict[int, tuple[Facts, Facts]] = field(default_factory=dict)

    def known(self, agent: AgentId) -> Facts:
        """Return all that an agent knows."""
        mine = self.knowledge[agent]
        if id(mine) not in self._known:
            self._known[id(mine)] = imagined(mine.scene)
        return self._known[id(mine)]

    def split(self, agent: AgentId) -> tuple[Facts, Facts]:
        """Return what an agent perceives now, and what was perceived before."""
        mine = self.knowledge[agent]
        if id(mine) not in self._split:
            self._split[id(mine)] = mine.facts(self.known(agent))
        return self._split[id(mine)]


#: Forms of text: ``plain`` in sentences, ``grid`` the window of cells.
FORMS = ("plain", "grid")


class WildfireView(FrameView[Frame]):
    """``contract.View`` for wildfire; reading it after the world's next step raises ``StaleView``."""

    def __init__(self, agent: AgentId, frame: Frame, current: Callable[[], Frame]) -> None:
        super().__init__(agent, frame, current)
        self._options: Sequence[Option] | None = None

    @property
    def kind(self) -> str:
        """``firefighter``, ``bulldozer``, ``drone`` or ``helicopter``."""
        return self._now.domain.brief.kinds[self._agent]

    @property
    def able(self) -> bool:
        """False while a helicopter carries it."""
        return self.scene.agents[self._agent].aboard is None

    @property
    def names(self) -> Sequence[AgentId]:
        """All agents, in the order of their ids."""
        return tuple(self._now.domain.brief.kinds)

    @property
    def scene(self) -> Scene:
        """All that the agent knows, as a scene with what was seen of the ground."""
        return self._now.knowledge[self._agent].scene

    @property
    def facts(self) -> Facts:
        """Perceived now, by anybody of the team where it shares its map, and what was announced."""
        return self._now.split(self._agent)[0]

    @property
    def recall(self) -> Facts:
        """Perceived before and not seen otherwise since."""
        return self._now.split(self._agent)[1]

    @property
    def known(self) -> Facts:
        """Both."""
        return self._now.known(self._agent)

    @property
    def goals(self) -> Sequence[Goal]:
        """Those of the task that were announced or discovered."""
        return self._now.domain.goals(self.known)

    @property
    def abilities(self) -> Sequence[ActionSchema]:
        """What its kind can do."""
        return self._now.domain.abilities(self._agent, self.known)

    @property
    def options(self) -> Sequence[Option]:
        """Actions that make sense as far as it knows; while it rides, only to wait."""
        frame = self._now
        if self._options is None:
            self._options = frame.domain.options(self._agent, self.known)
        return self._options

    def check(self, action: Action) -> Verdict:
        """Whether the action's preconditions hold, by what the agent knows."""
        return self._now.domain.check(self._agent, action, self.known, planning=False)

    def text(self, form: str = "plain") -> str:
        """Return the view in words, or as a grid of cells.

        Raises:
            UserError: There is no such form.
        """
        frame = self._now
        if form not in FORMS:
            raise UserError(f"a view of wildfire has no text form '{form}'{suggest(form, list(FORMS))}")
        return frame.shown(self._agent, form)
