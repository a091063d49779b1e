"use strict";
// Transport: a floor plan. Targets have the colour of their goal, containers and things of no use their own; agents have
// the colour of the goal they work on, with the cone that they see, the way of the step, and what they hold with what is
// in it. Layers show what one agent knows of the things, and how much it has seen of each room. Colours and words come
// with the page (`episode.style`, the world's drawing_data.py).
(function (tw) {
  const TRUTH = "truth";
  const MARGIN = 40; // centimetres round the house
  const TRAIL = 4; // steps
  const HALF_VIEW = Math.PI / 4;

  /** Where the house lies on a square canvas. */
  function layout(size, fixed, view = { zoom: 1, x: 0.5, y: 0.5 }) {
    const [left, low] = [0, 1].map((axis) => Math.min(...fixed.walls.map((wall) => wall[axis])) - MARGIN);
    const [right, top] = [2, 3].map((axis) => Math.max(...fixed.walls.map((wall) => wall[axis])) + MARGIN);
    const scale = (size / Math.max(right - left, top - low)) * view.zoom;
    const aside = (size * view.zoom - (right - left) * scale) / 2 - (view.x * size * view.zoom - size / 2);
    const down = (size * view.zoom - (top - low) * scale) / 2 - (view.y * size * view.zoom - size / 2);
    const spot = (x, z) => [aside + (x - left) * scale, down + (top - z) * scale];
    const area = ([x0, z0, x1, z1]) => [...spot(x0, z1), (x1 - x0) * scale, (z1 - z0) * scale];
    return { size, scale, spot, area, unit: tw.clamp(size / 700, 0.75, 1.3) };
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
    fixed.rooms.forEach((room, number) => {
      const [x, y] = plan.area(room.box);
      const share = agent < 0 ? "" : `, ${moment.frame.seen[agent][number]} % seen`;
      write(pen, `${room.name}${share}`, x + 5, y + 10 * plan.unit, 11 * plan.unit, style.soft, { align: "left", halo: "#ffffffaa" });
    });
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
    const radius = (item.kind === "unrelated" ? 4 : small ? 6.5 : 8) * plan.unit;
    disc(pen, at, radius, fill, rim);
    if (item.kind === "unrelated") return;
    write(pen, `${item.name.slice(0, 2)}${count || ""}`, at[0], at[1] + 0.5, radius * 1.05, tw.inkOn(fill), { weight: 700 });
  }

  const contents = (frame, number) => frame.items.filter((row) => row[3] === number).length;

  /** What lies about: all of it, or what the agent of the layer knows of. */
  function things(pen, plan, moment, episode) {
    const agent = layerOf(moment, episode);
    const known = agent < 0 ? null : new Set(moment.frame.known[agent]);
    moment.frame.items.forEach(([x, z, holder, inside], number) => {
      if (holder >= 0 || inside >= 0) return;
      const isKnown = !known || known.has(number);
      pen.globalAlpha = isKnown ? 1 : 0.22;
      thing(pen, plan, episode, number, plan.spot(x, z), contents(moment.frame, number));
      pen.globalAlpha = 1;
    });
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

  function trail(pen, plan, place, moment, episode, colour) {
    pen.beginPath();
    for (let t = Math.max(1, moment.t - TRAIL + 1); t <= moment.t; t++)
      for (const spot of episode.frame(t).trails[place] ?? []) pen.lineTo(...plan.spot(...spot));
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 2.5 * plan.unit;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
    pen.globalAlpha = 1;
  }

  function cone(pen, plan, episode, at, ahead, colour) {
    pen.beginPath();
    pen.moveTo(...at);
    pen.arc(...at, episode.static.sight * plan.scale, ahead - Math.PI / 2 - HALF_VIEW, ahead - Math.PI / 2 + HALF_VIEW);
    pen.closePath();
    pen.globalAlpha = 0.12;
    pen.fillStyle = colour;
    pen.fill();
    pen.globalAlpha = 1;
  }

  function agents(pen, plan, moment, episode) {
    const { style } = episode;
    const radius = Math.max(20 * plan.scale, 7 * plan.unit);
    return moment.frame.agents.map(([x, z, heading], place) => {
      const way = moment.share > 0 ? moment.next.trails[place] : [];
      const at = plan.spot(...(way?.length ? between(way, moment.share) : [x, z]));
      const { aim } = moment.team[place];
      const colour = aim ? episode.colour(aim) : style.agents[place % style.agents.length];
      const ahead = (heading * Math.PI) / 180;
      cone(pen, plan, episode, at, ahead, colour);
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
    const sample = (fill, rim) => (pen, size) => disc(pen, [size / 2, size / 2], size * 0.36, fill, rim);
    const rows = [{ head: "to the bed" }];
    for (const [kind, number] of Object.entries(fixed.goals)) {
      const there = delivered(moment.frame, fixed, kind);
      rows.push({ samples: [sample(episode.colour(`deliver_${kind}`), style.ink)], words: `${kind}: ${there} of ${number}`, soft: there === number });
    }
    rows.push({ head: "plan" });
    for (const [name, words] of style.legend) if (name !== "target") rows.push({ samples: [sample(...style[name])], words, soft: true });
    const agent = layerOf(moment, episode);
    if (agent >= 0) rows.push({ words: `pale: ${moment.layer} does not know of it`, soft: true });
    return rows;
  }

  const nameOf = (fixed, number) => `${fixed.items[number].name} ${fixed.items[number].id}`;

  tw.drawers.transport = {
    zooms: true,
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
      const near = moment.frame.items.findIndex(([left, up, holder, inside]) => {
        const [at, down] = plan.spot(left, up);
        return holder < 0 && inside < 0 && Math.hypot(at - x, down - y) < 9 * plan.unit;
      });
      if (near >= 0) {
        const inside = moment.frame.items.flatMap((row, k) => (row[3] === near ? [nameOf(fixed, k)] : []));
        const state = ["", ", delivered while held", ", delivered"][moment.frame.items[near][4]];
        return [`${nameOf(fixed, near)}${state}`, ...inside.map((name) => `holds ${name}`)];
      }
      const room = fixed.rooms.find(({ box }) => {
        const [left, top, wide, high] = plan.area(box);
        return left <= x && x <= left + wide && top <= y && y <= top + high;
      });
      return room ? [`${room.name} ${room.id}`] : [];
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
