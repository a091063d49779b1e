// Built from frontend/src/worlds/transport by "make pages"; change the sources and build again.
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
  var between = (one, other, share) => one + (other - one) * share;

  // src/worlds/common/geometry.ts
  var WHOLE = { zoom: 1, x: 0.5, y: 0.5 };
  function entry(rows, place) {
    const row = rows[place];
    if (row === void 0) throw new Error(`expected a row ${place}, got ${rows.length} rows`);
    return row;
  }
  function layFloor(size, boxes, margin, view2 = WHOLE) {
    const [left, low] = [
      Math.min(...boxes.map((box) => box[0])) - margin,
      Math.min(...boxes.map((box) => box[1])) - margin
    ];
    const [right, top] = [
      Math.max(...boxes.map((box) => box[2])) + margin,
      Math.max(...boxes.map((box) => box[3])) + margin
    ];
    const scale = size / Math.max(right - left, top - low) * view2.zoom;
    const aside = (size * view2.zoom - (right - left) * scale) / 2 - (view2.x * size * view2.zoom - size / 2);
    const down = (size * view2.zoom - (top - low) * scale) / 2 - (view2.y * size * view2.zoom - size / 2);
    const spot = (x, z) => [aside + (x - left) * scale, down + (top - z) * scale];
    return {
      size,
      scale,
      unit: clamp(size / 700, 0.75, 1.3),
      view: view2,
      spot,
      area: ([x0, z0, x1, z1]) => [...spot(x0, z1), ...spot(x1, z0)],
      flip: [scale, 0, 0, -scale, aside - left * scale, down + top * scale]
    };
  }
  var within = (one, other) => other[0] <= one[0] && one[2] <= other[2] && other[1] <= one[1] && one[3] <= other[3];
  function isInside(corners, x, y) {
    let inside = false;
    for (const [k, [x0, y0]] of corners.entries()) {
      const [x1, y1] = entry(corners, (k + 1) % corners.length);
      if (y0 > y !== y1 > y && x < (x1 - x0) * (y - y0) / (y1 - y0) + x0) inside = !inside;
    }
    return inside;
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

  // src/worlds/common/register.ts
  function register(world, drawer, forTests = {}) {
    teamworld.drawers[world] = Object.assign(drawer, forTests);
  }

  // src/worlds/transport/types.ts
  var TRUTH = "truth";
  var layerOf = ({ layer }, { team }) => team.findIndex(({ name }) => name === layer);
  var plain = (name) => name.replaceAll("_", " ");

  // src/worlds/transport/items.ts
  var RADIUS = 10;
  var DIRECTIONS = 16;
  function drawItem(pen, plan, episode, number, at, count, small = false) {
    const { style } = episode;
    const { kind, name } = entry(episode.static.items, number);
    const [fill, rim] = kind === "target" ? [episode.colour(`deliver_${name}`), style.ink] : kind === "container" ? style.container : style.other;
    const radius = (kind === "unrelated" ? 4 : small ? 8.5 : RADIUS) * plan.unit;
    disc(pen, at, radius, fill, rim);
    if (kind === "unrelated") return;
    const size = radius * (count ? 0.9 : 1.05);
    write(pen, `${name.slice(0, 2)}${count || ""}`, at[0], at[1] + 0.5, size, inkOn(fill), { weight: 700 });
  }
  function tagsOf(plan, frame, { static: fixed }) {
    const apart = 2 * RADIUS * plan.unit;
    const taken = [];
    const isFree = ([x, y]) => taken.every((other) => Math.hypot(other[0] - x, other[1] - y) >= apart);
    return frame.items.flatMap(([x, z, holder, inside], number) => {
      if (holder >= 0 || inside >= 0) return [];
      const home = plan.spot(x, z);
      if (fixed.items[number]?.kind === "unrelated") return [[number, home, home]];
      const at = isFree(home) ? home : placesAround(home, 0.75 * apart).find(isFree) ?? home;
      taken.push(at);
      return [[number, home, at]];
    });
  }
  var placesAround = ([x, y], apart) => Array.from({ length: 4 * DIRECTIONS }, (_, k) => {
    const [ring, angle] = [1 + Math.floor(k / DIRECTIONS), 2 * Math.PI * (k % DIRECTIONS) / DIRECTIONS];
    return [x + ring * apart * Math.cos(angle), y + ring * apart * Math.sin(angle)];
  });
  var countContents = (frame, number) => frame.items.filter(([, , , inside]) => inside === number).length;
  function drawItems(pen, plan, moment, episode) {
    const known = moment.frame.known[layerOf(moment, episode)];
    for (const [number, home, at] of tagsOf(plan, moment.frame, episode)) {
      pen.globalAlpha = !known || known.includes(number) ? 1 : 0.22;
      if (home !== at) {
        pen.beginPath();
        pen.moveTo(...home);
        pen.lineTo(...at);
        pen.lineWidth = 1;
        pen.strokeStyle = episode.style.ink;
        pen.stroke();
        disc(pen, home, 1.8 * plan.unit, episode.style.ink);
      }
      drawItem(pen, plan, episode, number, at, countContents(moment.frame, number));
      pen.globalAlpha = 1;
    }
  }

  // src/worlds/transport/agents.ts
  var TRAIL = 4;
  var HALF_VIEW = Math.PI / 4;
  var RAYS = 90;
  function alongWay(way, share) {
    const lengths = way.slice(1).map(([x, z], k) => Math.hypot(x - entry(way, k)[0], z - entry(way, k)[1]));
    let left = lengths.reduce((sum, long) => sum + long, 0) * share;
    for (const [k, long] of lengths.entries()) {
      const [from, to] = [entry(way, k), entry(way, k + 1)];
      if (left <= long && long > 0) return [between(from[0], to[0], left / long), between(from[1], to[1], left / long)];
      left -= long;
    }
    return entry(way, way.length - 1);
  }
  var walked = /* @__PURE__ */ new WeakMap();
  function ways(episode, t) {
    let kept = walked.get(episode);
    if (!kept || kept.t > t) kept = { t: 0, paths: episode.team.map(() => new Path2D()) };
    walked.set(episode, kept);
    for (; kept.t < t; kept.t++) {
      for (const [place, trail] of (episode.frame(kept.t + 1).trails ?? []).entries())
        for (const [k, spot] of (trail ?? []).entries()) kept.paths[place]?.[k ? "lineTo" : "moveTo"](...spot);
    }
    return kept.paths;
  }
  function drawTrail(pen, plan, place, { t }, episode, colour) {
    pen.strokeStyle = colour;
    pen.lineJoin = pen.lineCap = "round";
    pen.save();
    pen.transform(...plan.flip);
    pen.globalAlpha = 0.4;
    pen.lineWidth = 1.3 * plan.unit / plan.scale;
    pen.stroke(entry(ways(episode, t), place));
    pen.restore();
    const first = Math.max(1, t - TRAIL + 1);
    const last = Array.from({ length: Math.max(0, t - first + 1) }, (_, k) => episode.frame(first + k).trails?.[place]);
    const spots = last.flatMap((way) => (way ?? []).map((spot) => plan.spot(...spot)));
    track(pen, spots, colour, 3.2 * plan.unit, 0.6);
  }
  function reachOf(walls, [x, z], [east, north], most) {
    let far = most;
    for (const [x0, z0, x1, z1] of walls) {
      const across = slab(x0 - x, x1 - x, east);
      const along = slab(z0 - z, z1 - z, north);
      const [enters, leaves] = [Math.max(across[0], along[0]), Math.min(across[1], along[1])];
      if (enters <= leaves && enters > 0 && enters < far) far = enters;
    }
    return far;
  }
  function slab(low, high, pace) {
    if (pace === 0) return low <= 0 && 0 <= high ? [-Infinity, Infinity] : [Infinity, Infinity];
    return pace > 0 ? [low / pace, high / pace] : [high / pace, low / pace];
  }
  function view({ walls, sight }, at, heading) {
    const rays = Array.from({ length: RAYS + 1 }, (_, ray) => {
      const aside = HALF_VIEW * (2 * ray / RAYS - 1);
      const angle = heading * Math.PI / 180 + aside;
      const to = [Math.sin(angle), Math.cos(angle)];
      const far = reachOf(walls, at, to, sight / Math.cos(aside));
      return [at[0] + far * to[0], at[1] + far * to[1]];
    });
    return [at, ...rays];
  }
  function drawView(pen, plan, corners, colour) {
    pen.beginPath();
    for (const corner of corners) pen.lineTo(...plan.spot(...corner));
    pen.closePath();
    pen.globalAlpha = 0.16;
    pen.fillStyle = colour;
    pen.fill();
    pen.globalAlpha = 0.5;
    pen.lineWidth = 1;
    pen.strokeStyle = colour;
    pen.stroke();
    pen.globalAlpha = 1;
  }
  function drawAgents(pen, plan, moment, episode) {
    const { style, static: fixed } = episode;
    const { sight } = fixed;
    const radius = Math.max(20 * plan.scale, 10 * plan.unit);
    return moment.frame.agents.map(([x, z, heading], place) => {
      const [start, ...rest] = moment.share > 0 && moment.next.trails?.[place] || [];
      const stand = start ? alongWay([start, ...rest], moment.share) : [x, z];
      const [left, top] = plan.spot(...stand);
      const { aim } = entry(moment.team, place);
      const { name } = entry(episode.team, place);
      const colour = aim ? episode.colour(aim) : entry(style.agents, place % style.agents.length);
      if (sight && heading !== null) {
        const corners = view({ walls: fixed.walls, sight }, stand, heading);
        drawView(pen, plan, corners, colour);
      }
      drawTrail(pen, plan, place, moment, episode, colour);
      beginHeading(pen, [left, top], radius, heading === null ? null : heading * Math.PI / 180, 1.7);
      pen.fillStyle = style.ink;
      pen.fill();
      disc(pen, [left, top], radius + (place === moment.chosen ? 3 : 1.5) * plan.unit, style.ink);
      disc(pen, [left, top], radius, colour);
      write(pen, name.charAt(0), left, top + 0.5, radius * 1.1, inkOn(colour), { weight: 700 });
      for (const [side, held] of entry(moment.frame.hands, place).entries()) {
        if (held < 0) continue;
        const spot = [left + (side ? 1.5 : -1.5) * radius, top - 0.9 * radius];
        drawItem(pen, plan, episode, held, spot, countContents(moment.frame, held), true);
      }
      write(pen, name, left, top + 1.9 * radius, 11 * plan.unit, style.ink, { weight: 600, halo: "#ffffff" });
      return { x: left, y: top, radius };
    });
  }

  // src/worlds/transport/house.ts
  function fillBox(pen, [x0, y0, x1, y1]) {
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
  }
  function drawRooms(pen, plan, moment, episode) {
    const { static: fixed, style } = episode;
    const seen = moment.frame.seen[layerOf(moment, episode)];
    for (const [number, room] of fixed.rooms.entries()) {
      const area = plan.area(room.box);
      pen.fillStyle = style.rooms[room.name] ?? style.any_room;
      fillBox(pen, area);
      if (!seen) continue;
      pen.fillStyle = style.ink;
      pen.globalAlpha = 0.28 * (1 - (seen[number] ?? 0) / 100);
      fillBox(pen, area);
      pen.globalAlpha = 1;
    }
    const [x, z, reach] = fixed.bed;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.arc(...plan.spot(x, z), reach * plan.scale, 0, 2 * Math.PI);
    pen.lineWidth = 1.4;
    pen.strokeStyle = style.bed[1];
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = style.wall;
    for (const wall of fixed.walls) fillBox(pen, plan.area(wall));
  }
  function drawFurniture(pen, plan, moment, episode) {
    const { static: fixed, style } = episode;
    for (const piece of fixed.furniture) {
      const [fill, rim] = piece.bed ? style.bed : style.furniture;
      pen.beginPath();
      for (const corner of piece.outline) pen.lineTo(...plan.spot(...corner));
      pen.closePath();
      pen.fillStyle = fill;
      pen.fill();
      pen.lineWidth = 1;
      pen.strokeStyle = rim;
      pen.stroke();
    }
    const seen = moment.frame.seen[layerOf(moment, episode)];
    const font = 12 * plan.unit;
    const taken = fixed.rooms.map((room, number) => {
      const [x, y] = plan.area(room.box);
      const name = `${room.name} ${room.id}`;
      const lines = seen ? [name, `${seen[number]} % seen`] : [name];
      const halo = style.rooms[room.name] ?? style.any_room;
      for (const [line, words] of lines.entries())
        write(pen, words, x + 7, y + (1 + 1.25 * line) * font, font, style.soft, { align: "left", halo });
      return [x, y, x + 10 + pen.measureText(name).width, y + (0.7 + 1.25 * lines.length) * font];
    });
    for (const piece of fixed.furniture) namePiece(pen, plan, piece, style, taken);
  }
  function namePiece(pen, plan, piece, style, taken) {
    const corners = piece.outline.map((corner) => plan.spot(...corner));
    const along = (axis) => corners.map((corner) => entry(corner, axis));
    const [left, right] = [Math.min(...along(0)), Math.max(...along(0))];
    const [top, bottom] = [Math.min(...along(1)), Math.max(...along(1))];
    const font = 10 * plan.unit;
    pen.font = `500 ${font}px ${FONT}`;
    const wide = pen.measureText(plain(piece.name)).width;
    if (wide > 0.92 * (right - left) || font * 1.3 > bottom - top) return;
    const [x, y] = [(left + right - wide) / 2, bottom - 1.5 * font];
    if (taken.some(([x0, y0, x1, y1]) => x < x1 && x0 < x + wide && y < y1 && y0 < y + font)) return;
    write(pen, plain(piece.name), (left + right) / 2, bottom - font, font, piece.bed ? style.bed[1] : "#6f6757");
  }

  // src/worlds/transport/main.ts
  var MARGIN = 40;
  var planOf = (size, { static: { walls } }, shown) => layFloor(size, walls, MARGIN, shown);
  var countDelivered = (frame, { items }, kind) => frame.items.filter((row, k) => row[4] > 0 && items[k]?.name === kind).length;
  function keyOf(moment, episode) {
    const { static: fixed, style } = episode;
    const sample = (fill, rim, words = "") => (pen, size) => {
      disc(pen, [size / 2, size / 2], size * 0.44, fill, rim);
      if (words) write(pen, words, size / 2, size / 2 + 0.5, size * 0.5, inkOn(fill), { weight: 700 });
    };
    const own = entry(style.agents, 0);
    const line = (pen, size) => {
      pen.fillStyle = own;
      pen.fillRect(1, (size - 3) / 2, size - 2, 3);
    };
    const looks = (pen, size) => {
      pen.beginPath();
      pen.lineTo(1, size / 2);
      pen.lineTo(size - 2, 2);
      pen.lineTo(size - 2, size - 2);
      pen.fillStyle = mix("#ffffff", own, 0.3);
      pen.fill();
    };
    const sight = [
      { samples: [looks], words: `floor it sees: ${(fixed.sight ?? 0) / 100} m deep, up to the walls` },
      { samples: [line], words: `way of the last ${TRAIL} steps; thin: all before` }
    ];
    const plan = [
      ...style.legend.filter(([name]) => name !== "target").map(([name, words]) => ({ samples: [sample(...style[name])], words })),
      ...fixed.sight ? sight : [],
      { words: "te2: holds two things" },
      ...layerOf(moment, episode) < 0 ? [] : [{ words: `pale: ${moment.layer} does not know of it` }]
    ];
    return [
      { head: "to the bed" },
      ...Object.entries(fixed.goals).map(([kind, number]) => {
        const there = countDelivered(moment.frame, fixed, kind);
        const tag = sample(episode.colour(`deliver_${kind}`), style.ink, kind.slice(0, 2));
        return { samples: [tag], words: `${plain(kind)}: ${there} of ${number}`, soft: there === number };
      }),
      { head: "plan" },
      ...plan.map((row) => ({ ...row, soft: true }))
    ];
  }
  var nameOf = ({ items }, number) => {
    const { name, id } = entry(items, number);
    return `${name} ${id}`;
  };
  var transport = {
    zooms: true,
    key: keyOf,
    layers: ({ team }) => [
      { id: TRUTH, words: "everything" },
      ...team.map(({ name }) => ({ id: name, words: `what ${name} knows` }))
    ],
    draw(pen, size, moment, episode) {
      const plan = planOf(size, episode, moment.view);
      pen.fillStyle = moment.theme.card;
      pen.fillRect(0, 0, size, size);
      drawRooms(pen, plan, moment, episode);
      drawFurniture(pen, plan, moment, episode);
      drawItems(pen, plan, moment, episode);
      return { agents: drawAgents(pen, plan, moment, episode) };
    },
    /** A thing with what is in it, else the furniture and the room. */
    label(moment, episode, x, y, size) {
      const { static: fixed } = episode;
      const plan = planOf(size, episode, moment.view);
      const { items } = moment.frame;
      const isNear = ([at, down]) => Math.hypot(at - x, down - y) < RADIUS * plan.unit;
      const near = tagsOf(plan, moment.frame, episode).find(([, , at]) => isNear(at))?.[0];
      if (near !== void 0) {
        const inside = items.flatMap((row, k) => row[3] === near ? [`holds ${nameOf(fixed, k)}`] : []);
        const state = ["", ", delivered while held", ", delivered"][entry(items, near)[4]] ?? "";
        return [`${nameOf(fixed, near)}${state}`, ...inside];
      }
      const room = fixed.rooms.find(({ box }) => within([x, y, x, y], plan.area(box)));
      const isOver = (outline) => {
        const corners = outline.map((corner) => plan.spot(...corner));
        return isInside(corners, x, y);
      };
      const piece = fixed.furniture.findLast(({ outline }) => isOver(outline));
      return [...piece ? [plain(piece.name)] : [], ...room ? [`${room.name} ${room.id}`] : []];
    },
    words({ frame }, episode) {
      const { static: fixed } = episode;
      const there = Object.entries(fixed.goals).map(([kind, number]) => {
        return `${countDelivered(frame, fixed, kind)} of ${number} ${kind}`;
      });
      const held = frame.hands.map((hands, place) => {
        const names = hands.filter((item) => item >= 0).map((item) => nameOf(fixed, item));
        return `${entry(episode.team, place).name} holds ${names.join(" and ") || "nothing"}`;
      });
      const rooms = plural(fixed.rooms.length, "room");
      return `Floor plan with ${rooms} at frame ${frame.t}: ${there.join(", ")} delivered; ${held.join("; ")}.`;
    }
  };
  register("transport", transport, {
    view,
    tags: ({ frame }, episode, size) => tagsOf(planOf(size, episode), frame, episode)
  });
})();
