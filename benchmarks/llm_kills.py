"""Runs with a language model that are killed, replayed and stopped by budgets, held against one left alone.

    python benchmarks/llm_kills.py [kills] [replay] [budget] [--kills 50]

The commands run as processes of their own against a server on loopback, which counts every question by its prompt.

kills: ``kill -9`` at random moments: while a run starts, between any two answers, and after the last. Going on asks
only what is not on record, nothing on record is lost, and the logs end the same byte for byte.
replay: one of those runs again, in a process that ends at the first internet socket it opens.
budget: runs that stop at a limit pass it by no more than the calls in flight, and go on with a larger one to the same
logs. Exits with 1 where one of these does not hold.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the server stands among the tests

from durability import state

from teamworld.experiment.reasoner_factory import spent
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.prices import Prices
from tests.experiment.ledger import kept, logs
from tests.reasoning.llm.server import Peer, running

PARTS = ("kills", "replay", "budget")
BRAIN = "tests.reasoning.llm.player:plays"
#: Agents, and cells that run at the same time: so many questions can be under way.
AGENTS, SEEDS = 4, 2
KILLED = f"--level n{AGENTS} --episodes 2 --seeds {SEEDS} --max-steps 30 --instances fresh".split()
SECONDS, JITTER = 0.1, 0.1
#: Seconds after which an answer that was delivered has to be on record, on a machine with other work too.
SETTLED = 1.0
#: Kills of one run: one while a process starts, one after the last answer, the others between answers.
OF_ONE = 5
LIMITED = ["--level", "n8", "--seeds", "12", "--max-steps", "8"]
#: Long enough that a first round of calls is out before the first answer is back.
LIMITED_SECONDS = 0.8
#: Shares of what the whole run takes: where it stops, and where it stops again.
LIMITS = ((0.002, 0.3), (0.15, 0.5), (0.5, 0.85))
#: Ends its process at the first socket that could leave the machine, whatever catches exceptions above it.
BLOCKED = """
import os, socket, sys
def hook(event, arguments):
    if event == "socket.__new__" and arguments[1] in (socket.AF_INET, socket.AF_INET6):
        os.write(2, b"a socket was opened")
        os._exit(97)
sys.addaudithook(hook)
"""


class Wrong(Exception):
    """Something that has to hold does not."""


def hold(fact: bool, words: str) -> None:
    """See that a fact holds.

    Raises:
        Wrong: It does not.
    """
    if not fact:
        raise Wrong(words)


def command(server: Peer, out: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs, or goes on, in a folder."""
    given = ["--method", "drwell", "--reasoner", server.name(), *arguments, "--out", str(out)]
    return [sys.executable, "-m", "teamworld", "run", "cube", *given]


def asked(server: Peer) -> tuple[Counter[str], Counter[str], int]:
    """Return how often each prompt came, how often it was answered, and how many are under way."""
    stats = server.stats()
    outcomes: dict[str, dict[str, int]] = stats["outcomes"]
    came = Counter({prompt: sum(counts.values()) for prompt, counts in outcomes.items()})
    answered = Counter({prompt: counts["ok"] for prompt, counts in outcomes.items() if "ok" in counts})
    return came, answered, stats["in_flight"]


def on_record(out: Path) -> Counter[str]:
    """Return how often each prompt is on record, from a copy: what a kill left behind stays as it is."""
    if not (out / "results.sqlite").exists():
        return Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in out.glob("results.sqlite*"):
            shutil.copy(path, folder)
        return Counter(call.prompt for call in kept(Path(folder)))


class Whole(NamedTuple):
    """A run that was left alone."""

    state: dict[str, object]
    prompts: Counter[str]
    startup: float
    """Seconds until its first question."""
    end: float
    """Seconds from its last answer to its end."""
    wall: float


def whole(server: Peer, out: Path, arguments: Sequence[str]) -> Whole:
    """Let a run come to its end."""
    begun = time.perf_counter()
    process = subprocess.Popen(command(server, out, arguments), stdout=subprocess.DEVNULL)
    first = last = 0.0
    answers = 0
    while process.poll() is None:
        came, answered, _ = asked(server)
        now = time.perf_counter() - begun
        first = first or (now if came else 0.0)
        if answered.total() > answers:
            last, answers = now, answered.total()
        time.sleep(0.005)
    wall = time.perf_counter() - begun
    hold(process.returncode == 0, f"a run that was left alone ended with {process.returncode}")
    prompts = on_record(out)
    hold(prompts == asked(server)[0], "a run that was left alone has not on record what the server was asked")
    return Whole(state(out), prompts, first, wall - last, wall)


class Tally(NamedTuple):
    """What was counted over all kills."""

    stages: Counter[str]
    flying: list[int]
    """Calls in flight at each kill."""
    unseen: list[int]
    """Of these, answers that had been delivered and were not on record."""


