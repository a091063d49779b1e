"use strict";
// Wildfire: the land under the light of its relief, wind, people and agents, and what was not seen drawn faintly. Colours,
// shapes and words come with the page (`episode.style`, the world's drawing_data.py). An agent has the colour of its goal.
(function (tw) {
  const [IGNITED, ON_FIRE, BURNT_OUT, CIVILIAN_CODE] = [9, 10, 12, 15];
  const [CARRIED, DEAD] = [1, 3];
  const STATES = ["free", "carried", "safe", "dead"];
  const COMPASS = ["E", "SE", "S", "SW", "W", "NW", "N", "NE"];
  const [TEAM, TRUTH] = ["team", "truth"];
  let land = null;

  const rgb = ([red, green, blue]) => `rgb(${red},${green},${blue})`;
  const burns = (code) => code === IGNITED || code === ON_FIRE;

  const HOUSE = 14;
  const houses = new WeakMap();

  function countHouses(episode) {
    if (!houses.has(episode)) houses.set(episode, tw.fire.untouched(episode).filter((code) => code === HOUSE).length);
    return houses.get(episode);
  }

  const whose = (layer) => (layer === TEAM || layer === TRUTH ? null : Number(layer));

  /** The codes that are shown, and which of them were seen (null: all). */
  function shown(moment, episode) {
    if (episode.static.is_known) return { cells: tw.fire.codes(moment.frame, episode), seen: null };
    const seen = tw.fire.memory(episode, whose(moment.layer ?? TRUTH), moment.t);
    return (moment.layer ?? TRUTH) === TRUTH ? { cells: tw.fire.codes(moment.frame, episode), seen } : { cells: seen, seen: null };
  }

  /** How long ago a cell was seen by whom the layer is of, in words; nothing of what is seen now, or never was. */
  function ago(moment, episode, cell) {
    if ((moment.layer ?? TRUTH) === TRUTH) return "";
    const { cells, when } = tw.fire.sight(episode, whose(moment.layer), moment.t);
    const age = moment.t - when[cell];
    return cells[cell] && age ? `, seen ${tw.plural(age, "step")} ago` : "";
  }

  // ---- the map

  /** How the drawn square lies on the map. */
  function plan(size, moment, episode) {
    const { zoom, x, y } = moment.view ?? { zoom: 1, x: 0.5, y: 0.5 };
    const cell = (size * zoom) / episode.static.size;
    const [left, top] = [x, y].map((middle) => middle * size * zoom - size / 2);
    const spot = (column, row) => [(column + 0.5) * cell - left, (row + 0.5) * cell - top];
    return { size, cell, left, top, spot, whole: size * zoom, symbol: tw.clamp(size / 34, 14, 24) };
  }

  /** How light the ground is in each place of the lattice of the relief; null in logs without one. */
  function lights({ relief }, { shades }) {
    if (!relief) return null;
    const [dark, light, steps] = shades;
    return Float32Array.from(relief.join(""), (digit) => dark + ((light - dark) * digit) / (steps - 1));
  }

  /** The land, a pixel a cell (fewer where cells are smaller than pixels), kept until something in it changes. */
  function ground(moment, episode, pixels) {
    const { static: fixed, style } = episode;
    const side = Math.min(fixed.size, Math.ceil(pixels));
    const key = [moment.t, moment.layer, side].join();
    if (land && land.episode === episode && land.key === key) return land.canvas;
    const { cells, seen } = shown(moment, episode);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(side, side);
    const picked = pick(cells, fixed.size, side, style.rank);
    const light = lights(fixed, style);
    const points = fixed.relief?.length ?? 0;
    const onLattice = Uint16Array.from({ length: fixed.size }, (_, at) => Math.floor((at * points) / fixed.size));
    const isPlain = style.colours.map((_, code) => !light || style.plain.includes(code));
    const { data } = image;
    for (let at = 0; at < picked.length; at++) {
      const cell = picked[at];
      const code = cells[cell];
      const column = cell % fixed.size;
      const lit = isPlain[code] ? 1 : light[onLattice[(cell - column) / fixed.size] * points + onLattice[column]];
      const haze = seen && !seen[cell] ? style.haze * (burns(code) ? 0.5 : 1) : 0;
      for (let part = 0; part < 3; part++) {
        const colour = style.colours[code][part] * lit;
        data[4 * at + part] = haze ? tw.between(colour, style.colours[0][part], haze) : colour;
      }
      data[4 * at + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    land = { episode, key, canvas };
    return canvas;
  }

  /** For each pixel its cell; of several the one that matters most, so that what burns is never lost. */
  function pick(cells, size, side, rank) {
    if (side === size) return Uint32Array.from(cells, (_, cell) => cell);
    const picked = new Uint32Array(side * side).fill(cells.length);
    for (let cell = 0; cell < cells.length; cell++) {
      const at = Math.floor((Math.floor(cell / size) * side) / size) * side + Math.floor(((cell % size) * side) / size);
      if (picked[at] === cells.length || rank[cells[cell]] > rank[cells[picked[at]]]) picked[at] = cell;
    }
    return picked;
  }

  function arrow(pen, x, y, [east, south], room, colour) {
    const speed = Math.hypot(east, south);
    if (speed < 0.5) return;
    const half = (Math.min(speed / 15, 1) * room) / 2;
    const [far, wide] = [Math.min(5 + room / 20, half), Math.min(2.5 + room / 40, half * 0.6)];
    pen.save();
    pen.translate(x, y);
    pen.rotate(Math.atan2(south, east));
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1 + room / 65;
    pen.beginPath();
    pen.moveTo(-half, 0);
    pen.lineTo(half - far * 0.8, 0);
    pen.stroke();
    pen.beginPath();
    for (const [right, down] of [[half, 0], [half - far, -wide], [half - far, wide]]) pen.lineTo(right, down);
    pen.fill();
    pen.restore();
  }

  function wind(pen, map, episode) {
    const field = episode.static.wind;
    if (!field) return;
    const room = map.whole / field.length;
    const every = Math.max(1, Math.ceil(54 / room));
    pen.globalAlpha = 0.6;
    for (let row = every >> 1; row < field.length; row += every)
      for (let column = every >> 1; column < field.length; column += every)
        arrow(pen, (column + 0.5) * room - map.left, (row + 0.5) * room - map.top, field[row][column], Math.min(room * every, 110), rgb(episode.style.wind));
    pen.globalAlpha = 1;
  }

  function targets(pen, map, { targets: cells, target }) {
    const half = Math.max(map.cell / 2, 4);
    pen.strokeStyle = "#000000";
    for (const [places, far, thick] of [[cells, half, 1.6], [target ? [target] : [], Math.max(half * 2.2, map.symbol), 3]]) {
      pen.lineWidth = thick;
      for (const place of places) {
        const [x, y] = map.spot(...place);
        pen.strokeRect(x - far, y - far, 2 * far, 2 * far);
      }
    }
  }

  /** A bar of a round length, at most a quarter of what is shown. */
  function scale(pen, map, { cell_m: metres }) {
    if (!metres) return;
    const most = (map.size / map.cell) * metres * 0.25;
    const power = 10 ** Math.floor(Math.log10(most));
    const best = [5, 2, 1].find((part) => part * power <= most) * power;
    const across = (best / metres) * map.cell;
    const words = best >= 1000 ? `${best / 1000} km` : `${best} m`;
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillStyle = "#ffffffe6";
    pen.fillRect(6, map.size - 31, Math.max(across, pen.measureText(words).width) + 14, 25);
    pen.fillStyle = "#10151a";
    pen.fillRect(12, map.size - 12, across, 2.5);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(words, 12, map.size - 17);
  }

  const NEAR = 4; // cells between what burns of one fire
  const ROOM = 90; // pixels up to which a fire is framed: a larger one is plain to see
  let framed = null;

  /** The fires that are shown, as [least column, least row, greatest column, greatest row, cells that burn]. */
  function fires(moment, episode) {
    const key = [moment.t, moment.layer].join();
    if (framed && framed.episode === episode && framed.key === key) return framed.boxes;
    const { size } = episode.static;
    const boxes = [];
    const near = (box, x, y) => box[0] - NEAR <= x && x <= box[2] + NEAR && box[1] - NEAR <= y && y <= box[3] + NEAR;
    const { cells } = shown(moment, episode);
    for (let cell = 0; cell < cells.length; cell++) {
      if (!burns(cells[cell])) continue;
      const [x, y] = [cell % size, Math.floor(cell / size)];
      let own = [x, y, x, y, 1];
      for (let k = boxes.length - 1; k >= 0; k--) {
        if (!near(boxes[k], x, y)) continue;
        const [other] = boxes.splice(k, 1); // what this cell joins is one fire
        own = [Math.min(own[0], other[0]), Math.min(own[1], other[1]), Math.max(own[2], other[2]), Math.max(own[3], other[3]), own[4] + other[4]];
      }
      boxes.push(own);
    }
    framed = { episode, key, boxes };
    return boxes;
  }

  /** Frames round fires that are so small that units would hide them, with how many cells burn. */
  function frames(pen, map, moment, episode) {
    const colour = rgb(episode.style.colours[ON_FIRE]);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const [x0, y0, x1, y1, number] of fires(moment, episode)) {
      const [wide, high] = [(x1 - x0 + 1) * map.cell, (y1 - y0 + 1) * map.cell];
      if (Math.max(wide, high) > ROOM) continue;
      const [x, y] = map.spot(x0, y0).map((at) => at - map.cell / 2);
      const least = map.symbol * 2.2;
      const [w, h] = [Math.max(wide + 10, least), Math.max(high + 10, least)];
      const [left, top] = [x + wide / 2 - w / 2, y + high / 2 - h / 2];
      for (const [stroke, thick] of [["#ffffff", 4.5], [colour, 2.2]]) {
        pen.strokeStyle = stroke;
        pen.lineWidth = thick;
        pen.strokeRect(left, top, w, h);
      }
      const font = map.symbol * 0.66;
      pen.font = `700 ${font}px system-ui, sans-serif`;
      const words = `${number} burn`;
      const across = pen.measureText(words).width + 6;
      const at = tw.clamp(left, 0, Math.max(0, map.size - across));
      const down = top > font * 1.7 ? top - font * 1.5 : top + h;
      pen.fillStyle = colour;
      pen.fillRect(at - 1, down, across, font * 1.5);
      pen.fillStyle = "#10151a";
      pen.fillText(words, at + 2, down + font * 0.78);
    }
  }

  /** The way of the chosen agent up to now. */
  function way(pen, map, moment, episode) {
    if (moment.chosen === null || moment.chosen === undefined || !moment.frame.agents[moment.chosen]) return;
    pen.lineJoin = pen.lineCap = "round";
    for (const [colour, thick] of [["#ffffffb0", 4], ["#10151a", 1.6]]) {
      pen.beginPath();
      for (let t = 0; t <= moment.t; t++) {
        const place = episode.frames[Math.min(t, episode.steps)].agents[moment.chosen];
        if (place) pen.lineTo(...map.spot(...place));
      }
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.stroke();
    }
  }

  // ---- agents and civilians

  function shape(pen, style, kind, x, y, radius, fill, thick) {
    pen.beginPath();
    for (const polygon of style.shapes[kind]) {
      polygon.forEach(([right, down], k) => (k ? pen.lineTo(x + right * radius, y + down * radius) : pen.moveTo(x + right * radius, y + down * radius)));
      pen.closePath();
    }
    pen.lineWidth = 2 * thick;
    pen.lineJoin = "round";
    pen.strokeStyle = "#10151a";
    pen.stroke();
    pen.fillStyle = fill;
    pen.fill();
  }

  /** Groups as the world's drawing_data.group_units makes them: a unit joins the first group that begins near it. */
  function groups(units, near) {
    const found = [];
    for (const unit of units) {
      const group = found.find(([first]) => Math.abs(first.x - unit.x) < near && Math.abs(first.y - unit.y) < near);
      if (group) group.push(unit);
      else found.push([unit]);
    }
    return found;
  }

  /** The agents that are drawn, between two frames. */
  function team({ frame, next, share }, { static: fixed }) {
    const units = [];
    frame.agents.forEach((from, row) => {
      if (!from || frame.aboard[row] !== null) return;
      const to = next.agents[row] ?? from;
      const [x, y] = [0, 1].map((axis) => tw.between(from[axis], to[axis], tw.ease(share)));
      units.push({ row, kind: fixed.kinds[row], x, y });
    });
    return units;
  }

  /** The civilians that are drawn: as they are, or where they were last seen. */
  function people(moment, episode) {
    const { frame, next, share } = moment;
    if ((moment.layer ?? TRUTH) !== TRUTH) {
      const { size } = episode.static;
      const places = [];
      shown(moment, episode).cells.forEach((code, cell) => {
        if (code === CIVILIAN_CODE) places.push({ row: null, kind: "civilian", x: cell % size, y: Math.floor(cell / size) });
      });
      return places;
    }
    return frame.civilians.flatMap(([x, y, state], row) => {
      if (state === CARRIED) return [];
      const to = next.civilians[row] ?? [x, y];
      return [{ row, kind: state === DEAD ? "dead" : "civilian", x: tw.between(x, to[0], tw.ease(share)), y: tw.between(y, to[1], tw.ease(share)) }];
    });
  }

  /** Draw a group: a symbol for each kind, with how many if there are several, else the agent's number. */
  function drawGroup(pen, map, group, moment, episode, spots) {
    const { style } = episode;
    const kinds = Object.keys(style.shapes).map((kind) => group.filter((unit) => unit.kind === kind)).filter((units) => units.length);
    const several = map.symbol * 1.45;
    const wide = kinds.map((units) => (units.length > 1 ? several : map.symbol) + 2);
    const [middle, y] = map.spot(...["x", "y"].map((axis) => group.reduce((sum, unit) => sum + unit[axis], 0) / group.length));
    let x = middle - wide.reduce((sum, one) => sum + one) / 2;
    kinds.forEach((units, k) => {
      const [{ kind, row }] = units;
      const isAgent = !Object.hasOwn(style.fills, kind);
      const radius = wide[k] / 2 - 1;
      x += wide[k] / 2;
      const aims = isAgent ? [...new Set(units.map((unit) => moment.team[unit.row]?.aim ?? null))] : [];
      const fill = isAgent ? (aims.length === 1 && aims[0] ? episode.colour(aims[0]) : "#ffffff") : rgb(style.fills[kind]);
      const isChosen = isAgent && units.some((unit) => unit.row === moment.chosen);
      shape(pen, style, kind, x, y, radius, fill, isChosen ? 3 : 1.4);
      const words = units.length > 1 ? `×${units.length}` : isAgent && radius >= 7 ? String(row) : "";
      pen.font = `700 ${Math.max(9, radius * (words.length > 2 ? 0.85 : 1))}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillStyle = fill.startsWith("#") ? tw.inkOn(fill) : "#10151a";
      pen.fillText(words, x, y + (kind === "helicopter" ? radius * 0.25 : 0.5));
      if (isAgent) for (const unit of units) spots[unit.row] = { x, y, radius };
      x += wide[k] / 2;
    });
  }

  /** The square that the chosen agent observes, and the one that it reveals. */
  function windows(pen, map, moment, episode) {
    const place = moment.frame.agents[moment.chosen];
    if (!place) return;
    episode.style.sees[episode.static.kinds[moment.chosen]].forEach((reach, k) => {
      const [x, y] = map.spot(...place);
      const half = (reach + 0.5) * map.cell;
      pen.setLineDash(k ? [5, 4] : []);
      for (const [colour, thick] of [["#ffffffb0", 3], ["#10151a", 1.4]]) {
        pen.strokeStyle = colour;
        pen.lineWidth = thick;
        pen.strokeRect(x - half, y - half, 2 * half, 2 * half);
      }
    });
    pen.setLineDash([]);
  }

  // ---- words

  const towards = ([east, south]) => COMPASS[Math.round((Math.atan2(south, east) * 4) / Math.PI + 8) % 8];
  const speed = (blow) => `${Math.round(Math.hypot(...blow))} m/s to the ${towards(blow)}`;

  function keyOf(moment, episode) {
    const { static: fixed, style } = episode;
    const { frame } = moment;
    const symbol = (kind) => (pen, size) => shape(pen, style, kind, size / 2, size / 2, size * 0.36, style.fills[kind] ? rgb(style.fills[kind]) : "#ffffff", 1.2);
    const rows = [{ head: "left" }];
    for (const kind of Object.keys(style.shapes).filter((one) => fixed.kinds.includes(one))) {
      const all = fixed.kinds.filter((one) => one === kind).length;
      const left = frame.agents.filter((place, row) => place && fixed.kinds[row] === kind).length;
      rows.push({ samples: [symbol(kind)], words: `${left} of ${tw.plural(all, kind)}` });
    }
    if (frame.civilians.length) {
      const count = STATES.map((word, state) => [frame.civilians.filter((one) => one[2] === state).length, word]).filter(([number]) => number);
      rows.push({ samples: [symbol("civilian")], words: count.map(([number, word]) => `${number} ${word}`).join(", ") });
    }
    if (frame.counts) {
      const [burning, caught, lost, cut] = frame.counts;
      const all = countHouses(episode);
      if (all) rows.push({ samples: [rgb(style.colours[HOUSE])], words: `${all - lost} of ${tw.plural(all, "house")}` });
      rows.push({ head: "fire" });
      rows.push({ samples: [rgb(style.colours[ON_FIRE])], words: `${tw.plural(burning, "cell")} burn${burning === 1 ? "s" : ""}, ${caught} caught` });
      rows.push({ samples: [rgb(style.colours[16])], words: `${tw.plural(cut, "tree")} cut` });
      if (frame.wind) rows.push({ samples: [(pen, size) => arrow(pen, size / 2, size / 2, frame.wind.map((part) => (15 * part) / (Math.hypot(...frame.wind) || 1)), size, moment.theme.ink)], words: speed(frame.wind) });
    }
    rows.push({ head: "map" });
    for (const [group, words] of style.legend) rows.push({ samples: group.map((code) => rgb(style.colours[code])), words, soft: true });
    const frameOf = (thick) => (pen, size) => {
      pen.strokeStyle = moment.theme.ink;
      pen.lineWidth = thick;
      pen.strokeRect(3, 3, size - 6, size - 6);
    };
    rows.push({ samples: [(pen, size) => {
      pen.strokeStyle = rgb(style.colours[ON_FIRE]);
      pen.lineWidth = 2.2;
      pen.strokeRect(3, 3, size - 6, size - 6);
    }], words: "a small fire, with the cells that burn", soft: true });
    if (fixed.targets.length) rows.push({ samples: [frameOf(1.4)], words: "trees to cut", soft: true });
    if (fixed.target) rows.push({ samples: [frameOf(3)], words: "where people are brought", soft: true });
    if (fixed.wind) rows.push({ samples: [(pen, size) => arrow(pen, size / 2, size / 2, [15, 0], size, moment.theme.ink)], words: "wind, longer is stronger", soft: true });
    if (fixed.relief) rows.push({ words: "light from the north-west shows the relief", soft: true });
    rows.push({ words: "×3: three stand together", soft: true });
    if (moment.chosen !== null && moment.chosen !== undefined) rows.push({ words: "chosen agent: its way, what it reveals (line) and observes (dashed)", soft: true });
    return rows;
  }

  tw.drawers.wildfire = {
    zooms: true,
    layers: (episode) => [
      { id: TRUTH, words: "everything; what the team has not seen is faint" },
      { id: TEAM, words: "what the team has seen, as last seen" },
      ...episode.team.map((lane, place) => ({ id: String(place), words: `what ${tw.say(lane.name)} has seen, as last seen` })),
    ],
    curves: (episode) => {
      const burning = episode.frames.filter((frame) => frame.counts).map((frame) => frame.counts[0]);
      return burning.some(Boolean) ? [{ name: "burning cells", values: burning, colour: "fail" }] : [];
    },
    key: keyOf,
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const map = plan(size, moment, episode);
      pen.imageSmoothingEnabled = false;
      pen.fillStyle = moment.theme.card;
      pen.fillRect(0, 0, size, size);
      pen.drawImage(ground(moment, episode, map.whole * (window.devicePixelRatio || 1)), -map.left, -map.top, map.whole, map.whole);
      wind(pen, map, episode);
      targets(pen, map, episode.static);
      windows(pen, map, moment, episode);
      way(pen, map, moment, episode);
      const agents = moment.frame.agents.map(() => ({ x: -99, y: -99, radius: 0 }));
      for (const units of [people(moment, episode), team(moment, episode)])
        for (const group of groups(units, (map.symbol * 1.3) / map.cell)) drawGroup(pen, map, group, moment, episode, agents);
      frames(pen, map, moment, episode);
      scale(pen, map, episode.static);
      return { agents };
    },
    /** What is under the pointer. */
    label(moment, episode, x, y, size) {
      const map = plan(size, moment, episode);
      const { size: side, wind: field } = episode.static;
      const [column, row] = [(x + map.left) / map.cell, (y + map.top) / map.cell].map(Math.floor);
      if (column < 0 || row < 0 || column >= side || row >= side) return [];
      const near = (unit) => Math.hypot(map.spot(unit.x, unit.y)[0] - x, map.spot(unit.x, unit.y)[1] - y) <= Math.max(map.symbol, map.cell / 2);
      const who = team(moment, episode).filter(near).map((unit) => {
        const riders = moment.frame.aboard.flatMap((carrier, place) => (carrier === unit.row ? [tw.say(episode.team[place].name)] : []));
        return `${unit.row} ${tw.say(episode.team[unit.row].name)}, water ${moment.frame.water[unit.row]}${riders.length ? `, carries ${riders.join(", ")}` : ""}`;
      });
      const civilians = people(moment, episode).filter(near).map((unit) => (unit.row === null ? "civilian, last seen here" : `civilian ${unit.row}: ${STATES[moment.frame.civilians[unit.row][2]]}`));
      const { cells, seen } = shown(moment, episode);
      const cell = row * side + column;
      const lines = [...who.slice(0, 12), ...civilians.slice(0, 6), `(${column}, ${row}): ${episode.style.meanings[cells[cell]]}${seen && !seen[cell] ? ", not seen by the team yet" : ""}${ago(moment, episode, cell)}`];
      const blow = field?.[Math.floor((row * field.length) / side)]?.[Math.floor((column * field.length) / side)];
      return blow ? [...lines, `wind ${speed(blow)}`] : lines;
    },
    groups, // for tests
    fires, // for tests
    /** The picture in words. */
    words(moment, episode) {
      const cells = tw.fire.codes(moment.frame, episode);
      const count = [IGNITED, ON_FIRE, BURNT_OUT].map((code) => `${cells.filter((one) => one === code).length} ${episode.style.meanings[code]}`);
      const alive = moment.frame.agents.filter(Boolean).length;
      const side = episode.static.size;
      return `Map of ${side} by ${side} cells at step ${moment.t}: ${tw.plural(alive, "agent")}; cells: ${count.join(", ")}.`;
    },
  };
})(window.teamworld);
