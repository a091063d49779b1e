"use strict";
// Household: a floor plan. Containers are filled while they are closed and outlined once they are open; what they hide
// is shown faintly. Things have the colour of their goal, agents that of the goal they work on. Data: the world's scene.py.
(function (tw) {
  const ROOMS = { kitchen: "#fbf2df", bathroom: "#e2eff5", bedroom: "#f1e9f6", livingroom: "#e9f3e6" };
  const ANY_ROOM = "#f0f0ee";
  const [INK, SOFT, WALL, DOOR] = ["#20262c", "#6a737c", "#4a5058", "#f4eee2"];
  const [FURNITURE, RIM, CLOSED, OPEN, SHUT_RIM] = ["#e4dccf", "#c9bfae", "#98a5b1", "#ffffff", "#5f6d79"];
  const [TARGET, TARGET_RIM] = ["#bfe5cf", "#00795a"];
  const MARGIN = 30; // centimetres round the home
  const LINE = 22; // pixels of a line below it
  const TRAIL = 10;
  let paper = null;

  const ease = (share) => share * share * (3 - 2 * share);
  const between = (one, other, share) => one + (other - one) * share;
  const mark = (name) => (name === "cutleryfork" ? "Fo" : name.charAt(0).toUpperCase() + name.slice(1, 2));
  const shared = (one, other) =>
    Math.max(0, Math.min(one[2], other[2]) - Math.max(one[0], other[0])) *
    Math.max(0, Math.min(one[3], other[3]) - Math.max(one[1], other[1]));

  /** Where the home lies on a square canvas. */
  function layout(size, fixed) {
    const boxes = fixed.rooms.map((room) => room.box);
    const [left, low] = [0, 1].map((axis) => Math.min(...boxes.map((box) => box[axis])) - MARGIN);
    const [right, top] = [2, 3].map((axis) => Math.max(...boxes.map((box) => box[axis])) + MARGIN);
    const below = LINE * (Math.ceil(fixed.needs.length / 2) + 1) + 8;
    const scale = Math.min(size / (right - left), (size - below) / (top - low));
    const aside = (size - (right - left) * scale) / 2;
    const down = (size - below - (top - low) * scale) / 2;
    const spot = (x, z) => [aside + (x - left) * scale, down + (top - z) * scale];
    const area = (box) => [...spot(box[0], box[3]), ...spot(box[2], box[1])];
    return { size, scale, spot, area, unit: tw.clamp(size / 760, 0.62, 1.3), floor: size - below };
  }

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

  function rooms(pen, plan, fixed) {
    const wall = Math.max(14 * plan.scale, 1.5);
    for (const room of fixed.rooms) {
      const [x0, y0, x1, y1] = plan.area(room.box);
      pen.fillStyle = ROOMS[room.name] ?? ANY_ROOM;
      pen.fillRect(x0, y0, x1 - x0, y1 - y0);
      pen.lineWidth = wall;
      pen.lineJoin = "round";
      pen.strokeStyle = WALL;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
    }
    for (const { at, across, width } of fixed.doors) {
      const thin = wall / plan.scale / 2 + 1;
      const [dx, dz] = across === "x" ? [thin, width / 2] : [width / 2, thin];
      const [x0, y0, x1, y1] = plan.area([at[0] - dx, at[1] - dz, at[0] + dx, at[1] + dz]);
      pen.fillStyle = DOOR;
      pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    }
  }

  function furniture(pen, plan, fixed, opened) {
    for (const piece of fixed.furniture) {
      const area = plan.area(piece.box);
      const shut = piece.container && !opened.has(piece.id);
      if (piece.goal) box(pen, area, shut ? tw.mix(TARGET, TARGET_RIM, 0.35) : TARGET, TARGET_RIM, 2.6 * plan.unit);
      else if (!piece.container) box(pen, area, FURNITURE, RIM, 1);
      else if (shut) box(pen, area, CLOSED, SHUT_RIM, 1);
      else box(pen, area, OPEN, SHUT_RIM, 1.8 * plan.unit);
    }
  }

  /** Names of rooms where they cover the least, then those of pieces that have room for theirs. */
  function names(pen, plan, fixed, busy) {
    const pieces = fixed.furniture.map((piece) => plan.area(piece.box));
    const taken = [];
    const size = 13 * plan.unit;
    for (const room of fixed.rooms) {
      const [x0, y0, x1, y1] = plan.area(room.box);
      pen.font = `500 ${size}px system-ui, sans-serif`;
      const long = pen.measureText(room.name).width;
      let best = null;
      for (let j = 0; j < 9; j++) {
        for (let i = 0; i < 7; i++) {
          const [x, y] = [x0 + 8 + ((x1 - x0 - 16 - long) * i) / 6, y0 + 8 + ((y1 - y0 - 16 - size) * j) / 8];
          const place = [x, y, x + long, y + size];
          const covered = pieces.reduce((sum, piece) => sum + shared(place, piece), 0);
          if (best === null || covered < best.covered) best = { place, covered };
        }
      }
      const tint = ROOMS[room.name] ?? ANY_ROOM;
      write(pen, room.name, best.place[0], best.place[1], size, SOFT, { align: "left", base: "top", halo: tint });
      taken.push(best.place);
    }
    const small = 8.5 * plan.unit;
    if (small < 6.5) return;
    for (let k = pieces.length - 1; k >= 0; k--) {
      const piece = fixed.furniture[k];
      const [x0, y0, x1, y1] = pieces[k];
      pen.font = `500 ${small}px system-ui, sans-serif`;
      const long = pen.measureText(piece.name).width;
      const [middle, foot] = [(x0 + x1) / 2, y1 - 3];
      const place = [middle - long / 2, foot - small, middle + long / 2, foot];
      if (long > x1 - x0 - 2 || y1 - y0 < (busy.has(piece.id) ? 40 : 12) * plan.unit) continue;
      if ([...taken, ...pieces.slice(k + 1)].some((other) => shared(place, other) > 0)) continue;
      const ink = piece.goal ? TARGET_RIM : piece.container ? "#3d4750" : "#8b8172";
      write(pen, piece.name, middle, foot, small, ink, { base: "alphabetic" });
      taken.push(place);
    }
  }

  /** The home without agents and things, kept until the size, the theme or something in it changes. */
  function ground(plan, frame, episode, theme) {
    const busy = new Set(frame.things.map((thing) => thing[1]));
    const key = [plan.size, window.devicePixelRatio, theme.card, frame.open, [...busy].sort()].join("|");
    if (paper && paper.key === key && paper.episode === episode) return paper.canvas;
    const canvas = document.createElement("canvas");
    const pen = tw.fit(canvas, plan.size, plan.size);
    pen.fillStyle = theme.card;
    pen.fillRect(0, 0, plan.size, plan.size);
    rooms(pen, plan, episode.static);
    furniture(pen, plan, episode.static, new Set(frame.open));
    names(pen, plan, episode.static, busy);
    paper = { key, episode, canvas };
    return canvas;
  }

  function tag(pen, plan, [x, y], colour, words, number = 1, faint = false) {
    const half = 8.5 * plan.unit * (faint ? 0.72 : 1);
    const ink = faint ? tw.mix(INK, CLOSED, 0.35) : tw.inkOn(colour);
    pen.beginPath();
    pen.roundRect(x - half, y - half, 2 * half, 2 * half, half * 0.5);
    pen.fillStyle = faint ? tw.mix(colour, CLOSED, 0.55) : colour;
    pen.fill();
    pen.lineWidth = faint ? 0.8 : 1.1;
    pen.strokeStyle = faint ? tw.mix(INK, CLOSED, 0.5) : INK;
    pen.stroke();
    write(pen, words, x, y + 0.5, half * 1.1, ink, { weight: 700 });
    if (number < 2) return;
    pen.beginPath();
    pen.arc(x + half * 0.95, y - half * 0.9, half * 0.65, 0, 2 * Math.PI);
    pen.fillStyle = INK;
    pen.fill();
    write(pen, String(number), x + half * 0.95, y - half * 0.85, half * 0.95, "#ffffff", { weight: 700 });
  }

  const colourOf = (episode, need) => {
    const target = episode.static.furniture.find((piece) => piece.id === need.target);
    return episode.colour(`${need.name}_${need.relation.toLowerCase()}_${target?.name}`);
  };

  /** Things that nobody holds: those of a class in one place are one tag, tags in one place stand in rows of three. */
  function things(pen, plan, frame, episode) {
    const { needs, rooms: all, furniture: pieces, things: named } = episode.static;
    const boxes = new Map(pieces.map((piece) => [piece.id, piece]));
    const opened = new Set(frame.open);
    const inRooms = new Set(all.map((room) => room.id));
    const heaps = new Map();
    frame.things.forEach(([relation, place, x, z], k) => {
      if (relation === "HELD") return;
      const key = `${relation} ${place} ${inRooms.has(place) ? k : ""}`;
      if (!heaps.has(key)) heaps.set(key, { relation, place, spots: [], kinds: new Map() });
      const heap = heaps.get(key);
      const need = needs.findIndex((one) => one.name === named[k].name);
      heap.spots.push(plan.spot(x, z));
      heap.kinds.set(need, (heap.kinds.get(need) ?? 0) + 1);
    });
    for (const { relation, place, spots, kinds } of heaps.values()) {
      const piece = boxes.get(place);
      const faint = relation === "INSIDE" && Boolean(piece?.container) && !opened.has(place);
      let [x, y] = [0, 1].map((axis) => spots.reduce((sum, spot) => sum + spot[axis], 0) / spots.length);
      if (relation === "INSIDE" && piece) [x, y] = plan.spot((piece.box[0] + piece.box[2]) / 2, (piece.box[1] + piece.box[3]) / 2);
      const apart = 20 * plan.unit * (faint ? 0.72 : 1);
      const rows = Math.ceil(kinds.size / 3);
      const half = ((Math.min(3, kinds.size) - 1) / 2) * apart + 12 * plan.unit;
      const room = all.map((one) => plan.area(one.box)).find((one) => one[0] <= x && x <= one[2] && one[1] <= y && y <= one[3]);
      if (room) x = tw.clamp(x, room[0] + half, room[2] - half);
      [...kinds].sort(([one], [other]) => one - other).forEach(([need, number], k) => {
        const rest = Math.min(3, kinds.size - Math.floor(k / 3) * 3);
        const at = [x + ((k % 3) - (rest - 1) / 2) * apart, y + (Math.floor(k / 3) - (rows - 1) / 2) * apart];
        tag(pen, plan, at, colourOf(episode, needs[need]), mark(needs[need].name), number, faint);
      });
    }
  }

  function pointer(pen, [x, y], radius, ahead, fill) {
    pen.beginPath();
    for (const [far, side] of [[1.65, 0], [0.95, 0.85], [0.95, -0.85]])
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
      const [left, top] = plan.spot(between(x, to[0], ease(share)), between(z, to[1], ease(share)));
      let at = [left, top];
      for (let k = 1; k < 7; k++) {
        if (found.every((other) => Math.hypot(at[0] - other[0], at[1] - other[1]) >= radius)) break;
        at = [left + 1.7 * radius * Math.cos(k * 1.05), top + 1.7 * radius * Math.sin(k * 1.05)];
      }
      found.push(at);
    });
    return found;
  }

  function agents(pen, plan, moment, episode) {
    const { frame, chosen } = moment;
    const { needs, things: named } = episode.static;
    const byId = new Map(named.map((thing) => [thing.id, needs.find((need) => need.name === thing.name)]));
    const radius = 11.5 * plan.unit;
    const drawn = spots(plan, moment, radius);
    drawn.forEach((spot, place) => {
      const { aim } = moment.team[place];
      const colour = aim ? episode.colour(aim) : "#ffffff";
      const ahead = (frame.agents[place][2] * Math.PI) / 180;
      trail(pen, plan, place, moment, episode, aim ? colour : SOFT);
      pointer(pen, spot, radius + (place === chosen ? 3.2 : 1.6) * plan.unit, ahead, INK);
      pointer(pen, spot, radius, ahead, colour);
      const name = episode.team[place].name;
      write(pen, name.charAt(0), spot[0], spot[1] + 0.5, radius * 1.15, tw.inkOn(colour), { weight: 700 });
      frame.hands[place].forEach((thing, side) => {
        if (thing === null) return;
        const need = byId.get(thing);
        const at = [spot[0] + (side ? -1.5 : 1.5) * radius, spot[1] - 0.9 * radius];
        tag(pen, plan, at, need ? colourOf(episode, need) : "#ffffff", need ? mark(need.name) : "?");
      });
      write(pen, name, spot[0], spot[1] + 1.8 * radius, 11 * plan.unit, INK, { weight: 600, halo: "#ffffff" });
    });
    return drawn.map(([x, y]) => ({ x, y, radius }));
  }

  /** What is wanted and how much of it is there. */
  function legend(pen, plan, moment, episode) {
    const { needs, furniture: pieces } = episode.static;
    const size = 12;
    const target = pieces.find((piece) => piece.id === needs[0].target);
    const head = `${needs[0].relation === "ON" ? "on" : "into"} the ${target?.name ?? "target"}:`;
    write(pen, head, 12, plan.floor + LINE * 0.6, size, moment.theme.good, { align: "left", weight: 600 });
    needs.forEach((need, k) => {
      const [x, y] = [12 + ((k % 2) * plan.size) / 2, plan.floor + LINE * (Math.floor(k / 2) + 1.6)];
      tag(pen, { unit: 0.95 }, [x + 8, y], colourOf(episode, need), mark(need.name));
      const there = need.number - moment.frame.missing[k];
      const words = `${need.name}  ${there} of ${need.number}`;
      write(pen, words, x + 22, y + 0.5, size, there === need.number ? moment.theme.soft : moment.theme.ink, { align: "left" });
      const start = x + 32 + pen.measureText(words).width;
      for (let unit = 0; unit < need.number; unit++) {
        pen.beginPath();
        pen.arc(start + unit * 12, y, 4, 0, 2 * Math.PI);
        pen.lineWidth = 1.3;
        pen.strokeStyle = pen.fillStyle = moment.theme.good;
        pen.stroke();
        if (unit < there) pen.fill();
      }
    });
  }

  tw.drawers.household = {
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const plan = layout(size, episode.static);
      pen.drawImage(ground(plan, moment.frame, episode, moment.theme), 0, 0, size, size);
      things(pen, plan, moment.frame, episode);
      const drawn = agents(pen, plan, moment, episode);
      legend(pen, plan, moment, episode);
      return { agents: drawn };
    },
    /** The picture in words. */
    words(moment, episode) {
      const { needs, rooms: all } = episode.static;
      const there = needs.map((need, k) => `${need.number - moment.frame.missing[k]} of ${need.number} ${need.name}`);
      const open = tw.plural(moment.frame.open.length, "container");
      return `Floor plan with ${tw.plural(all.length, "room")} at step ${moment.t}: ${there.join(", ")} delivered, ${open} open.`;
    },
  };
})(window.teamworld);
