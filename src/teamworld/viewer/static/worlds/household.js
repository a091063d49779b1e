"use strict";
// Household: a floor plan. Containers are filled while they are closed and outlined once they are open; what they hide
// is shown faintly. Things have the colour of their goal, agents that of the goal they work on. Colours and words come
// with the page (`episode.style`, the world's drawing_data.py), what agents know from a log of the level `beliefs`.
(function (tw) {
  const TRUTH = "truth";
  const MARGIN = 30; // centimetres round the home
  const TRAIL = 10;
  const FOG = 0.35;
  const NEAR = 60; // pixels between pieces that are alike, within which one name serves for both
  let paper = null;

  const looks = (episode) => episode.style;
  const mark = (style, name) => style.marks[name] ?? name.charAt(0).toUpperCase() + name.slice(1, 2);
  const shared = (one, other) =>
    Math.max(0, Math.min(one[2], other[2]) - Math.max(one[0], other[0])) *
    Math.max(0, Math.min(one[3], other[3]) - Math.max(one[1], other[1]));
  const within = (one, other) => other[0] <= one[0] && one[2] <= other[2] && other[1] <= one[1] && one[3] <= other[3];

  /** Where the home lies on a square canvas. */
  function layout(size, fixed, view = { zoom: 1, x: 0.5, y: 0.5 }) {
    const boxes = fixed.rooms.map((room) => room.box);
    const [left, low] = [0, 1].map((axis) => Math.min(...boxes.map((one) => one[axis])) - MARGIN);
    const [right, top] = [2, 3].map((axis) => Math.max(...boxes.map((one) => one[axis])) + MARGIN);
    const scale = (size / Math.max(right - left, top - low)) * view.zoom;
    const aside = (size * view.zoom - (right - left) * scale) / 2 - (view.x * size * view.zoom - size / 2);
    const down = (size * view.zoom - (top - low) * scale) / 2 - (view.y * size * view.zoom - size / 2);
    const spot = (x, z) => [aside + (x - left) * scale, down + (top - z) * scale];
    const area = (one) => [...spot(one[0], one[3]), ...spot(one[2], one[1])];
    return { size, scale, spot, area, unit: tw.clamp(size / 700, 0.75, 1.3), view };
  }

  // ---- drawing

  function box(pen, [x0, y0, x1, y1], fill, rim, thick) {
    pen.beginPath();
    pen.roundRect(x0, y0, x1 - x0, y1 - y0, Math.min(3, (x1 - x0) / 4, (y1 - y0) / 4));
    pen.fillStyle = fill;
    pen.fill();
    pen.lineWidth = thick;
    pen.strokeStyle = rim;
    pen.stroke();
  }

  function write(pen, words, x, y, size, colour, { weight = 500, align = "center", base = "middle", halo = null } = {}) {
    pen.font = `${weight} ${size}px system-ui, sans-serif`;
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

  function rooms(pen, plan, fixed, style) {
    const wall = Math.max(14 * plan.scale, 1.5);
    for (const room of fixed.rooms) {
      const [x0, y0, x1, y1] = plan.area(room.box);
      pen.fillStyle = style.rooms[room.name] ?? style.any_room;
      pen.fillRect(x0, y0, x1 - x0, y1 - y0);
      pen.lineWidth = wall;
      pen.lineJoin = "round";
      pen.strokeStyle = style.wall;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
    }
    for (const { at, across, width } of fixed.doors) {
      const thin = wall / plan.scale / 2 + 1;
      const [dx, dz] = across === "x" ? [thin, width / 2] : [width / 2, thin];
      const [x0, y0, x1, y1] = plan.area([at[0] - dx, at[1] - dz, at[0] + dx, at[1] + dz]);
      pen.fillStyle = style.door;
      pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    }
  }

  /** Fill and rim of a piece of furniture. */
  function coat(piece, frame, style) {
    const shut = piece.container && !frame.open.includes(piece.id);
    if (frame.unknown.has(piece.id)) return ["#ffffff00", style.soft, 1, [3, 3]];
    if (piece.goal) return [shut ? tw.mix(...style.target, 0.35) : style.target[0], style.target[1], 2.6, []];
    if (!piece.container) return [...style.furniture, 1, []];
    return shut ? [...style.closed, 1, []] : [...style.open, 1.8, []];
  }

  function furniture(pen, plan, fixed, frame, style) {
    for (const piece of fixed.furniture) {
      const [fill, rim, thick, dashes] = coat(piece, frame, style);
      pen.setLineDash(dashes);
      box(pen, plan.area(piece.box), fill, rim, thick);
    }
    pen.setLineDash([]);
  }

  const placed = new WeakMap();

  /** Names with their places: of rooms where they cover the least, then of furniture, inside it or beside it, where there
   * is room. Kept until the size or the part that is shown changes: names do not move while things do. */
  function labels(plan, episode) {
    const key = [plan.size, ...Object.values(plan.view)].join();
    const kept = placed.get(episode);
    if (kept?.key === key && kept.fixed === episode.static) return kept.names;
    const names = findNames(plan, episode.static, looks(episode));
    placed.set(episode, { key, fixed: episode.static, names });
    return names;
  }

  function findNames(plan, fixed, style) {
    const pen = document.createElement("canvas").getContext("2d");
    const pieces = new Map(fixed.furniture.map((piece) => [piece.id, { ...piece, area: plan.area(piece.box) }]));
    const found = [];
    const size = 14 * plan.unit;
    for (const room of fixed.rooms) {
      const [x0, y0, x1, y1] = plan.area(room.box);
      pen.font = `500 ${size}px system-ui, sans-serif`;
      const long = pen.measureText(room.name).width;
      let best = null;
      for (let j = 0; j < 9; j++) {
        for (let i = 0; i < 7; i++) {
          const [x, y] = [x0 + 8 + ((x1 - x0 - 16 - long) * i) / 6, y0 + 8 + ((y1 - y0 - 16 - size) * j) / 8];
          const place = [x, y, x + long, y + size];
          const covered = [...pieces.values()].reduce((sum, piece) => sum + shared(place, piece.area), 0);
          if (best === null || covered < best.covered) best = { place, covered };
        }
      }
      found.push({ words: room.name, place: best.place, size, ink: style.soft, halo: style.rooms[room.name] ?? style.any_room });
    }
    const small = Math.max(10.5 * plan.unit, 9);
    pen.font = `500 ${small}px system-ui, sans-serif`;
    const together = fixed.touching ?? [];
    const alone = fixed.furniture.filter((piece) => !together.flat().includes(piece.id)).map((piece) => [piece.id]);
    for (const ids of [...together, ...alone]) {
      const own = ids.map((id) => pieces.get(id));
      const words = own[0].name + (ids.length > 1 ? ` ×${ids.length}` : "");
      const areas = own.map((piece) => piece.area);
      const around = [0, 1, 2, 3].map((side) => (side < 2 ? Math.min : Math.max)(...areas.map((area) => area[side])));
      const others = [...pieces.values()].filter((piece) => !ids.includes(piece.id)).map((piece) => piece.area);
      const taken = found.map(({ place }) => place);
      const isFilled = own.some((piece) => piece.goal || piece.container); // things lie in the middle of it
      const middle = [(around[0] + around[2]) / 2, (around[1] + around[3]) / 2];
      const isNamed = found.some((one) => one.words === words && Math.hypot(one.middle[0] - middle[0], one.middle[1] - middle[1]) < NEAR * plan.unit);
      if (isNamed && !isFilled) continue; // a chair beside a chair
      const place = findLabel(plan, fixed, around, isFilled ? [] : areas, [...taken, ...others, ...(isFilled ? areas : [])], pen.measureText(words).width, small, isFilled ? [2, 2 * small, 4 * small] : [2, small]);
      if (!place) continue;
      const ink = own[0].goal ? style.target[1] : own[0].container ? "#3d4750" : "#6f6757";
      found.push({ words, place, middle, size: small, ink, halo: own.some((piece) => within(place, piece.area)) ? null : "#ffffff" });
    }
    return found;
  }

  /** Where a name has room: within a piece, else beside it, in a room first; undefined if nowhere. */
  function findLabel(plan, fixed, [x0, y0, x1, y1], own, taken, long, size, distances) {
    const at = (x, y) => [x, y, x + long, y + size];
    const inside = own.flatMap((piece) => {
      const left = (piece[0] + piece[2] - long) / 2;
      return [at(left, piece[3] - 3 - size), at(left, (piece[1] + piece[3] - size) / 2)].filter((place) => within(place, piece));
    });
    const [middle, down] = [(x0 + x1 - long) / 2, (y0 + y1 - size) / 2];
    const beside = distances.flatMap((far) => [at(middle, y1 + far), at(middle, y0 - size - far), at(x1 + far, down), at(x0 - long - far, down)]);
    const rooms = fixed.rooms.map((room) => plan.area(room.box));
    const isIn = (place) => rooms.some((room) => within(place, room));
    const sheet = beside.filter((place) => within(place, [0, 0, plan.size, plan.size]));
    const places = [...inside, ...sheet.filter(isIn), ...sheet.filter((place) => !isIn(place))];
    return places.find((place) => !taken.some((other) => shared(place, other) > 0));
  }

  /** Shade a room that the agent of the layer has not been in. */
  function fog(pen, [x0, y0, x1, y1], style) {
    pen.globalAlpha = FOG;
    pen.fillStyle = style.soft;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    pen.globalAlpha = 1;
  }

  /** The home without agents and things, kept until the size, the theme or something in it changes. */
  function ground(plan, frame, episode, theme) {
    const key = [plan.size, window.devicePixelRatio, theme.card, frame.open, [...frame.unknown], [...frame.far], ...Object.values(plan.view)].join("|");
    if (paper && paper.key === key && paper.episode === episode) return paper.canvas;
    const canvas = document.createElement("canvas");
    const pen = tw.fit(canvas, plan.size, plan.size);
    const style = looks(episode);
    pen.fillStyle = theme.card;
    pen.fillRect(0, 0, plan.size, plan.size);
    rooms(pen, plan, episode.static, style);
    furniture(pen, plan, episode.static, frame, style);
    for (const room of episode.static.rooms.filter(({ id }) => frame.far.has(id))) fog(pen, plan.area(room.box), style);
    for (const { words, place, size, ink, halo } of labels(plan, episode)) write(pen, words, place[0], place[3], size, ink, { align: "left", base: "bottom", halo });
    paper = { key, episode, canvas };
    return canvas;
  }

  function tag(pen, plan, style, [x, y], colour, words, number = 1, faint = false) {
    const [ink, closed] = [style.ink, style.closed[0]];
    const half = 8.5 * plan.unit * (faint ? 0.85 : 1);
    const letters = faint ? tw.mix(ink, closed, 0.35) : tw.inkOn(colour);
    pen.beginPath();
    pen.roundRect(x - half, y - half, 2 * half, 2 * half, half * 0.5);
    pen.fillStyle = faint ? tw.mix(colour, closed, 0.55) : colour;
    pen.fill();
    pen.lineWidth = faint ? 0.8 : 1.1;
    pen.strokeStyle = faint ? tw.mix(ink, closed, 0.5) : ink;
    pen.stroke();
    write(pen, words, x, y + 0.5, half * 1.1, letters, { weight: 700 });
    if (number < 2) return;
    pen.beginPath();
    pen.arc(x + half * 0.95, y - half * 0.9, half * 0.65, 0, 2 * Math.PI);
    pen.fillStyle = ink;
    pen.fill();
    write(pen, String(number), x + half * 0.95, y - half * 0.85, half * 0.95, "#ffffff", { weight: 700 });
  }

  const colourOf = (episode, need) => {
    const target = episode.static.furniture.find((piece) => piece.id === need.target);
    return episode.colour(`${need.name}_${need.relation.toLowerCase()}_${target?.name}`);
  };

  /** Tags of things that nobody holds, those of a class in one place together; none covers another. */
  function tags(plan, frame, episode) {
    const { needs, rooms: all, furniture: pieces, things: named } = episode.static;
    const boxes = new Map(pieces.map((piece) => [piece.id, piece]));
    const inRooms = new Set(all.map((room) => room.id));
    const heaps = new Map();
    frame.things.forEach((thing, k) => {
      if (!thing || thing[0] === "HELD") return;
      const [relation, place, x, z] = thing;
      const need = needs.findIndex((one) => one.name === named[k].name);
      const key = `${relation} ${place} ${inRooms.has(place) ? k : ""} ${need}`;
      if (!heaps.has(key)) heaps.set(key, { relation, place, need, spots: [], age: Infinity });
      heaps.get(key).spots.push(plan.spot(x, z));
      heaps.get(key).age = Math.min(heaps.get(key).age, frame.ages[k] ?? 0);
    });
    const areas = all.map((room) => plan.area(room.box));
    const apart = looks(episode).apart * plan.unit;
    const written = labels(plan, episode).map(({ place: [x0, y0, x1, y1] }) => [x0 - apart / 2, y0 - apart / 2, x1 + apart / 2, y1 + apart / 2]);
    const taken = [];
    return [...heaps.values()].map(({ relation, place, need, spots, age }) => {
      const piece = boxes.get(place);
      let home = [0, 1].map((axis) => spots.reduce((sum, spot) => sum + spot[axis], 0) / spots.length);
      if (relation === "INSIDE" && piece) home = plan.spot((piece.box[0] + piece.box[2]) / 2, (piece.box[1] + piece.box[3]) / 2);
      const at = findSpot(home, taken, areas, written, apart);
      taken.push(at);
      return { at, home, need, age, number: spots.length, faint: relation === "INSIDE" && Boolean(piece?.container) && !frame.open.includes(place) };
    });
  }

  /** Steps aside that a tag may take, the shortest first. */
  const ASIDE = Array.from({ length: 169 }, (_, k) => [Math.floor(k / 13) - 6, (k % 13) - 6]).sort(([a, b], [c, d]) => a * a + b * b - c * c - d * d || a - c || b - d);

  /** The place nearest to where a tag belongs at which it covers no other and no name, and lies in a room. */
  function findSpot(home, taken, areas, written, apart) {
    const edge = apart / 2;
    const places = ASIDE.map(([i, j]) => [home[0] + i * edge, home[1] + j * edge]);
    const isIn = ([x, y]) => areas.some(([x0, y0, x1, y1]) => x0 + edge <= x && x <= x1 - edge && y0 + edge <= y && y <= y1 - edge);
    const isFree = (place) => taken.every(([x, y]) => Math.max(Math.abs(place[0] - x), Math.abs(place[1] - y)) >= apart);
    const isBlank = ([x, y]) => written.every(([x0, y0, x1, y1]) => x <= x0 || x >= x1 || y <= y0 || y >= y1);
    const free = places.filter((place) => isIn(place) && isFree(place));
    return free.find(isBlank) ?? free[0] ?? home;
  }

  function things(pen, plan, frame, episode) {
    const style = looks(episode);
    const all = tags(plan, frame, episode);
    pen.strokeStyle = pen.fillStyle = style.ink;
    pen.lineWidth = 1;
    for (const { at, home } of all) {
      if (at[0] === home[0] && at[1] === home[1]) continue;
      pen.beginPath();
      pen.moveTo(...home);
      pen.lineTo(...at);
      pen.stroke();
      pen.beginPath();
      pen.arc(...home, 2 * plan.unit, 0, 2 * Math.PI);
      pen.fill();
    }
    const { needs } = episode.static;
    for (const { at, need, number, faint, age } of all) {
      tag(pen, plan, style, at, colourOf(episode, needs[need]), mark(style, needs[need].name), number, faint);
      if (age > 0) write(pen, `−${age}`, at[0], at[1] + 14 * plan.unit, 9 * plan.unit, style.ink, { weight: 600, halo: "#ffffff" });
    }
  }

  function pointer(pen, [x, y], radius, ahead, fill) {
    pen.beginPath();
    if (ahead !== null) for (const [far, side] of [[1.65, 0], [0.95, 0.85], [0.95, -0.85]])
      pen.lineTo(x + far * radius * Math.sin(ahead + side), y - far * radius * Math.cos(ahead + side));
    pen.closePath();
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
  }

  function trail(pen, plan, place, moment, episode, colour) {
    pen.beginPath();
    for (let t = Math.max(0, moment.t - TRAIL); t <= moment.t; t++) pen.lineTo(...plan.spot(...episode.frame(t).agents[place]));
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 3 * plan.unit;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** Where agents are drawn: those who stand on one another are moved aside. */
  function spots(plan, moment, radius) {
    const { frame, next, share } = moment;
    const found = [];
    frame.agents.forEach(([x, z], place) => {
      const to = next.agents[place] ?? [x, z];
      const [left, top] = plan.spot(tw.between(x, to[0], tw.ease(share)), tw.between(z, to[1], tw.ease(share)));
      let at = [left, top];
      for (let k = 1; k < 7; k++) {
        if (found.every((other) => Math.hypot(at[0] - other[0], at[1] - other[1]) >= radius)) break;
        at = [left + 1.7 * radius * Math.cos(k * 1.05), top + 1.7 * radius * Math.sin(k * 1.05)];
      }
      found.push(at);
    });
    return found;
  }

  function agents(pen, plan, moment, frame, episode) {
    const { chosen } = moment;
    const style = looks(episode);
    const { needs, things: named } = episode.static;
    const byId = new Map(named.map((thing) => [thing.id, needs.find((need) => need.name === thing.name)]));
    const radius = 11.5 * plan.unit;
    const drawn = spots(plan, moment, radius);
    drawn.forEach((spot, place) => {
      if (frame.unmet.has(place)) return;
      const { aim } = moment.team[place];
      const colour = aim ? episode.colour(aim) : "#ffffff";
      const heading = frame.agents[place][2];
      const ahead = heading === null ? null : (heading * Math.PI) / 180;
      trail(pen, plan, place, moment, episode, aim ? colour : style.soft);
      pointer(pen, spot, radius + (place === chosen ? 3.2 : 1.6) * plan.unit, ahead, style.ink);
      pointer(pen, spot, radius, ahead, colour);
      const name = episode.team[place].name;
      write(pen, name.charAt(0), spot[0], spot[1] + 0.5, radius * 1.15, tw.inkOn(colour), { weight: 700 });
      frame.hands[place].forEach((thing, side) => {
        if (thing === null) return;
        const need = byId.get(thing);
        const at = [spot[0] + (side ? -1.5 : 1.5) * radius, spot[1] - 0.9 * radius];
        tag(pen, plan, style, at, need ? colourOf(episode, need) : "#ffffff", need ? mark(style, need.name) : "?");
      });
      write(pen, name, spot[0], spot[1] + 1.85 * radius, 12 * plan.unit, style.ink, { weight: 600, halo: "#ffffff" });
    });
    return drawn.map(([x, y]) => ({ x, y, radius }));
  }

  /** What an agent believes without being sure, in words at the place. */
  function beliefs(pen, plan, moment, episode) {
    const lines = new Map();
    for (const { name, chance, place, area } of tw.homeBeliefs(moment, episode)) {
      const line = lines.get(place) ?? 0;
      lines.set(place, line + 1);
      const [x, y] = plan.spot((area[0] + area[2]) / 2, (area[1] + area[3]) / 2);
      write(pen, `${name}? ${Math.round(100 * chance)} %`, x, y + 13 * line * plan.unit, 10.5 * plan.unit, looks(episode).ink, { weight: 600, halo: "#ffffff" });
    }
  }

  function keyOf(moment, episode) {
    const { needs, furniture: pieces } = episode.static;
    const style = looks(episode);
    const sample = (colour, words, faint) => (pen, size) => tag(pen, { unit: 0.95 }, style, [size / 2, size / 2], colour, words, 1, faint);
    const target = pieces.find((piece) => piece.id === needs[0].target);
    const rows = [{ head: `${needs[0].relation === "ON" ? "on" : "into"} the ${target?.name ?? "target"}` }];
    needs.forEach((need, k) => {
      const there = need.number - moment.frame.missing[k];
      rows.push({ samples: [sample(colourOf(episode, need), mark(style, need.name))], words: `${need.name}: ${there} of ${need.number}`, soft: there === need.number });
    });
    rows.push({ head: "plan" });
    for (const [name, words] of style.legend) {
      const [fill, rim] = style[name];
      rows.push({ samples: [(pen, size) => box(pen, [2, 4, size - 2, size - 4], fill, rim, 1.5)], words, soft: true });
    }
    rows.push({ samples: [sample(style.closed[0], mark(style, needs[0].name), true)], words: "pale: in a closed container", soft: true });
    rows.push({ samples: [(pen, size) => pointer(pen, [size / 2, size / 2], size * 0.3, Math.PI / 2, style.soft)], words: "agent: where it looks, its last steps", soft: true });
    if ((moment.layer ?? TRUTH) !== TRUTH) rows.push({ samples: [(pen, size) => {
      pen.setLineDash([3, 3]);
      box(pen, [2, 4, size - 2, size - 4], "#ffffff00", style.soft, 1);
    }], words: `${moment.layer} has not seen it yet`, soft: true }, { samples: [tw.mix("#ffffff", style.soft, FOG)], words: `${moment.layer} has not been there yet`, soft: true }, { words: "−n: perceived n steps ago", soft: true }, ...(tw.homeBeliefs(moment, episode).length ? [{ words: "x? 90 %: believed to be there", soft: true }] : []));
    return rows;
  }

  tw.drawers.household = {
    zooms: true,
    layers: (episode) => [
      { id: TRUTH, words: "everything" },
      ...(episode.perceived?.length ? episode.team.map(({ name }) => ({ id: name, words: `what ${name} knows: as last perceived` })) : []),
    ],
    note: (episode) => (episode.perceived?.length ? "" : "What an agent knows is shown of logs of the level beliefs (run with --log-level beliefs)."),
    key: keyOf,
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const plan = layout(size, episode.static, moment.view);
      const frame = tw.homeAsKnown(moment, episode);
      pen.drawImage(ground(plan, frame, episode, moment.theme), 0, 0, size, size);
      things(pen, plan, frame, episode);
      const drawn = agents(pen, plan, moment, frame, episode);
      beliefs(pen, plan, moment, episode);
      return { agents: drawn };
    },
    /** What is under the pointer: furniture, and the things in or on it. */
    label(moment, episode, x, y, size) {
      const { static: fixed } = episode;
      const plan = layout(size, fixed, moment.view);
      const frame = tw.homeAsKnown(moment, episode);
      const isOver = ({ box: area }) => within([x, y, x, y], plan.area(area));
      const piece = fixed.furniture.findLast(isOver);
      const found = piece ?? fixed.rooms.find(isOver);
      if (!found) return [];
      const state = !piece?.container ? "" : frame.unknown.has(piece.id) ? ", not seen yet" : frame.open.includes(piece.id) ? ", open" : ", closed";
      const here = frame.things.flatMap((thing, k) => (thing && thing[0] !== "HELD" && thing[1] === found.id ? [`${fixed.things[k].name} ${fixed.things[k].id}, ${thing[0].toLowerCase()}${frame.ages[k] > 0 ? `, perceived ${tw.plural(frame.ages[k], "step")} ago` : ""}`] : []));
      return [`${found.name} ${found.id}${state}`, ...here];
    },
    /** For tests: where tags are. */
    tags: (moment, episode, size) => tags(layout(size, episode.static), tw.homeAsKnown(moment, episode), episode),
    /** For tests: where names are. */
    labels: (episode, size) => labels(layout(size, episode.static), episode),
    /** The picture in words. */
    words(moment, episode) {
      const { needs, rooms: all } = episode.static;
      const there = needs.map((need, k) => `${need.number - moment.frame.missing[k]} of ${need.number} ${need.name}`);
      const open = tw.plural(moment.frame.open.length, "container");
      return `Floor plan with ${tw.plural(all.length, "room")} at step ${moment.t}: ${there.join(", ")} delivered, ${open} open.`;
    },
  };
})(window.teamworld);
