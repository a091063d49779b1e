// Built from frontend/src/worlds/grid by "make pages"; change the sources and build again.
"use strict";
(() => {
  // src/shared/words.ts
  var plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  var say = (text) => text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

  // src/episode/knowledge.ts
  var knowledgeLayers = (episode) => [
    { id: "", words: "everything" },
    ...episode.knowledge ? episode.team.map(({ name }) => ({ id: name, words: `what ${say(name)} perceives and did` })) : []
  ];
  function sightings(episode, agent, t) {
    if (!episode.knowledge) return [];
    const { facts } = episode.knowledge;
    const { now, last } = episode.knowledge.perceived(agent, t);
    const aged = [
      ...[...now].map((fact) => [fact, 0]),
      ...[...last].map(([fact, frame]) => [fact, t - frame])
    ];
    return aged.flatMap(([fact, age]) => {
      const at = /^(?:<(\w+)>\((\d+)\)|(\S+)) AT \((\d+), (\d+)\)$/.exec(facts[fact] ?? "");
      return at ? [{ name: at[3] ?? `${at[1]} ${at[2]}`, row: Number(at[4]), column: Number(at[5]), age }] : [];
    });
  }

  // src/shared/numbers.ts
  var clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  var ease = (share) => share * share * (3 - 2 * share);
  var between = (one, other, share) => one + (other - one) * share;

  // src/worlds/common/geometry.ts
  var WHOLE = { zoom: 1, x: 0.5, y: 0.5 };
  var AWAY = { x: -99, y: -99, radius: 0 };
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

  // src/shared/colours.ts
  var channels = (hex) => [
    Number.parseInt(hex.slice(1, 3), 16),
    Number.parseInt(hex.slice(3, 5), 16),
    Number.parseInt(hex.slice(5, 7), 16)
  ];
  function inkOn(hex) {
    const linear = (value) => value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    const [red, green, blue] = channels(hex);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.22 ? "#10151a" : "#ffffff";
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

  // src/worlds/grid/things.ts
  var UNKNOWN = { shape: "square", colour: "#808080", words: "?" };
  var lookOf = (kinds, kind) => kinds[kind] ?? UNKNOWN;
  function outline(pen, look, x, y, cell) {
    if (look.shape === "disc") {
      pen.moveTo(x + cell * 0.38, y);
      pen.arc(x, y, cell * 0.38, 0, 2 * Math.PI);
    } else if (look.shape === "tile") pen.rect(x - cell / 2, y - cell / 2, cell, cell);
    else pen.roundRect(x - cell * 0.38, y - cell * 0.38, cell * 0.76, cell * 0.76, cell * 0.1);
  }
  function drawThing(pen, look, x, y, cell, rim = null) {
    pen.beginPath();
    outline(pen, look, x, y, cell);
    pen.fillStyle = look.colour;
    pen.fill();
    if (!rim) return;
    pen.lineWidth = 1.2;
    pen.strokeStyle = rim;
    pen.stroke();
  }
  function label(pen, text, x, y, size, colour) {
    if (!text || size < 6) return;
    write(pen, text, x, y + 0.5, text.length > 2 ? size * 0.7 : size, colour, { weight: 600 });
  }
  function drawThings(pen, map, things, kinds) {
    const flush = (look) => {
      if (!look) return;
      pen.fillStyle = look.colour;
      pen.fill();
    };
    let before = null;
    for (const [row, column, kind] of things) {
      const look = lookOf(kinds, kind);
      if (look !== before) {
        flush(before);
        pen.beginPath();
        before = look;
      }
      outline(pen, look, map.x(column + 0.5), map.y(row + 0.5), map.cell);
    }
    flush(before);
    if (map.cell < 12) return;
    for (const [row, column, kind, text] of things)
      label(pen, text, map.x(column + 0.5), map.y(row + 0.5), map.cell * 0.42, inkOn(lookOf(kinds, kind).colour));
  }
  function drawGround(pen, map, { static: fixed }, theme) {
    pen.fillStyle = theme.card;
    pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
    drawThings(pen, map, fixed.ground, fixed.kinds);
    pen.strokeStyle = theme.line;
    pen.lineWidth = map.cell < 6 ? 0.3 : 0.7;
    pen.beginPath();
    for (let column = 0; column <= map.columns; column++) {
      pen.moveTo(map.x(column), map.top);
      pen.lineTo(map.x(column), map.y(map.rows));
    }
    for (let row = 0; row <= map.rows; row++) {
      pen.moveTo(map.left, map.y(row));
      pen.lineTo(map.x(map.columns), map.y(row));
    }
    pen.globalAlpha = 0.6;
    pen.stroke();
  }

  // src/worlds/grid/agents.ts
  var FACING = { north: [-1, 0], south: [1, 0], west: [0, -1], east: [0, 1] };
  var TRAIL = 8;
  function spread({ agents, things }) {
    const key = (at) => `${at[0]},${at[1]}`;
    const labelled = new Set(things.filter((thing) => thing[3]).map(key));
    const cells = /* @__PURE__ */ new Map();
    for (const agent of agents) if (agent) cells.set(key(agent), [...cells.get(key(agent)) ?? [], agent]);
    return agents.map((agent) => {
      if (!agent) return null;
      const [row, column] = agent;
      const here = cells.get(key(agent)) ?? [];
      if (here.length === 1)
        return labelled.has(key(agent)) ? [row + 0.74, column + 0.74, 0.24] : [row + 0.5, column + 0.5, 0.34];
      const angle = 2 * Math.PI * here.indexOf(agent) / here.length;
      return [row + 0.5 - 0.25 * Math.cos(angle), column + 0.5 + 0.25 * Math.sin(angle), here.length < 5 ? 0.2 : 0.12];
    });
  }
  function places(map, { frame, next, share }) {
    const ends = spread(next);
    return spread(frame).map((from, place) => {
      if (!from) return AWAY;
      const to = ends[place] ?? from;
      const part = ease(share);
      return {
        x: map.x(between(from[1], to[1], part)),
        y: map.y(between(from[0], to[0], part)),
        radius: Math.max(2, map.cell * between(from[2], to[2], part))
      };
    });
  }
  function drawTrail(pen, map, spot, place, moment, episode, colour) {
    const first = Math.max(0, moment.t - TRAIL);
    if (map.cell < 6 || first === moment.t && !moment.share) return;
    const way = [];
    for (let t = first; t <= moment.t; t++) {
      const at = episode.frame(t).agents[place];
      if (at) way.push([map.x(at[1] + 0.5), map.y(at[0] + 0.5)]);
    }
    track(pen, [...way, [spot.x, spot.y]], colour, map.cell * 0.12, 0.35);
  }
  var areNames = ({ agents }, { team }) => agents.every(
    (agent, place) => !agent?.[2] || agent[2].includes(String(place)) || team[place]?.name.includes(agent[2])
  );
  function drawAgent(pen, spot, place, agent, look) {
    const [, , own, facing, held] = agent;
    const { colour, theme, isChosen, kinds, isNamed } = look;
    const { x, y, radius } = spot;
    if (facing) drawFacing(pen, spot, FACING[facing], theme);
    disc(pen, [x, y], radius, colour, theme.ink, isChosen ? 3 : 1.2);
    if (held) drawThing(pen, lookOf(kinds, held), x - radius * 0.72, y + radius * 0.72, radius * 1.25, theme.ink);
    const extra = isNamed ? "" : own;
    label(pen, extra || !own ? String(place) : own, x, y, radius * 1.2, inkOn(colour));
    if (!extra || radius < 8) return;
    const size = radius * 0.72;
    pen.font = `600 ${size}px ${FONT}`;
    const wide = Math.max(size * 1.3, pen.measureText(extra).width + size * 0.6);
    const box = [x + radius * 0.72 - wide / 2, y - radius * 0.72 - size * 0.65, wide, size * 1.3];
    sheet(pen, box, size * 0.3, theme.card, theme.ink, 1.2);
    label(pen, extra, x + radius * 0.72, y - radius * 0.72, size, theme.ink);
  }
  function drawFacing(pen, { x, y, radius }, [down, right], theme) {
    const [far, near, wide] = [1.5 * radius, 0.7 * radius, 0.62 * radius];
    pen.beginPath();
    pen.moveTo(x + right * far, y + down * far);
    pen.lineTo(x + right * near + down * wide, y + down * near + right * wide);
    pen.lineTo(x + right * near - down * wide, y + down * near - right * wide);
    pen.closePath();
    pen.fillStyle = theme.ink;
    pen.fill();
  }
  function drawJoints(pen, map, agents, { joints, theme }, episode) {
    for (const joint of joints) {
      const spots = joint.who.flatMap((name) => agents[episode.place.get(name) ?? -1] ?? []).filter((spot) => spot.radius);
      if (!spots.length || map.cell < 6) continue;
      const colour = joint.success ? theme.good : theme.fail;
      const font = clamp(map.cell * 0.3, 10, 15);
      const middle = spots.reduce((sum, spot) => sum + spot.x, 0) / spots.length;
      const x = clamp(middle, 2 * font, map.size - 2 * font);
      const y = clamp(Math.min(...spots.map((spot) => spot.y - spot.radius)) - font * 1.4, font, map.size - font);
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.beginPath();
      for (const spot of spots) {
        pen.moveTo(x, y);
        pen.lineTo(spot.x, spot.y - spot.radius);
      }
      pen.stroke();
      const words = force(joint).join("/");
      pen.font = `700 ${font}px ${FONT}`;
      pill(pen, words, x, y, font, colour, pen.measureText(words).width + font);
    }
  }

  // src/worlds/grid/known.ts
  var known = ({ layer, t }, episode) => layer ? sightings(episode, layer, t) : [];
  function drawKnown(pen, map, moment, episode, drawPicture2) {
    const { theme } = moment;
    const all = known(moment, episode);
    pen.fillStyle = theme.card;
    pen.globalAlpha = 0.72;
    pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
    pen.globalAlpha = 1;
    pen.save();
    pen.beginPath();
    for (const { row, column } of all.filter(({ age }) => age === 0))
      pen.rect(map.x(column), map.y(row), map.cell, map.cell);
    pen.clip();
    drawPicture2();
    pen.restore();
    pen.setLineDash([3, 2]);
    for (const { name, row, column, age } of all.filter((it) => it.age > 0)) {
      const [x, y] = [map.x(column), map.y(row)];
      pen.fillStyle = theme.card;
      pen.fillRect(x + 2, y + 2, map.cell - 4, map.cell - 4);
      pen.strokeStyle = theme.ready;
      pen.lineWidth = 1.5;
      pen.strokeRect(x + 2, y + 2, map.cell - 4, map.cell - 4);
      const short = `${name.slice(0, 1)}${/\d*$/.exec(name)?.[0] ?? ""}`;
      label(pen, short, x + map.cell / 2, y + map.cell * 0.38, map.cell * 0.36, theme.ink);
      label(pen, `−${age}`, x + map.cell / 2, y + map.cell * 0.74, map.cell * 0.3, theme.ready);
    }
    pen.setLineDash([]);
  }

  // src/worlds/grid/main.ts
  var MOST_TRAILS = 64;
  var MOST_KEY_ROWS = 24;
  var paper = new Paper();
  function drawPicture(pen, map, moment, episode) {
    const { frame, team, theme, chosen } = moment;
    const { kinds } = episode.static;
    const key = [...Object.values(map.view), theme.card];
    const ground = paper.take(episode, key, map.size, (own) => drawGround(own, map, episode, theme));
    pen.drawImage(ground, 0, 0, map.size, map.size);
    drawThings(pen, map, frame.things, kinds);
    const agents = places(map, moment);
    const isNamed = areNames(frame, episode);
    const here = agents.flatMap((spot, place) => {
      const [agent, member] = [frame.agents[place], team[place]];
      if (!spot.radius || !agent || !member || member.gone) return [];
      return [{ spot, place, agent, colour: member.aim ? episode.colour(member.aim) : theme.idle }];
    });
    if (agents.length <= MOST_TRAILS)
      for (const { spot, place, colour } of here) drawTrail(pen, map, spot, place, moment, episode, colour);
    for (const { spot, place, agent, colour } of here)
      drawAgent(pen, spot, place, agent, { colour, theme, isChosen: place === chosen, kinds, isNamed });
    drawJoints(pen, map, agents, moment, episode);
    return { agents };
  }
  function marksOf({ theme, frame }, episode) {
    const any = (is) => episode.frames.some(({ agents }) => agents.some((agent) => agent && is(agent)));
    const look = { colour: theme.idle, theme, isChosen: false, kinds: episode.static.kinds, isNamed: true };
    const sample = (agent) => (pen, size) => drawAgent(pen, { x: size / 2, y: size / 2, radius: size * 0.32 }, 0, agent, look);
    const rows = [
      [true, { samples: [sample([0, 0, "0", "", ""])], words: "agent, in the colour of the goal it works on" }],
      [any((agent) => agent[3]), { samples: [sample([0, 0, "", "east", ""])], words: "the way it faces" }],
      [any((agent) => agent[4]), { words: "below on its left: what it carries" }],
      [!areNames(frame, episode), { words: "above on its right: its own label" }],
      [episode.joints.length, { words: "1/2: one acts, it takes two at once" }]
    ];
    return rows.flatMap(([isThere, row]) => isThere ? [{ ...row, soft: true }] : []);
  }
  var grid = {
    zooms: true,
    layers: knowledgeLayers,
    draw(pen, size, moment, episode) {
      const map = layGrid(size, ...episode.static.size, moment.view);
      pen.fillStyle = moment.theme.page;
      pen.fillRect(0, 0, size, size);
      const drawn = drawPicture(pen, map, moment, episode);
      if (moment.layer && episode.knowledge)
        drawKnown(pen, map, moment, episode, () => drawPicture(pen, map, moment, episode));
      return drawn;
    },
    key(moment, episode) {
      const kinds = Object.values(episode.static.kinds).slice(0, MOST_KEY_ROWS).map((look) => {
        return { samples: [(pen, size) => drawThing(pen, look, size / 2, size / 2, size)], words: look.words };
      });
      const marks = [
        { words: "faint: not perceived now", soft: true },
        { words: "dashed: where it last was perceived, −n: n steps ago", soft: true }
      ];
      return [...kinds, ...moment.layer ? marks : [], ...marksOf(moment, episode)];
    },
    label(moment, episode, x, y, size) {
      const map = layGrid(size, ...episode.static.size, moment.view);
      const cell = cellAt(map, x, y);
      if (!cell) return [];
      const [row, column] = cell;
      const { kinds, ground } = episode.static;
      const isNamed = areNames(moment.frame, episode);
      const who = moment.frame.agents.flatMap((agent, place) => {
        if (agent?.[0] !== row || agent[1] !== column || entry(moment.team, place).gone) return [];
        const extra = isNamed ? "" : agent[2];
        const load = agent[4] ? `, carries ${lookOf(kinds, agent[4]).words}` : "";
        return [`${say(entry(episode.team, place).name)}${extra ? ` (${extra})` : ""}${load}`];
      });
      const what = [...moment.frame.things, ...ground].filter((thing) => thing[0] === row && thing[1] === column).map(([, , kind, text]) => `${lookOf(kinds, kind).words}${text ? `: ${text}` : ""}`);
      const told = known(moment, episode).filter((it) => it.row === row && it.column === column).map(({ name, age }) => {
        const act = age ? `last perceived ${say(name)} here ${plural(age, "step")} ago` : `perceives ${say(name)}`;
        return `${say(moment.layer ?? "")} ${act}`;
      });
      return [...who, ...what, ...told, `(${row}, ${column})`];
    },
    words({ t, frame }, episode) {
      const [rows, columns] = episode.static.size;
      const team = plural(frame.agents.filter(Boolean).length, "agent");
      return `Grid of ${rows} by ${columns} cells at step ${t}: ${team}, ${plural(frame.things.length, "thing")}.`;
    }
  };
  register("grid", grid);
})();
