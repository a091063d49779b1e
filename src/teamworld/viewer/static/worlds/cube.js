// Built from frontend/src/worlds/cube by "make pages"; change the sources and build again.
"use strict";
(() => {
  // src/shared/colours.ts
  var channels = (hex) => [
    Number.parseInt(hex.slice(1, 3), 16),
    Number.parseInt(hex.slice(3, 5), 16),
    Number.parseInt(hex.slice(5, 7), 16)
  ];
  function mix(one, other, share) {
    const [ends, starts] = [channels(other), channels(one)];
    const mixed = starts.map((from, place) => Math.round(from + ((ends[place] ?? from) - from) * share));
    return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  }
  function inkOn(hex) {
    const linear = (value) => value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    const [red, green, blue] = channels(hex);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.22 ? "#10151a" : "#ffffff";
  }

  // src/shared/numbers.ts
  var clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  var ease = (share) => share * share * (3 - 2 * share);
  var between = (one, other, share) => one + (other - one) * share;

  // src/shared/words.ts
  var plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  var say = (text) => text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

  // src/worlds/common/geometry.ts
  var WHOLE = { zoom: 1, x: 0.5, y: 0.5 };
  function entry(rows, place) {
    const row = rows[place];
    if (row === void 0) throw new Error(`expected a row ${place}, got ${rows.length} rows`);
    return row;
  }
  function layGrid(size, rows, columns, view = WHOLE) {
    const whole = size * view.zoom;
    const cell = whole / Math.max(rows, columns);
    const start = (count, middle) => (whole - count * cell) / 2 - (middle * whole - size / 2);
    const [left, top] = [start(columns, view.x), start(rows, view.y)];
    return {
      size,
      rows,
      columns,
      cell,
      left,
      top,
      view,
      x: (column) => left + column * cell,
      y: (row) => top + row * cell
    };
  }
  function cellAt(plan, x, y) {
    const [row, column] = [Math.floor((y - plan.top) / plan.cell), Math.floor((x - plan.left) / plan.cell)];
    return row < 0 || column < 0 || row >= plan.rows || column >= plan.columns ? null : [row, column];
  }

  // src/worlds/common/marks.ts
  var FONT = "system-ui, sans-serif";
  function write(pen, words, x, y, size, colour, { weight = 500, align = "center", base = "middle", halo = null } = {}) {
    pen.font = `${weight} ${size}px ${FONT}`;
    pen.textAlign = align;
    pen.textBaseline = base;
    if (halo) {
      pen.lineJoin = "round";
      pen.lineWidth = size * 0.36;
      pen.strokeStyle = halo;
      pen.strokeText(words, x, y);
    }
    pen.fillStyle = colour;
    pen.fillText(words, x, y);
  }
  function disc(pen, [x, y], radius, fill, rim = null, thick = 1.2) {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    if (!rim) return;
    pen.lineWidth = thick;
    pen.strokeStyle = rim;
    pen.stroke();
  }
  function sheet(pen, [x, y, wide, high], corner, fill, rim = null, thick = 1) {
    pen.beginPath();
    pen.roundRect(x, y, wide, high, corner);
    pen.fillStyle = fill;
    pen.fill();
    if (!rim) return;
    pen.lineWidth = thick;
    pen.strokeStyle = rim;
    pen.stroke();
  }
  function pill(pen, words, x, y, font, colour, wide) {
    sheet(pen, [x - wide / 2, y - font * 0.8, wide, font * 1.6], font * 0.8, colour);
    write(pen, words, x, y + 0.5, font, inkOn(colour), { weight: 700 });
  }
  function track(pen, points, colour, thick, alpha) {
    pen.beginPath();
    for (const [x, y] of points) pen.lineTo(x, y);
    pen.strokeStyle = colour;
    pen.globalAlpha = alpha;
    pen.lineWidth = thick;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
    pen.globalAlpha = 1;
  }
  var force = ({ have, need, who, k }) => [
    have.temporal ?? who.length,
    need.temporal ?? k
  ];

  // src/shared/canvas.ts
  function fit(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("expected a browser that draws on canvases");
    pen.setTransform(w / width, 0, 0, h / height, 0, 0);
    return pen;
  }

  // src/worlds/common/paper.ts
  var Paper = class {
    #key = "";
    #episode = null;
    #canvas = null;
    /** The canvas for a key, drawn anew if it is another one; `draw` gets a pen in CSS pixels. */
    take(episode, key, size, draw) {
      return this.keep(episode, [size, window.devicePixelRatio, ...key], () => {
        const canvas = document.createElement("canvas");
        draw(fit(canvas, size, size));
        return canvas;
      });
    }
    keep(episode, key, make) {
      const name = key.join("|");
      if (!this.#canvas || this.#episode !== episode || this.#key !== name) {
        this.#canvas = make();
        this.#episode = episode;
        this.#key = name;
      }
      return this.#canvas;
    }
  };

  // src/worlds/common/register.ts
  function register(world, drawer, forTests = {}) {
    teamworld.drawers[world] = Object.assign(drawer, forTests);
  }

  // src/worlds/cube/agents.ts
  var DIRECTION = { UP: [-1, 0], DOWN: [1, 0], LEFT: [0, -1], RIGHT: [0, 1] };
  var TRAIL = 10;
  function drawTrails(pen, map, moment, episode, colours) {
    const first = Math.max(0, moment.t - TRAIL);
    if (map.cell < 6 || first === moment.t) return;
    for (const [place, colour] of colours.entries()) {
      const way = Array.from({ length: moment.t - first + 1 }, (_, k) => {
        const [row, column] = entry(episode.frame(first + k).agents, place);
        return [map.x(column + 0.5), map.y(row + 0.5)];
      });
      track(pen, way, colour, map.cell * 0.14, 0.28);
    }
  }
  function drawEffort(pen, cell, { x, y, radius }, pace, theme) {
    if (!pace || cell < 6) return;
    if (pace.ready) {
      pen.setLineDash([2.5, 2.5]);
      pen.beginPath();
      pen.arc(x, y, radius + 2, 0, 2 * Math.PI);
      pen.strokeStyle = theme.ready;
      pen.lineWidth = 1.6;
      pen.stroke();
      pen.setLineDash([]);
    }
    const way = DIRECTION[pace.primitive ?? ""];
    if (!way || pace.moved && !pace.effect) return;
    const [rows, columns] = way;
    const wide = cell * 0.22;
    pen.strokeStyle = pen.fillStyle = pace.effect ? theme.ink : theme.fail;
    pen.lineWidth = clamp(cell * 0.11, 1.5, 3);
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    if (pace.effect) {
      const [from, to] = [radius + cell * 0.02, radius + cell * 0.5];
      const tip = [x + columns * to, y + rows * to];
      pen.moveTo(x + columns * from, y + rows * from);
      pen.lineTo(...tip);
      pen.moveTo(tip[0] + rows * wide - columns * wide, tip[1] + columns * wide - rows * wide);
      pen.lineTo(...tip);
      pen.lineTo(tip[0] - rows * wide - columns * wide, tip[1] - columns * wide - rows * wide);
    } else {
      const ahead = radius + cell * 0.12;
      const [barX, barY] = [x + columns * ahead, y + rows * ahead];
      pen.moveTo(barX + rows * wide, barY + columns * wide);
      pen.lineTo(barX - rows * wide, barY - columns * wide);
    }
    pen.stroke();
  }
  function drawAgents(pen, cell, agents, { theme, team, chosen }, colours) {
    for (const [place, spot] of agents.entries()) {
      const { gone, pace } = entry(team, place);
      if (gone) continue;
      const [colour, isChosen] = [entry(colours, place), place === chosen];
      disc(pen, [spot.x, spot.y], spot.radius, colour, isChosen ? theme.ink : theme.card, isChosen ? 3 : 1);
      const share = place > 99 ? 0.3 : place > 9 ? 0.4 : 0.48;
      if (cell >= 11) write(pen, String(place), spot.x, spot.y + 0.5, cell * share, inkOn(colour), { weight: 700 });
      drawEffort(pen, cell, spot, pace, theme);
    }
  }

  // src/worlds/cube/force.ts
  var FITS = 30;
  var MOST_BOXES = 20;
  var blockOf = (goal) => Number(goal.split("_")[1]);
  function forces({ joints }) {
    const found = /* @__PURE__ */ new Map();
    for (const joint of joints) {
      const [have, need] = force(joint);
      found.set(blockOf(joint.goal), { have, need, moves: joint.success, who: joint.who });
    }
    return found;
  }
  function tellForce({ have, need, moves }, held = ", held up", moved = "") {
    if (have < need) return `${have} of ${need}, ${need - have} missing`;
    return `${have} of ${need}${moves ? moved : held}`;
  }
  function drawForces(pen, map, moment, { static: { weights } }, pushed) {
    const { theme } = moment;
    const { cell, size } = map;
    for (const [block, now] of pushed) {
      const place = moment.frame.blocks[block];
      if (!place || cell < 5) continue;
      const side = (weights[block] ?? 0) * cell;
      const colour = now.moves ? theme.good : theme.fail;
      const isIn = side >= FITS;
      const font = isIn ? clamp(side * 0.15, 9, 13) : clamp(cell * 0.55, 9, 12);
      const long = tellForce(now);
      pen.font = `700 ${font}px ${FONT}`;
      const words = isIn && pen.measureText(long).width < side - font ? long : `${now.have}/${now.need}`;
      const wide = Math.max(pen.measureText(words).width + font, isIn ? 0 : 2 * font);
      const x = clamp(map.x(place[1]) + (isIn ? side / 2 : side), wide / 2 + 2, size - wide / 2 - 2);
      const y = clamp(map.y(place[0]) + (isIn ? side * 0.6 : 0), font, size - font);
      pill(pen, words, x, y, font, colour, wide);
      if (!isIn) continue;
      const bar = { wide: Math.min(side - 12, 13 * now.need), high: clamp(side * 0.1, 5, 9) };
      drawBoxes(pen, x, y + font * 1.15, bar, now, colour, theme);
    }
  }
  function drawBoxes(pen, x, y, { wide, high }, { have, need }, colour, theme) {
    const left = x - wide / 2;
    pen.lineWidth = 1.2;
    pen.strokeStyle = colour;
    pen.fillStyle = theme.card;
    pen.fillRect(left, y, wide, high);
    pen.fillStyle = colour;
    if (need > MOST_BOXES || wide / need < 4) {
      pen.fillRect(left, y, wide * Math.min(have, need) / need, high);
      pen.strokeRect(left, y, wide, high);
      return;
    }
    const each = wide / need;
    for (let box = 0; box < need; box++) {
      if (box < have) pen.fillRect(left + box * each + 1, y, each - 2, high);
      else pen.setLineDash([2, 1.5]);
      pen.strokeRect(left + box * each + 1, y, each - 2, high);
    }
    pen.setLineDash([]);
  }

  // src/worlds/cube/key.ts
  var MOST_BLOCKS = 10;
  function keyOf({ theme, frame }, episode) {
    const { weights } = episode.static;
    const agent = (effort) => (pen) => {
      const spot = { x: effort?.primitive ? 6 : 9, y: 9, radius: 5 };
      disc(pen, [spot.x, spot.y], spot.radius, theme.idle);
      drawEffort(pen, 14, spot, effort, theme);
    };
    const square = (colour) => (pen, size) => sheet(pen, [2, 2, size - 4, size - 4], 3, mix(theme.card, colour, 0.22), colour, 2);
    const boxes = (have, colour) => (pen, size) => drawBoxes(pen, size / 2, size / 2 - 3, { wide: size - 2, high: 6 }, { have, need: 2 }, colour, theme);
    const left = frame.blocks.flatMap((place, block) => place ? [block] : []);
    const pushes = [
      { samples: [boxes(2, theme.good)], words: "force of a push that moves it", soft: true },
      { samples: [boxes(1, theme.fail)], words: "empty box: a missing agent", soft: true }
    ];
    return [
      { head: `${left.length} of ${plural(weights.filter(Boolean).length, "block")} left, as wide as heavy` },
      ...left.slice(0, MOST_BLOCKS).map((block) => ({
        samples: [square(episode.colour(`block_${block}`))],
        words: `B${block}: weight ${weights[block]}`
      })),
      ...left.length > MOST_BLOCKS ? [{ words: `and ${left.length - MOST_BLOCKS} more` }] : [],
      { head: "map" },
      { samples: [theme.goalzone], words: "blocks go here", soft: true },
      { samples: [agent(null)], words: "agent, in the colour of its block", soft: true },
      { samples: [agent({ primitive: "RIGHT", effect: true })], words: "pushes", soft: true },
      { samples: [agent({ primitive: "RIGHT" })], words: "held up", soft: true },
      { samples: [agent({ ready: "x" })], words: "in place, waits for others", soft: true },
      ...episode.joints.length ? pushes : []
    ];
  }

  // src/worlds/cube/main.ts
  var ROOMY = 54;
  var MOST_TRAILS = 64;
  var paper = new Paper();
  var planOf = (size, { static: { grid_size: side } }, view) => layGrid(size, side, side, view);
  function drawGround(pen, { size, rows: side, cell, left, top }, theme) {
    pen.fillStyle = theme.card;
    pen.fillRect(0, 0, size, size);
    pen.fillStyle = theme.goalzone;
    pen.fillRect(left + (side - 1) * cell, top, cell, side * cell);
    pen.strokeStyle = theme.line;
    pen.lineWidth = cell < 6 ? 0.3 : 0.7;
    pen.beginPath();
    const every = cell < 5 ? 8 : 1;
    for (let line = every; line < side; line += every) {
      pen.moveTo(left + line * cell, 0);
      pen.lineTo(left + line * cell, size);
      pen.moveTo(0, top + line * cell);
      pen.lineTo(size, top + line * cell);
    }
    pen.stroke();
  }
  function drawBlocks(pen, map, { frame, next, share, theme }, episode, pushed) {
    const { cell } = map;
    for (const [block, place] of frame.blocks.entries()) {
      if (!place) continue;
      const colour = episode.colour(`block_${block}`);
      const weight = episode.static.weights[block] ?? 0;
      const side = weight * cell;
      const to = next.blocks[block];
      const [row, column] = to ?? [place[0], place[1] + 1];
      const x = map.x(between(place[1], column, ease(share)));
      const y = map.y(between(place[0], row, ease(share)));
      const rim = clamp(cell * 0.1, 1, 3);
      pen.globalAlpha = to ? 1 : 1 - share;
      const corner = clamp(cell * 0.18, 0, 6);
      const inner = side - 2 * rim;
      sheet(pen, [x + rim, y + rim, inner, inner], corner, mix(theme.card, colour, 0.22), colour, rim * 1.4);
      const middle = side / 2;
      const hasForce = side >= FITS && pushed.has(block);
      const big = side >= ROOMY && !hasForce;
      const up = hasForce ? side * 0.16 : big ? side * 0.08 : 0;
      const bold = { weight: 600 };
      if (side >= 13) {
        const font = clamp(side * (hasForce ? 0.28 : 0.34), 8, 22);
        write(pen, side >= 26 ? `B${block}` : String(block), x + middle, y + middle - up, font, theme.ink, bold);
      }
      if (big) {
        const down = y + middle + clamp(side * 0.22, 10, 20);
        write(pen, `weight ${weight}`, x + middle, down, clamp(side * 0.16, 10, 13), theme.soft, { weight: 400 });
      }
      pen.globalAlpha = 1;
    }
  }
  var cube = {
    zooms: true,
    key: keyOf,
    draw(pen, size, moment, episode) {
      const map = planOf(size, episode, moment.view);
      const { theme, team, frame, next } = moment;
      const key = [map.rows, ...Object.values(map.view), theme.card];
      const ground = paper.take(episode, key, size, (own) => drawGround(own, map, theme));
      pen.drawImage(ground, 0, 0, size, size);
      const colours = team.map((agent) => agent.aim ? episode.colour(agent.aim) : theme.idle);
      if (team.length <= MOST_TRAILS) drawTrails(pen, map, moment, episode, colours);
      const pushed = forces(moment);
      drawBlocks(pen, map, moment, episode, pushed);
      const part = ease(moment.share);
      const radius = Math.max(1.6, map.cell * 0.38);
      const agents = frame.agents.map((from, place) => {
        const to = entry(next.agents, place);
        return {
          x: map.x(between(from[1], to[1], part) + 0.5),
          y: map.y(between(from[0], to[0], part) + 0.5),
          radius
        };
      });
      drawAgents(pen, map.cell, agents, moment, colours);
      drawForces(pen, map, moment, episode, pushed);
      return { agents };
    },
    label(moment, episode, x, y, size) {
      const map = planOf(size, episode, moment.view);
      const cell = cellAt(map, x, y);
      if (!cell) return [];
      const [row, column] = cell;
      const pushed = forces(moment);
      const who = moment.frame.agents.flatMap(([down, right], place) => {
        const { gone, aim } = entry(moment.team, place);
        if (down !== row || right !== column || gone) return [];
        return [`${say(entry(episode.team, place).name)}${aim ? `, bound to ${say(aim)}` : ""}`];
      });
      const what = moment.frame.blocks.flatMap((place, block) => {
        const weight = episode.static.weights[block] ?? 0;
        if (!place || row < place[0] || column < place[1] || row >= place[0] + weight || column >= place[1] + weight)
          return [];
        const now = pushed.get(block);
        const told = now ? [`force ${tellForce(now, ", held up", ", it moves")}: ${now.who.map(say).join(", ")}`] : [];
        return [`block ${block}, weight ${weight}`, ...told];
      });
      return [...who, ...what, ...column === map.columns - 1 ? ["blocks go here"] : [], `(${row}, ${column})`];
    },
    words({ t, frame }, episode) {
      const left = frame.blocks.filter(Boolean).length;
      const side = episode.static.grid_size;
      const team = plural(frame.agents.length, "agent");
      return `Grid of ${side} by ${side} cells at step ${t}: ${team}, ${plural(left, "block")} left.`;
    }
  };
  register("cube", cube, { forces });
})();
