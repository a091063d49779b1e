"""A second implementation of CUBE's rules of motion, to test the first one against.

Written from the rules in prose: slow, plain, no arrays and no incremental state. Entities are kept in
dictionaries, and everything else is worked out anew from their positions whenever it is needed. Shares no code
with the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Cell = tuple[int, int]

DIRECTIONS: dict[int, Cell] = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}  # in the order of resolution


@dataclass
class Scene:
    """Everything there is to know about one environment."""

    side: int
    agents: dict[int, Cell]
    blocks: dict[int, tuple[int, Cell]]
    """id: (weight, top-left cell); delivered blocks are absent."""
    scope: str = "chain"
    max_steps: int = 500
    step_cost: float = 0.01
    deliver_reward: float = 1.0
    steps: int = 0
    moved: dict[int, int] = field(default_factory=dict)
    """Blocks moved in the last step, with the direction."""
    delivered: set[int] = field(default_factory=set)
    """Blocks delivered in the last step."""
    pushed: set[int] = field(default_factory=set)
    walked: set[int] = field(default_factory=set)
    reward: float = 0.0

    @property
    def terminated(self) -> bool:
        """Whether no block is left."""
        return not self.blocks and self.steps > 0

    @property
    def truncated(self) -> bool:
        """Whether time is up with blocks left."""
        return bool(self.blocks) and self.steps >= self.max_steps

    def body(self, block: int) -> set[Cell]:
        """Return all cells of a block."""
        weight, (top, left) = self.blocks[block]
        return {(top + i, left + j) for i in range(weight) for j in range(weight)}

    def inside(self, cell: Cell) -> bool:
        """Whether a cell belongs to the grid."""
        return 0 <= cell[0] < self.side and 0 <= cell[1] < self.side

    def step(self, actions: dict[int, int]) -> None:
        """Play one step."""
        wishes = {agent: DIRECTIONS[action] for agent, action in actions.items() if action in DIRECTIONS}
        self.moved, self.delivered, self.pushed, self.walked = {}, set(), set(), set()
        weight_in = 0
        for number, direction in DIRECTIONS.items():
            weight_in += self._pushes(number, direction, wishes)
        self._walks(wishes)
        self.steps += 1
        self.reward = -self.step_cost + weight_in * self.deliver_reward / len(self.agents)

    def _pushes(self, number: int, direction: Cell, wishes: dict[int, Cell]) -> int:
        """All pushes in one direction; returns the weight delivered."""
        weight_in = 0

        def reach(block: int) -> int:
            return max(row * direction[0] + col * direction[1] for row, col in self.body(block))

        for block in sorted(self.blocks, key=lambda block: (-reach(block), block)):
            if block not in self.blocks or block in self.moved:
                continue
            own = self.line_agents({block}, direction, wishes)
            if not own:
                continue
            chain = self.chain(block, direction)
            helpers = own if self.scope == "rear" else self.line_agents(chain, direction, wishes)
            if len(helpers) < sum(self.blocks[member][0] for member in chain):
                continue
            if any(member in self.moved for member in chain):
                continue
            bodies = set().union(*(self.body(member) for member in chain))
            ahead = {forward(cell, direction) for cell in bodies} - bodies
            if not all(map(self.inside, ahead)) or ahead & set(self.agents.values()):
                continue
            for member in chain:
                weight, corner = self.blocks[member]
                self.blocks[member] = weight, forward(corner, direction)
                self.moved[member] = number
            for agent in helpers:
                self.agents[agent] = forward(self.agents[agent], direction)
                self.pushed.add(agent)
            for member in chain:
                if any(col == self.side - 1 for _, col in self.body(member)):
                    weight_in += self.blocks[member][0]
                    self.delivered.add(member)
            for member in self.delivered & set(self.blocks):
                del self.blocks[member]
        return weight_in

    def chain(self, block: int, direction: Cell) -> set[int]:
        """The block and all that it would run into, directly or through others."""
        chain = {block}
        while True:
            hit = {
                other
                for other in set(self.blocks) - chain
                for member in chain
                if {forward(cell, direction) for cell in self.body(member)} & self.body(other)
            }
            if not hit:
                return chain
            chain |= hit

    def line_agents(self, chain: set[int], direction: Cell, wishes: dict[int, Cell]) -> set[int]:
        """Agents that act in the direction in an unbroken line right behind a block of the chain."""
        standing = {cell: agent for agent, cell in self.agents.items()}
        agents: set[int] = set()
        for member in chain:
            for cell in self.body(member):
                here = backward(cell, direction)
                while here in standing and wishes.get(standing[here]) == direction:
                    agents.add(standing[here])
                    here = backward(here, direction)
        return agents

    def _walks(self, wishes: dict[int, Cell]) -> None:
        """Moves of the agents that no push has moved."""
        taken = set(self.agents.values()).union(*(self.body(block) for block in self.blocks))
        for agent in sorted(self.agents):
            if agent in self.pushed or agent not in wishes:
                continue
            target = forward(self.agents[agent], wishes[agent])
            if self.inside(target) and target not in taken:
                taken.add(target)
                self.agents[agent] = target
                self.walked.add(agent)


def forward(cell: Cell, direction: Cell) -> Cell:
    """Return the next cell in a direction."""
    return cell[0] + direction[0], cell[1] + direction[1]


def backward(cell: Cell, direction: Cell) -> Cell:
    """Return the cell before, seen in a direction."""
    return cell[0] - direction[0], cell[1] - direction[1]