def killed(server: Peer, out: Path, quiet: Whole, chance: random.Random, kills: int, tally: Tally) -> None:
    """Kill a run so many times, let it end, and see that it asked nothing twice.

    Raises:
        Wrong: It did, or it ended otherwise than one left alone.
    """
    server.reset()
    server.set(seconds=SECONDS, jitter=JITTER)
    held, came, answered = Counter[str](), Counter[str](), Counter[str]()
    for stage, moment in [*_moments(quiet, chance, kills), ("", None)]:
        process = subprocess.Popen(
            command(server, out, KILLED), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        seen = [(0.0, answered)] if moment is None else _watched(server, process, moment, quiet.prompts)
        hit = moment is not None and process.poll() is None
        process.kill() if hit else None
        at = time.perf_counter()
        errors = process.communicate()[1]
        hold(hit or process.returncode == 0, f"a run ended with {process.returncode}: {errors}")
        while (now := asked(server))[2]:
            time.sleep(0.01)  # the server has not seen yet that its client is gone
        before, held_before, answered_before = came, held, answered
        (came, answered, _), held = now, on_record(out)
        again = {prompt for prompt, count in (came - before).items() if count > (quiet.prompts - held_before)[prompt]}
        hold(not again, f"{len(again)} questions were asked again that were on record (kill {stage})")
        hold(not held_before - held, f"{(held_before - held).total()} calls were on record and are not any more")
        invented = (held - held_before) - (answered - answered_before)
        hold(not invented, f"{invented.total()} calls are on record that the server did not answer")
        settled = [there for when, there in seen if when < at - SETTLED][-1:] or [answered_before]
        late = (settled[0] - answered_before) - (held - held_before)
        hold(not late, f"{late.total()} answers were not on record {SETTLED} s after they were delivered")
        flying = (came - before).total() - (held - held_before).total()
        hold(flying <= (AGENTS * SEEDS if hit else 0), f"{flying} calls were under way (kill {stage})")
        if hit:
            tally.stages[stage] += 1
            tally.flying.append(flying)
            tally.unseen.append((answered - answered_before).total() - (held - held_before).total())
    hold(held == quiet.prompts, "other calls are on record than of a run never killed")
    hold(state(out) == quiet.state, "logs, results or memory differ from those of a run never killed")


class DecisionContext(NamedTuple):
    """When to kill: so many seconds after so many answers of all that the run needs."""

    answers: int
    seconds: float


def _watched(
    server: Peer, process: subprocess.Popen[str], moment: DecisionContext, needed: Counter[str]
) -> list[tuple[float, Counter[str]]]:
    """Wait for a moment, or for the end of the process; return what was answered by when."""
    seen: list[tuple[float, Counter[str]]] = []
    due = None
    while process.poll() is None and (due is None or time.perf_counter() < due):
        answered = asked(server)[1]
        seen.append((time.perf_counter(), answered))
        if due is None and (answered & needed).total() >= moment.answers:
            due = seen[-1][0] + moment.seconds
        time.sleep(min(0.01, max(0.0, (due or math.inf) - time.perf_counter())))
    return seen


def _moments(quiet: Whole, chance: random.Random, kills: int) -> list[tuple[str, DecisionContext]]:
    """Draw moments in the order of a run, one of them while a process starts: at any place among the others."""
    total = quiet.prompts.total()
    counts = sorted(chance.sample(range(total), max(0, kills - 2)))
    drawn = [("between answers", DecisionContext(count, chance.uniform(0.0, SECONDS + JITTER))) for count in counts]
    if kills > 1:
        drawn.append(("after the last answer", DecisionContext(total, chance.uniform(0.0, quiet.end))))
    drawn.insert(
        chance.randint(0, len(counts)), ("while it started", DecisionContext(0, chance.uniform(0.0, quiet.startup)))
    )
    return drawn


def kill_all(server: Peer, scratch: Path, kills: int, seed: int) -> Path:
    """Kill runs until there were enough kills; return the last of the runs."""
    server.reset()
    server.set(seconds=SECONDS, jitter=JITTER)
    quiet = whole(server, scratch / "quiet", KILLED)
    hold(max(quiet.prompts.values()) == 1, "two calls of a run have the same prompt: they cannot be told apart")
    print(
        f"a run left alone: {quiet.prompts.total()} calls, {quiet.startup:.1f} s until the first, {quiet.end:.1f} s "
        f"after the last answer, {quiet.wall:.1f} s in all",
        flush=True,
    )
    tally, chance, runs, out = Tally(Counter(), [], []), random.Random(seed), 0, scratch
    while (left := kills - tally.stages.total()) > 0:
        runs += 1
        hold(runs <= kills, "runs end before they can be killed")
        out = scratch / f"run{runs}"
        killed(server, out, quiet, chance, min(left, OF_ONE), tally)
    stages = ", ".join(f"{count} {stage}" for stage, count in tally.stages.items())
    print(
        f"{tally.stages.total()} kills over {runs} runs ({stages}): calls, logs, results and memory are those of a run "
        "left alone, no question was asked that was on record, "
        f"every answer was on record within {SETTLED:.0f} s"
    )
    print(
        f"in flight at a kill: {sum(tally.flying)} calls in all, {max(tally.flying)} at most; their questions came "
        f"again; of these were delivered and not on record yet: {sum(tally.unseen)}, {max(tally.unseen)} at most",
        flush=True,
    )
    return out


def replay(server: Peer, out: Path) -> None:
    """Replay a run in a process that cannot open a socket to anywhere."""
    server.reset()
    blocked = f"{BLOCKED}\nfrom teamworld.cli import main\nsys.argv[0] = 'teamworld'\nmain()"
    attempt = f"{BLOCKED}\nsocket.create_connection(('127.0.0.1', {server.port}))"
    tried = subprocess.run([sys.executable, "-c", attempt], capture_output=True, text=True)
    hold(tried.returncode == 97 and "a socket was opened" in tried.stderr, "sockets are not blocked")
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", blocked, "replay", str(out)], capture_output=True, text=True)
    hold(done.returncode == 0, f"a replay ended with {done.returncode}: {done.stdout} {done.stderr}")
    hold(f"{len(logs(out))} episodes replayed" in done.stdout, f"a replay said: {done.stdout}")
    hold(server.stats()["requests"] == 0, "a replay asked the server")
    print(f"replay without sockets, start included, {time.perf_counter() - begun:.1f} s: {done.stdout.strip()}")


class Stop(NamedTuple):
    """What a run had taken when it stopped."""

    taken: int
    """Tokens on record."""
    late: int
    """Calls in flight at the stop."""
    late_tokens: int
    peak: int


def limited(server: Peer, out: Path, prices: Path, amount: str | None) -> Stop:
    """Go on with a run up to a limit, or to its end."""
    before: dict[str, Any] = server.stats()
    more = [] if amount is None else ["--budget", amount, "--prices", str(prices)]
    done = subprocess.run(command(server, out, [*LIMITED, *more]), capture_output=True, text=True)
    if amount is None:
        hold(done.returncode == 0, f"a run ended with {done.returncode}: {done.stderr}")
    else:
        hold(done.returncode != 0 and "--budget" in done.stderr, f"a run did not stop at {amount}: {done.stderr}")
    stats: dict[str, Any] = server.stats()
    with CallStore(out / "results.sqlite", readonly=True) as calls:
        tokens = spent(calls, Prices()).tokens
        hold(not tokens.uncounted, "calls are not counted")
    taken = round(tokens.total)
    hold(taken == stats["tokens"], f"{stats['tokens']:,} tokens were delivered, {taken:,} are on record")
    asked_more = stats["requests"] > before["requests"]
    late, late_tokens = (stats["late"], stats["late_tokens"]) if asked_more else (0, 0)
    return Stop(taken, late, late_tokens, stats["peak"])


def budgets(server: Peer, scratch: Path) -> None:
    """Stop runs at limits, and let them go on."""
    server.reset()
    server.set(seconds=LIMITED_SECONDS)
    prices = scratch / "prices.yaml"
    costs = "{prompt: 1, cached: 1, output: 1}"  # so that a token is a millionth of a dollar
    prices.write_text(f'date: 2026-01-01\nsource: a benchmark\nmodels:\n  "{server.name()}": {costs}\n')
    full = limited(server, scratch / "full", prices, None)
    plain, calls = logs(scratch / "full"), sum(on_record(scratch / "full").values())
    print(f"a run without a limit: {calls} calls, {full.taken:,} tokens, {full.peak} calls in flight at most")
    print(f"{'limit':>16}{'tokens taken':>14}{'over':>8}{'in flight at the stop':>23}{'their tokens':>14}")
    for number, shares in enumerate(LIMITS):
        out = scratch / f"limited{number}"
        server.reset()
        server.set(seconds=LIMITED_SECONDS)
        for share in shares:
            limit = int(share * full.taken)
            amount = f"{limit}tok" if number else f"{limit / 1e6:.6f}usd"
            stop = limited(server, out, prices, amount)
            over = max(0, stop.taken - limit)
            print(f"{amount:>16}{stop.taken:>14,}{over:>8,}{stop.late:>23}{stop.late_tokens:>14,}", flush=True)
            hold(over <= stop.late_tokens, f"{amount} was passed by more than the calls in flight take")
            hold(stop.taken < full.taken, f"{amount} stopped nothing")
        limited(server, out, prices, None)
        hold(logs(out) == plain, "logs differ from those of a run without a limit")
        hold(set(server.stats()["came"].values()) == {1}, "a question was asked twice")
    print("every run went on to the same logs, and asked nothing twice")


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    what = options.what or PARTS
    if not set(what) <= set(PARTS):
        parser.error(f"expected some of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="teamworld-") as folder, running(BRAIN) as server:
        scratch = Path(folder)
        try:
            if "kills" in what or "replay" in what:
                out = kill_all(server, scratch, options.kills if "kills" in what else 1, options.seed)
                if "replay" in what:
                    replay(server, out)
            if "budget" in what:
                budgets(server, scratch)
        except Wrong as wrong:
            raise SystemExit(f"wrong: {wrong}") from None


if __name__ == "__main__":
    main()
