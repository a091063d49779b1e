// Built from frontend/src/worlds/household by "make pages"; change the sources and build again.
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

  // src/shared/words.ts
  var plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  // src/shared/numbers.ts
  var clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  var ease = (share) => share * share * (3 - 2 * share);
  var between = (one, other, share) => one + (other - one) * share;

  // src/worlds/common/geometry.ts
  var WHOLE = { zoom: 1, x: 0.5, y: 0.5 };
  function entry(rows, place) {
    const row = rows[place];
    if (row === void 0) throw new Error(`expected a row ${place}, got ${rows.length} rows`);
    return row;
  }
  function layFloor(size, boxes, margin, view = WHOLE) {
    const [left, low] = [
      Math.min(...boxes.map((box) => box[0])) - margin,
      Math.min(...boxes.map((box) => box[1])) - margin
    ];
    const [right, top] = [
      Math.max(...boxes.map((box) => box[2])) + margin,
      Math.max(...boxes.map((box) => box[3])) + margin
    ];
    const scale = size / Math.max(right - left, top - low) * view.zoom;
    const aside = (size * view.zoom - (right - left) * scale) / 2 - (view.x * size * view.zoom - size / 2);
    const down = (size * view.zoom - (top - low) * scale) / 2 - (view.y * size * view.zoom - size / 2);
    const spot = (x, z) => [aside + (x - left) * scale, down + (top - z) * scale];
    return {
      size,
      scale,
      unit: clamp(size / 700, 0.75, 1.3),
      view,
      spot,
      area: ([x0, z0, x1, z1]) => [...spot(x0, z1), ...spot(x1, z0)],
      flip: [scale, 0, 0, -scale, aside - left * scale, down + top * scale]
    };
  }
  var shared = (one, other) => Math.max(0, Math.min(one[2], other[2]) - Math.max(one[0], other[0])) * Math.max(0, Math.min(one[3], other[3]) - Math.max(one[1], other[1]));
  var within = (one, other) => other[0] <= one[0] && one[2] <= other[2] && other[1] <= one[1] && one[3] <= other[3];

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
  var ASIDE = [
    [0.95, 0.85],
    [0.95, -0.85]
  ];
  function beginHeading(pen, [x, y], radius, ahead, tip) {
    pen.beginPath();
    if (ahead === null) return;
    for (const [far, side] of [[tip, 0], ...ASIDE])
      pen.lineTo(x + far * radius * Math.sin(ahead + side), y - far * radius * Math.cos(ahead + side));
    pen.closePath();
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

  // src/worlds/household/names.ts
  var NEAR = 60;
  var kept = /* @__PURE__ */ new WeakMap();
  function namesOf(plan, episode) {
    const key = [plan.size, ...Object.values(plan.view)].join();
    const old = kept.get(episode);
    if (old?.key === key && old.fixed === episode.static) return old.names;
    const pen = document.createElement("canvas").getContext("2d");
    const measure = (words, size) => {
      if (!pen) return 0;
      pen.font = `500 ${size}px ${FONT}`;
      return pen.measureText(words).width;
    };
    const names = placeNames(plan, episode.static, episode.style, measure);
    kept.set(episode, { key, fixed: episode.static, names });
    return names;
  }
  function placeNames(plan, fixed, style, measure) {
    const areas = fixed.furniture.map((piece) => plan.area(piece.box));
    const found = fixed.rooms.map((room) => nameRoom(plan, room, areas, style, measure));
    const together = fixed.touching ?? [];
    const alone = fixed.furniture.filter(({ id }) => !together.flat().includes(id)).map(({ id }) => [id]);
    for (const ids of [...together, ...alone]) {
      const own = ids.flatMap((id) => fixed.furniture.find((piece) => piece.id === id) ?? []);
      const others = areas.filter((_, k) => !ids.includes(fixed.furniture[k]?.id ?? -1));
      const name = nameFurniture(plan, fixed, own, others, found, style, measure);
      if (name) found.push(name);
    }
    return found;
  }
  function nameRoom(plan, room, areas, style, measure) {
    const size = 14 * plan.unit;
    const [x0, y0, x1, y1] = plan.area(room.box);
    const long = measure(room.name, size);
    let [best, least] = [[x0, y0, x0 + long, y0 + size], Number.POSITIVE_INFINITY];
    for (let j = 0; j < 9; j++) {
      for (let i = 0; i < 7; i++) {
        const [x, y] = [x0 + 8 + (x1 - x0 - 16 - long) * i / 6, y0 + 8 + (y1 - y0 - 16 - size) * j / 8];
        const place = [x, y, x + long, y + size];
        const covered = areas.reduce((sum, area) => sum + shared(place, area), 0);
        if (covered < least) [best, least] = [place, covered];
      }
    }
    const halo = style.rooms[room.name] ?? style.any_room;
    return { words: room.name, place: best, size, ink: style.soft, halo, middle: null };
  }
  function nameFurniture(plan, fixed, own, others, found, style, measure) {
    const [first] = own;
    if (!first) return null;
    const size = Math.max(10.5 * plan.unit, 9);
    const words = first.name + (own.length > 1 ? ` ×${own.length}` : "");
    const areas = own.map((piece) => plan.area(piece.box));
    const around = [
      Math.min(...areas.map((area) => area[0])),
      Math.min(...areas.map((area) => area[1])),
      Math.max(...areas.map((area) => area[2])),
      Math.max(...areas.map((area) => area[3]))
    ];
    const middle = [(around[0] + around[2]) / 2, (around[1] + around[3]) / 2];
    const isFilled = own.some((piece) => piece.goal || piece.container);
    const isNear = (name) => name.middle && Math.hypot(name.middle[0] - middle[0], name.middle[1] - middle[1]) < NEAR * plan.unit;
    if (!isFilled && found.some((name) => name.words === words && isNear(name))) return null;
    const taken = [...found.map(({ place: place2 }) => place2), ...others, ...isFilled ? areas : []];
    const distances = isFilled ? [2, 2 * size, 4 * size] : [2, size];
    const place = findPlace(plan, fixed, around, isFilled ? [] : areas, taken, measure(words, size), size, distances);
    if (!place) return null;
    const ink = first.goal ? style.target[1] : first.container ? "#3d4750" : "#6f6757";
    const halo = areas.some((area) => within(place, area)) ? null : "#ffffff";
    return { words, place, middle, size, ink, halo };
  }
  function findPlace(plan, fixed, [x0, y0, x1, y1], own, taken, long, size, distances) {
    const at = (x, y) => [x, y, x + long, y + size];
    const inside = own.flatMap((piece) => {
      const left = (piece[0] + piece[2] - long) / 2;
      const places2 = [at(left, piece[3] - 3 - size), at(left, (piece[1] + piece[3] - size) / 2)];
      return places2.filter((place) => within(place, piece));
    });
    const [middle, down] = [(x0 + x1 - long) / 2, (y0 + y1 - size) / 2];
    const beside = distances.flatMap((far) => [
      at(middle, y1 + far),
      at(middle, y0 - size - far),
      at(x1 + far, down),
      at(x0 - long - far, down)
    ]).filter((place) => within(place, [0, 0, plan.size, plan.size]));
    const rooms = fixed.rooms.map((room) => plan.area(room.box));
    const isIn = (place) => rooms.some((room) => within(place, room));
    const places = [...inside, ...beside.filter(isIn), ...beside.filter((place) => !isIn(place))];
    return places.find((place) => !taken.some((other) => shared(place, other) > 0));
  }

  // src/worlds/household/tags.ts
  var markOf = (style, name) => style.marks[name] ?? name.charAt(0).toUpperCase() + name.slice(1, 2);
  function colourOf(episode, need) {
    const target = episode.static.furniture.find((piece) => piece.id === need.target);
    return episode.colour(`${need.name}_${need.relation.toLowerCase()}_${target?.name}`);
  }
  function drawTag(pen, unit, style, [x, y], colour, words, number = 1, faint = false) {
    const [ink, closed] = [style.ink, style.closed[0]];
    const half = 8.5 * unit * (faint ? 0.85 : 1);
    const letters = faint ? mix(ink, closed, 0.35) : inkOn(colour);
    const box = [x - half, y - half, 2 * half, 2 * half];
    if (faint) sheet(pen, box, half * 0.5, mix(colour, closed, 0.55), mix(ink, closed, 0.5), 0.8);
    else sheet(pen, box, half * 0.5, colour, ink, 1.1);
    write(pen, words, x, y + 0.5, half * 1.1, letters, { weight: 700 });
    if (number < 2) return;
    disc(pen, [x + half * 0.95, y - half * 0.9], half * 0.65, ink);
    write(pen, String(number), x + half * 0.95, y - half * 0.85, half * 0.95, "#ffffff", { weight: 700 });
  }
  function heapsOf(plan, frame, { static: fixed }) {
    const inRooms = new Set(fixed.rooms.map((room) => room.id));
    const heaps = /* @__PURE__ */ new Map();
    for (const [k, thing] of frame.things.entries()) {
      if (!thing || thing[0] === "HELD") continue;
      const [relation, place, x, z] = thing;
      const need = fixed.needs.findIndex(({ name }) => name === fixed.things[k]?.name);
      const key = `${relation} ${place} ${inRooms.has(place) ? k : ""} ${need}`;
      const heap = heaps.get(key) ?? { relation, place, need, spots: [], age: Number.POSITIVE_INFINITY };
      heap.spots.push(plan.spot(x, z));
      heap.age = Math.min(heap.age, frame.ages[k] ?? 0);
      heaps.set(key, heap);
    }
    return [...heaps.values()];
  }
  function tagsOf(plan, frame, episode) {
    const { rooms, furniture } = episode.static;
    const areas = rooms.map((room) => plan.area(room.box));
    const apart = episode.style.apart * plan.unit;
    const names = namesOf(plan, episode).map(({ place: [x0, y0, x1, y1] }) => {
      return [x0 - apart / 2, y0 - apart / 2, x1 + apart / 2, y1 + apart / 2];
    });
    const taken = [];
    return heapsOf(plan, frame, episode).map(({ relation, place, need, spots, age }) => {
      const piece = furniture.find(({ id }) => id === place);
      const [middle, down] = [0, 1].map((axis) => spots.reduce((sum, spot) => sum + (spot[axis] ?? 0), 0) / spots.length);
      let home = [middle ?? 0, down ?? 0];
      if (relation === "INSIDE" && piece) {
        const [x0, z0, x1, z1] = piece.box;
        home = plan.spot((x0 + x1) / 2, (z0 + z1) / 2);
      }
      const at = findSpot(home, taken, areas, names, apart);
      taken.push(at);
      const faint = relation === "INSIDE" && piece?.container === true && !frame.open.includes(place);
      return { at, home, need, age, number: spots.length, faint };
    });
  }
  var AROUND = 6;
  var ASIDE2 = Array.from({ length: (2 * AROUND + 1) ** 2 }, (_, k) => {
    return [Math.floor(k / (2 * AROUND + 1)) - AROUND, k % (2 * AROUND + 1) - AROUND];
  }).sort(([a, b], [c, d]) => a * a + b * b - c * c - d * d || a - c || b - d);
  function findSpot(home, taken, areas, names, apart) {
    const edge = apart / 2;
    const places = ASIDE2.map(([i, j]) => [home[0] + i * edge, home[1] + j * edge]);
    const isIn = ([x, y]) => areas.some(([x0, y0, x1, y1]) => x0 + edge <= x && x <= x1 - edge && y0 + edge <= y && y <= y1 - edge);
    const isFree = ([x, y]) => taken.every((other) => Math.max(Math.abs(x - other[0]), Math.abs(y - other[1])) >= apart);
    const isBlank = ([x, y]) => names.every(([x0, y0, x1, y1]) => x <= x0 || x >= x1 || y <= y0 || y >= y1);
    const free = places.filter((place) => isIn(place) && isFree(place));
    return free.find(isBlank) ?? free[0] ?? home;
  }
  function drawTags(pen, plan, frame, episode) {
    const { style, static: fixed } = episode;
    const tags = tagsOf(plan, frame, episode);
    pen.strokeStyle = style.ink;
    pen.lineWidth = 1;
    for (const { at, home } of tags) {
      if (at[0] === home[0] && at[1] === home[1]) continue;
      pen.beginPath();
      pen.moveTo(...home);
      pen.lineTo(...at);
      pen.stroke();
      disc(pen, home, 2 * plan.unit, style.ink);
    }
    for (const { at, need: place, number, faint, age } of tags) {
      const need = entry(fixed.needs, place);
      drawTag(pen, plan.unit, style, at, colourOf(episode, need), markOf(style, need.name), number, faint);
      if (age <= 0) continue;
      const halo = { weight: 600, halo: "#ffffff" };
      write(pen, `−${age}`, at[0], at[1] + 14 * plan.unit, 9 * plan.unit, style.ink, halo);
    }
  }

  // src/worlds/household/agents.ts
  var TRAIL = 10;
  function drawPointer(pen, [x, y], radius, ahead, fill) {
    beginHeading(pen, [x, y], radius, ahead, 1.65);
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
  }
  function spotsOf(plan, { frame, next, share }, radius) {
    const found = [];
    for (const [place, [x, z]] of frame.agents.entries()) {
      const to = next.agents[place] ?? [x, z];
      const [left, top] = plan.spot(between(x, to[0], ease(share)), between(z, to[1], ease(share)));
      let at = [left, top];
      for (let k = 1; k < 7; k++) {
        if (found.every((other) => Math.hypot(at[0] - other[0], at[1] - other[1]) >= radius)) break;
        at = [left + 1.7 * radius * Math.cos(k * 1.05), top + 1.7 * radius * Math.sin(k * 1.05)];
      }
      found.push(at);
    }
    return found;
  }
  function drawAgents(pen, plan, moment, frame, episode) {
    const { style } = episode;
    const radius = 11.5 * plan.unit;
    const drawn = spotsOf(plan, moment, radius);
    for (const [place, spot] of drawn.entries()) {
      if (frame.unmet.has(place)) continue;
      const { aim } = entry(moment.team, place);
      const colour = aim ? episode.colour(aim) : "#ffffff";
      const heading = entry(frame.agents, place)[2];
      const ahead = heading === null ? null : heading * Math.PI / 180;
      const first = Math.max(0, moment.t - TRAIL);
      const way = Array.from({ length: moment.t - first + 1 }, (_, k) => {
        const [x, z] = entry(episode.frame(first + k).agents, place);
        return plan.spot(x, z);
      });
      track(pen, way, aim ? colour : style.soft, 3 * plan.unit, 0.45);
      drawPointer(pen, spot, radius + (place === moment.chosen ? 3.2 : 1.6) * plan.unit, ahead, style.ink);
      drawPointer(pen, spot, radius, ahead, colour);
      const { name } = entry(episode.team, place);
      write(pen, name.charAt(0), spot[0], spot[1] + 0.5, radius * 1.15, inkOn(colour), { weight: 700 });
      drawHands(pen, plan, spot, radius, entry(frame.hands, place), episode);
      const halo = { weight: 600, halo: "#ffffff" };
      write(pen, name, spot[0], spot[1] + 1.85 * radius, 12 * plan.unit, style.ink, halo);
    }
    return drawn.map(([x, y]) => ({ x, y, radius }));
  }
  function drawHands(pen, plan, [x, y], radius, hands, episode) {
    const { style, static: fixed } = episode;
    for (const [side, held] of hands.entries()) {
      if (held === null) continue;
      const thing = fixed.things.find(({ id }) => id === held);
      const need = fixed.needs.find(({ name }) => name === thing?.name);
      const at = [x + (side ? -1.5 : 1.5) * radius, y - 0.9 * radius];
      const [colour, mark] = need ? [colourOf(episode, need), markOf(style, need.name)] : ["#ffffff", "?"];
      drawTag(pen, plan.unit, style, at, colour, mark);
    }
  }

  // src/worlds/household/home.ts
  var FOG = 0.35;
  var CLEAR = "#ffffff00";
  function drawBox(pen, [x0, y0, x1, y1], fill, rim, thick) {
    const corner = Math.min(3, (x1 - x0) / 4, (y1 - y0) / 4);
    sheet(pen, [x0, y0, x1 - x0, y1 - y0], corner, fill, rim, thick);
  }
  function drawRooms(pen, plan, fixed, style) {
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
  function lookOf(piece, frame, style) {
    const isShut = piece.container && !frame.open.includes(piece.id);
    const look = ([fill, rim], thick, dashes = []) => {
      return { fill, rim, thick, dashes };
    };
    if (frame.unknown.has(piece.id)) return look([CLEAR, style.soft], 1, [3, 3]);
    if (piece.goal) return look([isShut ? mix(...style.target, 0.35) : style.target[0], style.target[1]], 2.6);
    if (!piece.container) return look(style.furniture, 1);
    return isShut ? look(style.closed, 1) : look(style.open, 1.8);
  }
  function drawHome(pen, plan, frame, episode, theme) {
    const { style, static: fixed } = episode;
    pen.fillStyle = theme.card;
    pen.fillRect(0, 0, plan.size, plan.size);
    drawRooms(pen, plan, fixed, style);
    for (const piece of fixed.furniture) {
      const { fill, rim, thick, dashes } = lookOf(piece, frame, style);
      pen.setLineDash(dashes);
      drawBox(pen, plan.area(piece.box), fill, rim, thick);
    }
    pen.setLineDash([]);
    pen.globalAlpha = FOG;
    pen.fillStyle = style.soft;
    for (const room of fixed.rooms.filter(({ id }) => frame.far.has(id))) {
      const [x0, y0, x1, y1] = plan.area(room.box);
      pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    }
    pen.globalAlpha = 1;
    for (const { words, place, size, ink, halo } of namesOf(plan, episode))
      write(pen, words, place[0], place[3], size, ink, { align: "left", base: "bottom", halo });
  }

  // src/worlds/household/types.ts
  var TRUTH = "truth";
  var showsAll = ({ layer }) => (layer ?? TRUTH) === TRUTH;

  // src/worlds/household/knowledge.ts
  var kept2 = /* @__PURE__ */ new WeakMap();
  function knowledge(episode, agent, t) {
    let own = kept2.get(episode);
    if (!own || own.agent !== agent || own.t > t) {
      own = {
        agent,
        t: -1,
        at: 0,
        now: /* @__PURE__ */ new Set(),
        things: /* @__PURE__ */ new Map(),
        states: /* @__PURE__ */ new Map(),
        met: /* @__PURE__ */ new Map(),
        been: /* @__PURE__ */ new Set()
      };
      kept2.set(episode, own);
    }
    for (; own.t < t; own.t++) {
      for (let change = episode.perceived[own.at]; change && change.frame <= own.t + 1; ) {
        if (change.agent === agent) {
          for (const fact of change.unseen ?? []) own.now.delete(fact);
          for (const fact of change.seen ?? []) own.now.add(fact);
        }
        own.at += 1;
        change = episode.perceived[own.at];
      }
      learn(own, own.t + 1);
    }
    return own;
  }
  var FACT = /^(?:<\w+>\((\d+)\)|(\S+)) (\w+) (?:<\w+>\((\d+)\)|(.+))$/;
  function learn(own, t) {
    const seen = /* @__PURE__ */ new Map();
    const looked = /* @__PURE__ */ new Set();
    for (const fact of own.now) {
      const [, number, name, predicate, place, value] = FACT.exec(fact) ?? [];
      if (number && predicate && ["INSIDE", "ON", "IN"].includes(predicate)) {
        if (!seen.has(+number) || predicate !== "IN") seen.set(+number, [predicate, Number(place)]);
        looked.add(+number);
      }
      if (name && predicate === "HOLD") seen.set(Number(place), ["HELD", name]);
      if (number && predicate === "STATE") own.states.set(+number, value ?? "");
      if (name && predicate === "POSITION") own.met.set(name, t);
      if (name === own.agent && predicate === "AT" && place) own.been.add(+place);
    }
    for (const [thing, [, place]] of own.things)
      if (!seen.has(thing) && isMissed(own, thing, place, looked, t)) own.things.delete(thing);
    for (const [thing, [relation, place]] of seen) own.things.set(thing, [relation, place, t]);
  }
  function isMissed(own, thing, place, looked, t) {
    if (typeof place === "string") return own.met.get(place) === t;
    const isOpen = own.things.get(thing)?.[0] !== "INSIDE" || own.states.get(place) === "open";
    return looked.has(place) && isOpen;
  }
  function asKnown(moment, episode) {
    const { frame, layer } = moment;
    if (layer === null || showsAll(moment))
      return { ...frame, unknown: /* @__PURE__ */ new Set(), unmet: /* @__PURE__ */ new Set(), far: /* @__PURE__ */ new Set(), ages: [] };
    const { static: fixed } = episode;
    const own = knowledge(episode, layer, moment.t);
    const areas = new Map([...fixed.rooms, ...fixed.furniture].map((place) => [place.id, place.box]));
    const things = fixed.things.map(({ id }, k) => placeOf(own.things.get(id), frame.things[k], areas, episode));
    const last = Math.min(moment.t, episode.steps - 1);
    const containers = fixed.furniture.filter((piece) => piece.container);
    const unmet = episode.team.flatMap(
      ({ name }, place) => name !== layer && own.met.get(name) !== moment.t ? [place] : []
    );
    return {
      ...frame,
      things,
      ages: fixed.things.map(({ id }) => last - (own.things.get(id)?.[2] ?? moment.t)),
      open: containers.filter(({ id }) => own.states.get(id) === "open").map(({ id }) => id),
      unknown: new Set(containers.filter(({ id }) => !own.states.has(id)).map(({ id }) => id)),
      far: new Set(fixed.rooms.filter(({ id }) => !own.been.has(id)).map(({ id }) => id)),
      unmet: new Set(unmet)
    };
  }
  function placeOf(seen, now, areas, episode) {
    if (!seen) return null;
    const [relation, place] = seen;
    if (typeof place === "string") return ["HELD", (episode.place.get(place) ?? -1) + 1, 0, 0];
    if (now?.[0] === relation && now[1] === place) return now;
    const area = areas.get(place);
    return area ? [relation, place, (area[0] + area[2]) / 2, (area[1] + area[3]) / 2] : null;
  }
  function beliefs({ layer, t }, episode) {
    const { static: fixed, knowledge: log } = episode;
    if (layer === null || showsAll({ layer }) || !log) return [];
    const areas = new Map([...fixed.rooms, ...fixed.furniture].map((place) => [place.id, place.box]));
    return [...log.beliefs(layer, null, t)].flatMap(([fact, { chance }]) => {
      const found = /^<(\w+)>\((\d+)\) (?:IN|INSIDE|ON) <\w+>\((\d+)\)$/.exec(log.facts[fact] ?? "");
      const [place, area] = [Number(found?.[3]), areas.get(Number(found?.[3]))];
      return found && area && chance < 1 ? [{ name: `${found[1]} ${found[2]}`, chance, place, area }] : [];
    });
  }

  // src/worlds/household/main.ts
  var MARGIN = 30;
  var paper = new Paper();
  function planOf(size, { static: { rooms } }, view) {
    const boxes = rooms.map((room) => room.box);
    return layFloor(size, boxes, MARGIN, view);
  }
  function drawBeliefs(pen, plan, moment, episode) {
    const lines = /* @__PURE__ */ new Map();
    const letters = { weight: 600, halo: "#ffffff" };
    for (const { name, chance, place, area } of beliefs(moment, episode)) {
      const line = lines.get(place) ?? 0;
      lines.set(place, line + 1);
      const [x, y] = plan.spot((area[0] + area[2]) / 2, (area[1] + area[3]) / 2);
      const words = `${name}? ${Math.round(100 * chance)} %`;
      write(pen, words, x, y + 13 * line * plan.unit, 10.5 * plan.unit, episode.style.ink, letters);
    }
  }
  function keyOf(moment, episode) {
    const { needs, furniture } = episode.static;
    const { style } = episode;
    const first = entry(needs, 0);
    const tag = (colour, words, faint) => (pen, size) => drawTag(pen, 0.95, style, [size / 2, size / 2], colour, words, 1, faint);
    const box = (fill, rim, thick, dashes) => (pen, size) => {
      pen.setLineDash(dashes);
      drawBox(pen, [2, 4, size - 2, size - 4], fill, rim, thick);
    };
    const looks = (pen, size) => drawPointer(pen, [size / 2, size / 2], size * 0.3, Math.PI / 2, style.soft);
    const target = furniture.find((piece) => piece.id === first.target);
    const known = [
      { samples: [box(CLEAR, style.soft, 1, [3, 3])], words: `${moment.layer} has not seen it yet` },
      { samples: [mix("#ffffff", style.soft, FOG)], words: `${moment.layer} has not been there yet` },
      { words: "−n: perceived n steps ago" },
      ...beliefs(moment, episode).length ? [{ words: "x? 90 %: believed to be there" }] : []
    ];
    const plan = [
      ...style.legend.map(([name, words]) => ({ samples: [box(...style[name], 1.5, [])], words })),
      { samples: [tag(style.closed[0], markOf(style, first.name), true)], words: "pale: in a closed container" },
      { samples: [looks], words: "agent: where it looks, its last steps" },
      ...showsAll(moment) ? [] : known
    ];
    return [
      { head: `${first.relation === "ON" ? "on" : "into"} the ${target?.name ?? "target"}` },
      ...needs.map((need, k) => {
        const there = need.number - (moment.frame.missing[k] ?? 0);
        const words = `${need.name}: ${there} of ${need.number}`;
        const sample = tag(colourOf(episode, need), markOf(style, need.name), false);
        return { samples: [sample], words, soft: there === need.number };
      }),
      { head: "plan" },
      ...plan.map((row) => ({ ...row, soft: true }))
    ];
  }
  var household = {
    zooms: true,
    key: keyOf,
    layers: ({ perceived, team }) => [
      { id: TRUTH, words: "everything" },
      ...perceived.length ? team.map(({ name }) => ({ id: name, words: `what ${name} knows: as last perceived` })) : []
    ],
    note: ({ perceived }) => perceived.length ? "" : "What an agent knows is shown of logs of the level beliefs (run with --log-level beliefs).",
    draw(pen, size, moment, episode) {
      const plan = planOf(size, episode, moment.view);
      const frame = asKnown(moment, episode);
      const key = [moment.theme.card, frame.open, [...frame.unknown], [...frame.far], ...Object.values(plan.view)];
      const home = paper.take(episode, key, size, (own) => drawHome(own, plan, frame, episode, moment.theme));
      pen.drawImage(home, 0, 0, size, size);
      drawTags(pen, plan, frame, episode);
      const agents = drawAgents(pen, plan, moment, frame, episode);
      drawBeliefs(pen, plan, moment, episode);
      return { agents };
    },
    /** Furniture, and the things in or on it; else the room. */
    label(moment, episode, x, y, size) {
      const { static: fixed } = episode;
      const plan = planOf(size, episode, moment.view);
      const frame = asKnown(moment, episode);
      const isOver = ({ box }) => within([x, y, x, y], plan.area(box));
      const piece = fixed.furniture.findLast(isOver);
      const found = piece ?? fixed.rooms.find(isOver);
      if (!found) return [];
      const open = frame.open.includes(found.id) ? ", open" : ", closed";
      const state = !piece?.container ? "" : frame.unknown.has(found.id) ? ", not seen yet" : open;
      const here = frame.things.flatMap((thing, k) => {
        const named = fixed.things[k];
        if (!thing || !named || thing[0] === "HELD" || thing[1] !== found.id) return [];
        const age = frame.ages[k] ?? 0;
        const ago = age > 0 ? `, perceived ${plural(age, "step")} ago` : "";
        return [`${named.name} ${named.id}, ${thing[0].toLowerCase()}${ago}`];
      });
      return [`${found.name} ${found.id}${state}`, ...here];
    },
    words({ t, frame }, episode) {
      const { needs, rooms } = episode.static;
      const there = needs.map((need, k) => `${need.number - (frame.missing[k] ?? 0)} of ${need.number} ${need.name}`);
      const open = plural(frame.open.length, "container");
      return `Floor plan with ${plural(rooms.length, "room")} at step ${t}: ${there.join(", ")} delivered, ${open} open.`;
    }
  };
  register("household", household, {
    tags: (moment, episode, size) => tagsOf(planOf(size, episode), asKnown(moment, episode), episode),
    names: (episode, size) => namesOf(planOf(size, episode), episode),
    knowledge,
    asKnown,
    beliefs
  });
})();
