"use strict";
// Wildfire: the codes of all cells at a moment, and what the team or an agent has seen of them: as the world's sightings
// have it, worked out from where the agents were.
(function (tw) {
  const CIVILIAN_CODE = 15;
  const [CARRIED, DEAD] = [1, 3];
  const starts = new WeakMap();
  const memories = new WeakMap();

  /** The codes of all cells at the start, row by row. */
  function untouched(episode) {
    if (!starts.has(episode)) starts.set(episode, Uint8Array.from(episode.static.land.join(""), (digit) => parseInt(digit, 16)));
    return starts.get(episode);
  }

  let last = null;

  /** The codes of all cells at a moment; those of the last moment asked for are kept, so nobody may change them. */
  function codes(frame, episode) {
    if (last?.frame === frame) return last.cells;
    const cells = untouched(episode).slice();
    for (let k = 0; k < frame.land.length; k += 3) cells.fill(frame.land[k + 2], frame.land[k], frame.land[k] + frame.land[k + 1]);
    last = { frame, cells };
    return cells;
  }

  /** Whole numbers from one to another in so many steps, halves upward. */
  const along = (from, to, k, steps) => from + Math.floor((2 * (to - from) * k + steps) / (2 * steps));

  /** Call back for each cell that an agent sees who went straight from one cell to another. */
  function sweep([x0, y0], [x1, y1], reach, size, call) {
    if (y0 > y1) [x0, y0, x1, y1] = [x1, y1, x0, y0];
    const steps = Math.max(Math.abs(x1 - x0), y1 - y0, 1);
    for (let k = 0; k <= steps; k++) {
      const [x, y] = [along(x0, x1, k, steps), along(y0, y1, k, steps)];
      for (let row = Math.max(0, y - reach); row <= Math.min(size - 1, y + reach); row++)
        for (let column = Math.max(0, x - reach); column <= Math.min(size - 1, x + reach); column++) call(row * size + column);
    }
  }

  /** What the team, or the agent in a place of it, has seen until moment t: codes as they were when last seen, 0 if never; and when that was. */
  function sight(episode, who, t) {
    const { size, kinds } = episode.static;
    let kept = memories.get(episode);
    if (!kept || kept.who !== who || kept.t > t) kept = { who, t: -1, cells: new Uint8Array(size * size), when: new Int32Array(size * size) };
    memories.set(episode, kept);
    while (kept.t < t) {
      kept.t += 1;
      const frame = episode.frames[kept.t];
      const before = episode.frames[Math.max(0, kept.t - 1)];
      const now = codes(frame, episode).slice();
      for (const [x, y, state] of frame.civilians) if (state !== CARRIED && state !== DEAD) now[y * size + x] = CIVILIAN_CODE;
      frame.agents.forEach((place, agent) => {
        if (!place || (who !== null && who !== agent)) return;
        const reach = episode.style.sees[kinds[agent]][0];
        sweep(before.agents[agent] ?? place, place, reach, size, (cell) => {
          kept.cells[cell] = now[cell];
          kept.when[cell] = kept.t;
        });
      });
    }
    return kept;
  }

  const memory = (episode, who, t) => sight(episode, who, t).cells;

  tw.fire = { untouched, codes, memory, sight };
})(window.teamworld);
