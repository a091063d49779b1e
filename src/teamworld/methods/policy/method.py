"""A trained policy: at each step a network scores the primitive actions of every agent by what this observes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from teamworld.language import AgentId, Plan
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method, StrictModel
from teamworld.methods.policy.network import Network, digest_of, open_network, read_network
from teamworld.record import Event, PlanStart
from teamworld.worlds.contract import WAIT, ArrayReader, ArrayRules, Capability, Domain


class PolicyOptions(StrictModel):
    """Options of a policy."""

    file: str = Field(min_length=1, description="an ONNX file with the network; --method policy:FILE sets it")
    digest: str = Field(default="", description="sha256 of what the file holds; filled in when a run begins")
    choose: Literal["argmax", "sample"] = Field(
        default="argmax",
        description="argmax: the action with the highest score, the first of equals; sample: drawn by the softmax of "
        "the scores, from a generator named by seed, episode and agent",
    )

    @model_validator(mode="before")
    @classmethod
    def _with_digest(cls, settings: object) -> object:
        """Fill in what the file holds now."""
        if isinstance(settings, Mapping) and not settings.get("file"):
            raise ValueError("name a file: policy:FILE.onnx")
        if (
            isinstance(settings, Mapping)
            and isinstance(file := settings.get("file"), str)
            and not settings.get("digest")
        ):
            return {**settings, "digest": digest_of(read_network(file))}
        return settings


class Policy(Method):
    """Plays primitive actions, one a step; asks no reasoner, says nothing and hears nothing."""

    name = "policy"
    summary = "a trained network decides at every step: policy:FILE.onnx (see docs/how-to/policies.md)"
    options = PolicyOptions
    requires: ClassVar[frozenset[Capability]] = frozenset({"arrays"})
    _options: PolicyOptions
    _log: Sequence[Event] | None = None

    @classmethod
    def recorded_options(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options with the file by its content alone."""
        return {name: value for name, value in options.items() if name != "file"}

    def prepare(self, domain: Domain) -> None:
        """Open the network and run it on an observation of zeros."""
        network, _ = self._open(domain)
        zeros = np.zeros([1 if length is None else length for length in network.shape])
        network.score(zeros, len(_rules(domain).actions))

    def recall(self, log: Sequence[Event]) -> None:
        """Play what the log says, without the file: another machine may round its scores otherwise."""
        self._log = log

    async def begin(self, briefing: Briefing) -> None:
        """Open the network, unless the episode is played again."""
        self._plans = tuple(Plan((action,)) for action in _rules(briefing.domain).actions)
        self._rng = {agent: briefing.rng("policy", agent) for agent in briefing.agents}
        if self._log is None:
            self._network, self._read = self._open(briefing.domain)
        else:
            by_text = {str(plan): plan for plan in self._plans}
            starts = [event for event in self._log if isinstance(event, PlanStart)]
            self._recorded = {
                agent: iter([by_text.get(start.text, Plan((WAIT,))) for start in starts if start.agent == agent])
                for agent in briefing.agents
            }

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Choose an action for every free agent, by itself: sums over a batch may round otherwise."""
        if self._log is not None:  # where the record ends too early, the replay's comparison says so
            return {agent: Choice(next(self._recorded[agent], Plan((WAIT,)))) for agent in context.free}
        return {agent: Choice(self._plans[self._choose(context, agent)]) for agent in context.free}

    def _choose(self, context: DecisionContext, agent: AgentId) -> int:
        scores = self._network.score(self._read(context.views[agent]), len(self._plans))
        if self._options.choose == "argmax":
            return int(scores.argmax())
        weights = np.exp(scores - scores.max()).cumsum()
        return min(int(np.searchsorted(weights, self._rng[agent].random() * weights[-1], "right")), len(scores) - 1)

    def _open(self, domain: Domain) -> tuple[Network, ArrayReader]:
        network = open_network(self._options.file, self._options.digest)
        return network, _rules(domain).reader(network.shape)


def _rules(domain: Domain) -> ArrayRules:
    if domain.arrays is None:
        raise TypeError("a world without arrays got to a method that requires them")
    return domain.arrays
