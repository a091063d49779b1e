"use strict";
// Transport: a floor plan. Targets have the colour of their goal, containers and things of no use their own; agents have
// the colour of the goal they work on, with the floor that they see as far as walls let them, the way that they walked,
// and what they hold with what is in it. Layers show what one agent knows of the things, and how much it has seen of each
// room. Colours and words come with the page (`episode.style`, the world's drawing_data.py).
(function (tw) {
  const TRUTH = "truth";
  const MARGIN = 40; // centimetres round the house
  const TRAIL = 4; // steps whose way is drawn strongly
  const HALF_VIEW = Math.PI / 4;
  const RAYS = 90;
  const DIRECTIONS = 16; // in which a tag may stand aside

  /** Where the house lies on a square canvas. */
  function layout(size, fixed, view = { zoom: 1, x: 0.5, y: 0.5 }) {
    const [left, low] = [0, 1].map((axis) => Math.min(...fixed.walls.map((wall) => wall[axis])) - MARGIN);
    const [right, top] = [2, 3].map((axis) => Math.max(...fixed.walls.map((wall) => wall[axis])) + MARGIN);
    const scale = (size / Math.max(right - left, top - low)) * view.zoom;
    const aside = (size * view.zoom - (right - left) * scale) / 2 - (view.x * size * view.zoom - size / 2);
    const down = (size * view.zoom - (top - low) * scale) / 2 - (view.y * size * view.zoom - size / 2);
    const spot = (x, z) => [aside + (x - left) * scale, down + (top - z) * scale];
    const area = ([x0, z0, x1, z1]) => [...spot(x0, z1), (x1 - x0) * scale, (z1 - z0) * scale];
    const flip = [scale, 0, 0, -scale, aside - left * scale, down + top * scale]; // the same for a whole path
    return { size, scale, spot, area, flip, unit: tw.clamp(size / 700, 0.75, 1.3) };
  }

  function write(pen, words, x, y, size, colour, { weight = 500, align = "center", halo = null } = {}) {
    pen.font = `${weight} ${size}px system-ui, sans-serif`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    if (halo) {
      pen.lineJoin = "round";
      pen.lineWidth = size * 0.36;
      pen.strokeStyle = halo;
      pen.strokeText(words, x, y);
    }
    pen.fillStyle = colour;
    pen.fillText(words, x, y);
  }

  function disc(pen, [x, y], radius, fill, rim = null) {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    if (!rim) return;
    pen.lineWidth = 1.2;
    pen.strokeStyle = rim;
    pen.stroke();
  }

  // ---- the house

  const layerOf = (moment, episode) => episode.team.findIndex(({ name }) => name === moment.layer);

  /** Floors, darker where the agent of the layer has seen little; walls; the circle in which targets count. */
  function rooms(pen, plan, moment, episode) {
    const { static: fixed, style } = episode;
    const agent = layerOf(moment, episode);
    fixed.rooms.forEach((room, number) => {
      const [x, y, wide, high] = plan.area(room.box);
      pen.fillStyle = style.rooms[room.name] ?? style.any_room;
      pen.fillRect(x, y, wide, high);
      if (agent < 0) return;
      pen.fillStyle = style.ink;
      pen.globalAlpha = 0.28 * (1 - moment.frame.seen[agent][number] / 100);
      pen.fillRect(x, y, wide, high);
      pen.globalAlpha = 1;
    });
    const [x, z, reach] = fixed.bed;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.arc(...plan.spot(x, z), reach * plan.scale, 0, 2 * Math.PI);
    pen.lineWidth = 1.4;
    pen.strokeStyle = style.bed[1];
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = style.wall;
    for (const wall of fixed.walls) pen.fillRect(...plan.area(wall));
  }

  function furniture(pen, plan, moment, episode) {
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
    const agent = layerOf(moment, episode);
    const font = 12 * plan.unit;
    const taken = fixed.rooms.map((room, number) => {
      const [x, y] = plan.area(room.box);
      const lines = [`${room.name} ${room.id}`, ...(agent < 0 ? [] : [`${moment.frame.seen[agent][number]} % seen`])];
      const halo = style.rooms[room.name] ?? style.any_room;
      lines.forEach((words, line) => write(pen, words, x + 7, y + (1 + 1.25 * line) * font, font, style.soft, { align: "left", halo }));
      return [x, y, x + 10 + pen.measureText(lines[0]).width, y + (0.7 + 1.25 * lines.length) * font];
    });
    for (const piece of fixed.furniture) nameOfPiece(pen, plan, piece, style, taken);
  }

  const plain = (name) => name.replaceAll("_", " ");

  /** The name of a piece of furniture, where there is room for it; the pointer tells the others. */
  function nameOfPiece(pen, plan, piece, style, taken) {
    const corners = piece.outline.map((corner) => plan.spot(...corner));
    const [left, top, right, bottom] = [Math.min, Math.max].flatMap((pick) => [0, 1].map((axis) => pick(...corners.map((corner) => corner[axis]))));
    const font = 10 * plan.unit;
    pen.font = `500 ${font}px system-ui, sans-serif`;
    const wide = pen.measureText(plain(piece.name)).width;
    if (wide > 0.92 * (right - left) || font * 1.3 > bottom - top) return;
    const [x, y] = [(left + right - wide) / 2, bottom - 1.5 * font];
    if (taken.some(([x0, y0, x1, y1]) => x < x1 && x0 < x + wide && y < y1 && y0 < y + font)) return;
    write(pen, plain(piece.name), (left + right) / 2, bottom - font, font, piece.bed ? style.bed[1] : "#6f6757");
  }

  // ---- things

  const goalOf = (item) => `deliver_${item.name}`;

  function coat(item, episode) {
    if (item.kind === "target") return [episode.colour(goalOf(item)), episode.style.ink];
    return episode.style[item.kind === "container" ? "container" : "other"];
  }

  /** One thing; of a container how many things are in it. */
  function thing(pen, plan, episode, number, at, count, small = false) {
    const item = episode.static.items[number];
    const [fill, rim] = coat(item, episode);
    const radius = (item.kind === "unrelated" ? 4 : small ? 8.5 : RADIUS) * plan.unit;
    disc(pen, at, radius, fill, rim);
    if (item.kind === "unrelated") return;
    write(pen, `${item.name.slice(0, 2)}${count || ""}`, at[0], at[1] + 0.5, radius * (count ? 0.9 : 1.05), tw.inkOn(fill), { weight: 700 });
  }

  const RADIUS = 10; // of a tag

  /** Where tags stand: each in its place, or aside of it where it would cover another; [number, place, tag]. */
  function tags(plan, moment, episode) {
    const lying = moment.frame.items.flatMap(([x, z, holder, inside], number) => (holder >= 0 || inside >= 0 ? [] : [[number, plan.spot(x, z)]]));
    const apart = 2 * RADIUS * plan.unit;
    const taken = [];
    const isFree = ([x, y]) => taken.every((other) => Math.hypot(other[0] - x, other[1] - y) >= apart);
    return lying.map(([number, home]) => {
      if (episode.static.items[number].kind === "unrelated") return [number, home, home];
      let at = home;
      for (let ring = 1; ring <= 4 && !isFree(at); ring++)
        for (let way = 0; way < DIRECTIONS && !isFree(at); way++) {
          const angle = (2 * Math.PI * way) / DIRECTIONS;
          at = [home[0] + ring * apart * 0.75 * Math.cos(angle), home[1] + ring * apart * 0.75 * Math.sin(angle)];
        }
      if (!isFree(at)) at = home;
      taken.push(at);
      return [number, home, at];
    });
  }

  const contents = (frame, number) => frame.items.filter((row) => row[3] === number).length;

  /** What lies about: all of it, or what the agent of the layer knows of. */
  function things(pen, plan, moment, episode) {
    const agent = layerOf(moment, episode);
    const known = agent < 0 ? null : new Set(moment.frame.known[agent]);
    for (const [number, home, at] of tags(plan, moment, episode)) {
      pen.globalAlpha = !known || known.has(number) ? 1 : 0.22;
      if (home !== at) {
        pen.beginPath();
        pen.moveTo(...home);
        pen.lineTo(...at);
        pen.lineWidth = 1;
        pen.strokeStyle = episode.style.ink;
        pen.stroke();
        disc(pen, home, 1.8 * plan.unit, episode.style.ink);
      }
      thing(pen, plan, episode, number, at, contents(moment.frame, number));
      pen.globalAlpha = 1;
    }
  }

  // ---- agents

  /** Where an agent is between two moments: along the way of the step. */
  function between(way, share) {
    if (way.length < 2) return way[0];
    const lengths = way.slice(1).map((place, k) => Math.hypot(place[0] - way[k][0], place[1] - way[k][1]));
    let left = lengths.reduce((sum, long) => sum + long, 0) * share;
    for (let k = 0; k < lengths.length; k++) {
      if (left <= lengths[k] && lengths[k] > 0) return [0, 1].map((axis) => tw.between(way[k][axis], way[k + 1][axis], left / lengths[k]));
      left -= lengths[k];
    }
    return way[way.length - 1];
  }

  const walked = new WeakMap();

  /** The way of each agent up to a moment, in the units of the plan; it grows with the moment. */
  function ways(episode, t) {
    let kept = walked.get(episode);
    if (!kept || kept.t > t) kept = { t: 0, paths: episode.team.map(() => new Path2D()) };
    walked.set(episode, kept);
    for (; kept.t < t; kept.t++)
      (episode.frame(kept.t + 1).trails ?? []).forEach((trail, place) =>
        trail.forEach((spot, k) => (k ? kept.paths[place].lineTo(...spot) : kept.paths[place].moveTo(...spot))));
    return kept.paths;
  }

  function trail(pen, plan, place, moment, episode, colour) {
    pen.strokeStyle = colour;
    pen.lineJoin = pen.lineCap = "round";
    pen.save();
    pen.transform(...plan.flip);
    pen.globalAlpha = 0.4;
    pen.lineWidth = (1.3 * plan.unit) / plan.scale;
    pen.stroke(ways(episode, moment.t)[place]);
    pen.restore();
    pen.beginPath();
    for (let t = Math.max(1, moment.t - TRAIL + 1); t <= moment.t; t++)
      for (const spot of episode.frame(t).trails[place] ?? []) pen.lineTo(...plan.spot(...spot));
    pen.globalAlpha = 0.6;
    pen.lineWidth = 3.2 * plan.unit;
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** How far a ray goes, in the units of the plan, until it meets a wall. */
  function reach(walls, [x, z], [east, north], most) {
    let far = most;
    for (const [x0, z0, x1, z1] of walls) {
      const across = east ? [(x0 - x) / east, (x1 - x) / east].sort((one, other) => one - other) : x0 <= x && x <= x1 ? [-Infinity, Infinity] : [Infinity, Infinity];
      const along = north ? [(z0 - z) / north, (z1 - z) / north].sort((one, other) => one - other) : z0 <= z && z <= z1 ? [-Infinity, Infinity] : [Infinity, Infinity];
      const [enters, leaves] = [Math.max(across[0], along[0]), Math.min(across[1], along[1])];
      if (enters <= leaves && enters > 0 && enters < far) far = enters;
    }
    return far;
  }

  /** Corners of the floor that an agent sees: a right angle ahead as deep as its sight, cut off by walls. */
  function view({ walls, sight }, at, heading) {
    const corners = [at];
    for (let ray = 0; ray <= RAYS; ray++) {
      const aside = HALF_VIEW * ((2 * ray) / RAYS - 1);
      const way = (heading * Math.PI) / 180 + aside;
      const to = [Math.sin(way), Math.cos(way)];
      const far = reach(walls, at, to, sight / Math.cos(aside));
      corners.push([at[0] + far * to[0], at[1] + far * to[1]]);
    }
    return corners;
  }

  function cone(pen, plan, episode, at, heading, colour) {
    if (!episode.static.sight || heading === null) return;
    pen.beginPath();
    for (const corner of view(episode.static, at, heading)) pen.lineTo(...plan.spot(...corner));
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

  function agents(pen, plan, moment, episode) {
    const { style } = episode;
    const radius = Math.max(20 * plan.scale, 10 * plan.unit);
    return moment.frame.agents.map(([x, z, heading], place) => {
      const way = moment.share > 0 ? moment.next.trails[place] : [];
      const stand = way?.length ? between(way, moment.share) : [x, z];
      const at = plan.spot(...stand);
      const { aim } = moment.team[place];
      const colour = aim ? episode.colour(aim) : style.agents[place % style.agents.length];
      const ahead = (heading * Math.PI) / 180;
      cone(pen, plan, episode, stand, heading, colour);
      trail(pen, plan, place, moment, episode, colour);
      pen.beginPath();
      if (heading !== null) for (const [far, side] of [[1.7, 0], [0.95, 0.85], [0.95, -0.85]])
        pen.lineTo(at[0] + far * radius * Math.sin(ahead + side), at[1] - far * radius * Math.cos(ahead + side));
      pen.closePath();
      pen.fillStyle = style.ink;
      pen.fill();
      disc(pen, at, radius + (place === moment.chosen ? 3 : 1.5) * plan.unit, style.ink);
      disc(pen, at, radius, colour);
      const { name } = episode.team[place];
      write(pen, name.charAt(0), at[0], at[1] + 0.5, radius * 1.1, tw.inkOn(colour), { weight: 700 });
      moment.frame.hands[place].forEach((held, side) => {
        if (held < 0) return;
        const spot = [at[0] + (side ? 1.5 : -1.5) * radius, at[1] - 0.9 * radius];
        thing(pen, plan, episode, held, spot, contents(moment.frame, held), true);
      });
      write(pen, name, at[0], at[1] + 1.9 * radius, 11 * plan.unit, style.ink, { weight: 600, halo: "#ffffff" });
      return { x: at[0], y: at[1], radius };
    });
  }

  // ---- words

  function delivered(frame, fixed, kind) {
    return frame.items.filter((row, k) => row[4] > 0 && fixed.items[k].name === kind).length;
  }

  function keyOf(moment, episode) {
    const { static: fixed, style } = episode;
    const sample = (fill, rim, words = "") => (pen, size) => {
      disc(pen, [size / 2, size / 2], size * 0.44, fill, rim);
      if (words) write(pen, words, size / 2, size / 2 + 0.5, size * 0.5, tw.inkOn(fill), { weight: 700 });
    };
    const line = (thick) => (pen, size) => {
      pen.fillStyle = style.agents[0];
      pen.fillRect(1, (size - thick) / 2, size - 2, thick);
    };
    const rows = [{ head: "to the bed" }];
    for (const [kind, number] of Object.entries(fixed.goals)) {
      const there = delivered(moment.frame, fixed, kind);
      rows.push({ samples: [sample(episode.colour(`deliver_${kind}`), style.ink, kind.slice(0, 2))], words: `${plain(kind)}: ${there} of ${number}`, soft: there === number });
    }
    rows.push({ head: "plan" });
    for (const [name, words] of style.legend) if (name !== "target") rows.push({ samples: [sample(...style[name])], words, soft: true });
    if (fixed.sight) {
      const looks = (pen, size) => {
        pen.beginPath();
        for (const corner of [[1, size / 2], [size - 2, 2], [size - 2, size - 2]]) pen.lineTo(...corner);
        pen.fillStyle = tw.mix("#ffffff", style.agents[0], 0.3);
        pen.fill();
      };
      rows.push({ samples: [looks], words: `floor it sees: ${fixed.sight / 100} m deep, up to the walls`, soft: true });
      rows.push({ samples: [line(3)], words: `way of the last ${TRAIL} steps; thin: all before`, soft: true });
    }
    rows.push({ words: "te2: holds two things", soft: true });
    const agent = layerOf(moment, episode);
    if (agent >= 0) rows.push({ words: `pale: ${moment.layer} does not know of it`, soft: true });
    return rows;
  }

  const nameOf = (fixed, number) => `${fixed.items[number].name} ${fixed.items[number].id}`;

  /** Whether a point is in a polygon. */
  function isInside(corners, x, y) {
    let inside = false;
    corners.forEach(([x0, y0], k) => {
      const [x1, y1] = corners[(k + 1) % corners.length];
      if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) inside = !inside;
    });
    return inside;
  }

  tw.drawers.transport = {
    zooms: true,
    tags: (moment, episode, size) => tags(layout(size, episode.static), moment, episode), // for tests
    view, // for tests
    layers: (episode) => [
      { id: TRUTH, words: "everything" },
      ...episode.team.map(({ name }) => ({ id: name, words: `what ${name} knows` })),
    ],
    key: keyOf,
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const plan = layout(size, episode.static, moment.view);
      pen.fillStyle = moment.theme.card;
      pen.fillRect(0, 0, size, size);
      rooms(pen, plan, moment, episode);
      furniture(pen, plan, moment, episode);
      things(pen, plan, moment, episode);
      return { agents: agents(pen, plan, moment, episode) };
    },
    /** What is under the pointer: a thing with what is in it, else the room. */
    label(moment, episode, x, y, size) {
      const { static: fixed } = episode;
      const plan = layout(size, fixed, moment.view);
      const near = tags(plan, moment, episode).find(([, , [at, down]]) => Math.hypot(at - x, down - y) < RADIUS * plan.unit)?.[0] ?? -1;
      if (near >= 0) {
        const inside = moment.frame.items.flatMap((row, k) => (row[3] === near ? [nameOf(fixed, k)] : []));
        const state = ["", ", delivered while held", ", delivered"][moment.frame.items[near][4]];
        return [`${nameOf(fixed, near)}${state}`, ...inside.map((name) => `holds ${name}`)];
      }
      const room = fixed.rooms.find(({ box }) => {
        const [left, top, wide, high] = plan.area(box);
        return left <= x && x <= left + wide && top <= y && y <= top + high;
      });
      const piece = fixed.furniture.findLast(({ outline }) => isInside(outline.map((corner) => plan.spot(...corner)), x, y));
      return [...(piece ? [plain(piece.name)] : []), ...(room ? [`${room.name} ${room.id}`] : [])];
    },
    /** The picture in words. */
    words(moment, episode) {
      const { static: fixed } = episode;
      const there = Object.entries(fixed.goals).map(([kind, number]) => `${delivered(moment.frame, fixed, kind)} of ${number} ${kind}`);
      const held = moment.frame.hands.map((hands, place) => {
        const names = hands.filter((item) => item >= 0).map((item) => nameOf(fixed, item));
        return `${episode.team[place].name} holds ${names.join(" and ") || "nothing"}`;
      });
      return `Floor plan with ${tw.plural(fixed.rooms.length, "room")} at frame ${moment.frame.t}: ${there.join(", ")} delivered; ${held.join("; ")}.`;
    },
  };
})(window.teamworld);
