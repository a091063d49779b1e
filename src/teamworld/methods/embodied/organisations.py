"""How a team is organised: the words that every prompt begins with, and who leads whom.

Organisation prompts are the contribution of arXiv 2403.12482 (sections 3 and 4); the words here are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from teamworld.language import AgentId

#: The forms that come with the package.
Form: TypeAlias = Literal["none", "leader", "two_leaders", "elected"]
#: Longest organisation in characters.
LONGEST = 600


class Organisation(NamedTuple):
    """How a team is organised."""

    text: str
    """As every agent reads it."""
    leaders: tuple[AgentId, ...] = ()
    """Who assigns tasks; empty where nobody does."""

    def followers(self, leader: AgentId, team: Sequence[AgentId]) -> tuple[AgentId, ...]:
        """Return whom a leader assigns tasks to, itself included; several leaders share the others in turn.

        Args:
            leader: One of the leaders.
            team: All who are there, in order.
        """
        leaders = [agent for agent in dict.fromkeys(self.leaders) if agent in team]
        others = [agent for agent in team if agent not in leaders]
        at = leaders.index(leader)
        return (leader, *others[at :: len(leaders)])


#: Where there are no rounds of talk.
MUTE = Organisation("Nobody can talk; each chooses alone.")


def organise(form: Form, team: Sequence[AgentId], leader: AgentId | None = None) -> Organisation:
    """Return an organisation of one of the forms of the package.

    Args:
        form: Which.
        team: All who are there, in order; the first of them lead where nobody is elected.
        leader: Who was elected; None before the first election.
    """
    if len(team) < 2 or form == "none" or (form == "elected" and leader is None):
        return Organisation("Nobody leads. Each says which task it takes and weighs what the others say.")
    if form == "two_leaders" and len(team) > 2:
        both = Organisation("", (team[0], team[1]))
        groups = "; ".join(
            f"{head} leads {', '.join(both.followers(head, team)[1:]) or 'itself'}" for head in both.leaders
        )
        return both._replace(
            text=f"There are two leaders: {groups}. A leader says who of its group takes which task; the two tell each "
            "other what their groups take. The others do what their leader says unless that cannot be done, and tell "
            "it what it cannot see."
        )
    first = team[0] if form != "elected" or leader is None else leader
    leads = "The team elects a leader" if form == "elected" else f"{first} leads"
    return Organisation(
        f"{leads}: it says who takes which task. The others do what it says unless that cannot be done, and tell it "
        "what it cannot see.",
        (first,),
    )
