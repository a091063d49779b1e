// Built from frontend/src/worlds/wildfire by "make pages"; change the sources and build again.
"use strict";
(() => {
  // src/shared/words.ts
  var plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  var say = (text) => text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

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

  // src/worlds/wildfire/types.ts
  var [IGNITED, ON_FIRE, BURNT_OUT, HOUSE, CIVILIAN, CLEARED] = [9, 10, 12, 14, 15, 16];
  var [CARRIED, DEAD] = [1, 3];
  var STATES = ["free", "carried", "safe", "dead"];
  var [TRUTH, TEAM] = ["truth", "team"];
  var showsAll = ({ layer }) => (layer ?? TRUTH) === TRUTH;
  var rgb = (channels2) => `rgb(${(channels2 ?? [0, 0, 0]).join()})`;
  var burns = (code) => code === IGNITED || code === ON_FIRE;

  // src/worlds/wildfire/sight.ts
  var starts = /* @__PURE__ */ new WeakMap();
  var memories = /* @__PURE__ */ new WeakMap();
  var last = null;
  function untouched(episode) {
    const kept2 = starts.get(episode);
    if (kept2) return kept2;
    const cells = Uint8Array.from(episode.static.land.join(""), (digit) => Number.parseInt(digit, 16));
    starts.set(episode, cells);
    return cells;
  }
  function codes(frame, episode) {
    if (last?.frame === frame) return last.cells;
    const cells = untouched(episode).slice();
    const { land } = frame;
    for (let k = 0; k < land.length; k += 3) {
      const first = entry(land, k);
      cells.fill(entry(land, k + 2), first, first + entry(land, k + 1));
    }
    last = { frame, cells };
    return cells;
  }
  var along = (from, to, k, steps) => from + Math.floor((2 * (to - from) * k + steps) / (2 * steps));
  function sweep(one, other, reach, size, call) {
    const [[x0, y0], [x1, y1]] = one[1] > other[1] ? [other, one] : [one, other];
    const steps = Math.max(Math.abs(x1 - x0), y1 - y0, 1);
    for (let k = 0; k <= steps; k++) {
      const [x, y] = [along(x0, x1, k, steps), along(y0, y1, k, steps)];
      for (let row = Math.max(0, y - reach); row <= Math.min(size - 1, y + reach); row++)
        for (let column = Math.max(0, x - reach); column <= Math.min(size - 1, x + reach); column++)
          call(row * size + column);
    }
  }
  function sight(episode, who, t) {
    const area = episode.static.size ** 2;
    let kept2 = memories.get(episode);
    if (!kept2 || kept2.who !== who || kept2.t > t)
      kept2 = { who, t: -1, cells: new Uint8Array(area), when: new Int32Array(area) };
    memories.set(episode, kept2);
    while (kept2.t < t) {
      kept2.t += 1;
      look(kept2, episode);
    }
    return kept2;
  }
  function look({ who, t, cells, when }, episode) {
    const { size, kinds } = episode.static;
    const frame = entry(episode.frames, t);
    const before = entry(episode.frames, Math.max(0, t - 1));
    const now = codes(frame, episode).slice();
    for (const [x, y, state] of frame.civilians) if (state !== CARRIED && state !== DEAD) now[y * size + x] = CIVILIAN;
    for (const [agent, place] of frame.agents.entries()) {
      if (!place || who !== null && who !== agent) continue;
      const [reach] = episode.style.sees[kinds[agent] ?? ""] ?? [0];
      sweep(before.agents[agent] ?? place, place, reach, size, (cell) => {
        cells[cell] = now[cell] ?? 0;
        when[cell] = t;
      });
    }
  }
  var whose = (layer) => layer === null || layer === TEAM || layer === TRUTH ? null : Number(layer);
  function shown(moment, episode) {
    if (episode.static.is_known) return { cells: codes(moment.frame, episode), seen: null };
    const seen = sight(episode, whose(moment.layer), moment.t).cells;
    return showsAll(moment) ? { cells: codes(moment.frame, episode), seen } : { cells: seen, seen: null };
  }
  function tellAge(moment, episode, cell) {
    if (showsAll(moment)) return "";
    const { cells, when } = sight(episode, whose(moment.layer), moment.t);
    const age = moment.t - (when[cell] ?? 0);
    return cells[cell] && age ? `, seen ${plural(age, "step")} ago` : "";
  }

  // src/worlds/wildfire/fires.ts
  var NEAR = 4;
  var ROOM = 90;
  var kept = null;
  function fires(moment, episode) {
    const key = [moment.t, moment.layer].join();
    if (kept?.episode !== episode || kept.key !== key)
      kept = { episode, key, fires: findFires(shown(moment, episode).cells, episode.static.size) };
    return kept.fires;
  }
  function findFires(cells, size) {
    const found = [];
    for (let cell = 0; cell < cells.length; cell++) {
      if (!burns(cells[cell])) continue;
      const [x, y] = [cell % size, Math.floor(cell / size)];
      let own = [x, y, x, y, 1];
      for (let k = found.length - 1; k >= 0; k--) {
        const other = entry(found, k);
        const [x0, y0, x1, y1, number] = other;
        if (x < x0 - NEAR || x > x1 + NEAR || y < y0 - NEAR || y > y1 + NEAR) continue;
        found.splice(k, 1);
        own = [Math.min(own[0], x0), Math.min(own[1], y0), Math.max(own[2], x1), Math.max(own[3], y1), own[4] + number];
      }
      found.push(own);
    }
    return found;
  }
  function drawFires(pen, map, moment, episode) {
    const colour = rgb(episode.style.colours[ON_FIRE]);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const [x0, y0, x1, y1, number] of fires(moment, episode)) {
      const [wide, high] = [(x1 - x0 + 1) * map.cell, (y1 - y0 + 1) * map.cell];
      if (Math.max(wide, high) > ROOM) continue;
      const [middle, down] = map.spot(x0, y0);
      const [x, y] = [middle - map.cell / 2, down - map.cell / 2];
      const least = map.symbol * 2.2;
      const [w, h] = [Math.max(wide + 10, least), Math.max(high + 10, least)];
      const [left, top] = [x + wide / 2 - w / 2, y + high / 2 - h / 2];
      for (const [stroke, thick] of [["#ffffff", 4.5], [colour, 2.2]]) {
        pen.strokeStyle = stroke;
        pen.lineWidth = thick;
        pen.strokeRect(left, top, w, h);
      }
      const font = map.symbol * 0.66;
      pen.font = `700 ${font}px ${FONT}`;
      const words = `${number} burn`;
      const across = pen.measureText(words).width + 6;
      const at = clamp(left, 0, Math.max(0, map.size - across));
      const under = top > font * 1.7 ? top - font * 1.5 : top + h;
      pen.fillStyle = colour;
      pen.fillRect(at - 1, under, across, font * 1.5);
      pen.fillStyle = "#10151a";
      pen.fillText(words, at + 2, under + font * 0.78);
    }
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

  // src/worlds/wildfire/land.ts
  var paper = new Paper();
  function planOf(size, view, { static: fixed }) {
    const { zoom, x, y } = view ?? WHOLE;
    const whole = size * zoom;
    const cell = whole / fixed.size;
    const [left, top] = [x * whole - size / 2, y * whole - size / 2];
    const spot = (column, row) => [
      (column + 0.5) * cell - left,
      (row + 0.5) * cell - top
    ];
    return { size, cell, left, top, spot, whole, symbol: clamp(size / 34, 14, 24) };
  }
  function lightsOf({ relief }, { shades: [dark, light, steps] }) {
    if (!relief) return null;
    return Float32Array.from(relief.join(""), (digit) => dark + (light - dark) * Number(digit) / (steps - 1));
  }
  function groundOf(moment, episode, pixels) {
    const side = Math.min(episode.static.size, Math.ceil(pixels));
    return paper.keep(episode, [moment.t, moment.layer, side], () => {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = side;
      const pen = canvas.getContext("2d");
      const image = pen?.createImageData(side, side);
      if (!pen || !image) return canvas;
      paint(image.data, moment, episode, side);
      pen.putImageData(image, 0, 0);
      return canvas;
    });
  }
  function paint(data, moment, episode, side) {
    const { static: fixed, style } = episode;
    const { cells, seen } = shown(moment, episode);
    const picked = pick(cells, fixed.size, side, style.rank);
    const light = lightsOf(fixed, style);
    const points = fixed.relief?.length ?? 0;
    const onLattice = Uint16Array.from({ length: fixed.size }, (_, at) => Math.floor(at * points / fixed.size));
    const isPlain = style.colours.map((_, code) => !light || style.plain.includes(code));
    const [fog = [0, 0, 0]] = style.colours;
    for (const [at, cell] of picked.entries()) {
      const code = cells[cell] ?? 0;
      const column = cell % fixed.size;
      const row = (cell - column) / fixed.size;
      const lit = isPlain[code] ? 1 : light?.[(onLattice[row] ?? 0) * points + (onLattice[column] ?? 0)] ?? 1;
      const haze = seen && !seen[cell] ? style.haze * (burns(code) ? 0.5 : 1) : 0;
      const channels2 = style.colours[code] ?? fog;
      for (let part = 0; part < 3; part++) {
        const colour = (channels2[part] ?? 0) * lit;
        data[4 * at + part] = haze ? between(colour, fog[part] ?? 0, haze) : colour;
      }
      data[4 * at + 3] = 255;
    }
  }
  function pick(cells, size, side, rank) {
    if (side === size) return Uint32Array.from(cells, (_, cell) => cell);
    const picked = new Uint32Array(side * side).fill(cells.length);
    const rankOf = (cell) => rank[cells[cell] ?? 0] ?? 0;
    for (let cell = 0; cell < cells.length; cell++) {
      const [row, column] = [Math.floor(cell / size), cell % size];
      const at = Math.floor(row * side / size) * side + Math.floor(column * side / size);
      const other = picked[at] ?? cells.length;
      if (other === cells.length || rankOf(cell) > rankOf(other)) picked[at] = cell;
    }
    return picked;
  }
  function drawArrow(pen, x, y, [east, south], room, colour) {
    const speed = Math.hypot(east, south);
    if (speed < 0.5) return;
    const half = Math.min(speed / 15, 1) * room / 2;
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
    pen.lineTo(half, 0);
    pen.lineTo(half - far, -wide);
    pen.lineTo(half - far, wide);
    pen.fill();
    pen.restore();
  }
  function drawWind(pen, map, { static: { wind: field }, style }) {
    if (!field) return;
    const room = map.whole / field.length;
    const every = Math.max(1, Math.ceil(54 / room));
    const isShown = (at) => at >= every >> 1 && (at - (every >> 1)) % every === 0;
    pen.globalAlpha = 0.6;
    for (const [row, blows] of field.entries()) {
      if (!isShown(row)) continue;
      for (const [column, blow] of blows.entries()) {
        if (!isShown(column)) continue;
        const [x, y] = [(column + 0.5) * room - map.left, (row + 0.5) * room - map.top];
        drawArrow(pen, x, y, blow, Math.min(room * every, 110), rgb(style.wind));
      }
    }
    pen.globalAlpha = 1;
  }
  function drawTargets(pen, map, { targets, target }) {
    const half = Math.max(map.cell / 2, 4);
    const frame = (place, far, thick) => {
      const [x, y] = map.spot(...place);
      pen.lineWidth = thick;
      pen.strokeRect(x - far, y - far, 2 * far, 2 * far);
    };
    pen.strokeStyle = "#000000";
    for (const place of targets) frame(place, half, 1.6);
    if (target) frame(target, Math.max(half * 2.2, map.symbol), 3);
  }
  function drawScale(pen, map, { cell_m: metres }) {
    if (!metres) return;
    const long = roundLength(map.size / map.cell * metres * 0.25);
    const across = long / metres * map.cell;
    const words = long >= 1e3 ? `${long / 1e3} km` : `${long} m`;
    pen.font = `600 12px ${FONT}`;
    pen.fillStyle = "#ffffffe6";
    pen.fillRect(6, map.size - 31, Math.max(across, pen.measureText(words).width) + 14, 25);
    pen.fillStyle = "#10151a";
    pen.fillRect(12, map.size - 12, across, 2.5);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(words, 12, map.size - 17);
  }
  function roundLength(most) {
    const power = 10 ** Math.floor(Math.log10(most));
    return ([5, 2].find((part) => part * power <= most) ?? 1) * power;
  }

  // src/worlds/wildfire/units.ts
  function drawShape(pen, style, kind, x, y, radius, fill, thick) {
    pen.beginPath();
    for (const polygon of style.shapes[kind] ?? []) {
      for (const [k, [right, down]] of polygon.entries()) {
        if (k) pen.lineTo(x + right * radius, y + down * radius);
        else pen.moveTo(x + right * radius, y + down * radius);
      }
      pen.closePath();
    }
    pen.lineWidth = 2 * thick;
    pen.lineJoin = "round";
    pen.strokeStyle = "#10151a";
    pen.stroke();
    pen.fillStyle = fill;
    pen.fill();
  }
  function groupUnits(units, near) {
    const found = [];
    for (const unit of units) {
      const isNear = ([first]) => first && Math.abs(first.x - unit.x) < near && Math.abs(first.y - unit.y) < near;
      const group = found.find(isNear);
      if (group) group.push(unit);
      else found.push([unit]);
    }
    return found;
  }
  function teamOf({ frame, next, share }, { static: fixed }) {
    const part = ease(share);
    return frame.agents.flatMap((from, row) => {
      if (!from || frame.aboard[row] !== null) return [];
      const to = next.agents[row] ?? from;
      const [x, y] = [between(from[0], to[0], part), between(from[1], to[1], part)];
      return [{ row, kind: entry(fixed.kinds, row), x, y }];
    });
  }
  function peopleOf(moment, episode) {
    const { frame, next, share } = moment;
    if (!showsAll(moment)) {
      const { size } = episode.static;
      const units = [];
      for (const [cell, code] of shown(moment, episode).cells.entries())
        if (code === CIVILIAN) units.push({ row: null, kind: "civilian", x: cell % size, y: Math.floor(cell / size) });
      return units;
    }
    const part = ease(share);
    return frame.civilians.flatMap(([x, y, state], row) => {
      if (state === CARRIED) return [];
      const to = next.civilians[row] ?? [x, y];
      return [
        { row, kind: state === DEAD ? "dead" : "civilian", x: between(x, to[0], part), y: between(y, to[1], part) }
      ];
    });
  }
  function drawUnits(pen, map, moment, episode, spots) {
    for (const units of [peopleOf(moment, episode), teamOf(moment, episode)])
      for (const group of groupUnits(units, map.symbol * 1.3 / map.cell))
        drawGroup(pen, map, group, moment, episode, spots);
  }
  function drawGroup(pen, map, group, moment, episode, spots) {
    const { style } = episode;
    const kinds = Object.keys(style.shapes).map((kind) => group.filter((unit) => unit.kind === kind)).filter((units) => units.length);
    const wides = kinds.map((units) => (units.length > 1 ? map.symbol * 1.45 : map.symbol) + 2);
    const mean = (axis) => group.reduce((sum, unit) => sum + unit[axis], 0) / group.length;
    const [middle, y] = map.spot(mean("x"), mean("y"));
    let x = middle - wides.reduce((sum, wide) => sum + wide) / 2;
    for (const [k, units] of kinds.entries()) {
      const { kind, row } = entry(units, 0);
      const wide = entry(wides, k);
      const radius = wide / 2 - 1;
      x += wide / 2;
      const own = style.fills[kind];
      const fill = own ? rgb(own) : fillOf(units, moment, episode);
      const isChosen = !own && units.some((unit) => unit.row === moment.chosen);
      drawShape(pen, style, kind, x, y, radius, fill, isChosen ? 3 : 1.4);
      const words = units.length > 1 ? `×${units.length}` : !own && radius >= 7 ? String(row) : "";
      pen.font = `700 ${Math.max(9, radius * (words.length > 2 ? 0.85 : 1))}px ${FONT}`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillStyle = fill.startsWith("#") ? inkOn(fill) : "#10151a";
      pen.fillText(words, x, y + (kind === "helicopter" ? radius * 0.25 : 0.5));
      if (!own) {
        for (const unit of units) if (unit.row !== null) spots[unit.row] = { x, y, radius };
      }
      x += wide / 2;
    }
  }
  function fillOf(units, { team }, episode) {
    const aims = new Set(units.map((unit) => team[unit.row ?? -1]?.aim ?? null));
    const [aim] = aims;
    return aims.size === 1 && aim ? episode.colour(aim) : "#ffffff";
  }
  var INKS = [
    ["#ffffffb0", 4, 3],
    ["#10151a", 1.6, 1.4]
  ];
  function drawWindows(pen, map, { frame, chosen }, episode) {
    const place = frame.agents[chosen ?? -1];
    if (!place) return;
    const [x, y] = map.spot(...place);
    const kind = episode.static.kinds[chosen ?? -1] ?? "";
    for (const [k, reach] of (episode.style.sees[kind] ?? []).entries()) {
      const half = (reach + 0.5) * map.cell;
      pen.setLineDash(k ? [5, 4] : []);
      for (const [colour, , thick] of INKS) {
        pen.strokeStyle = colour;
        pen.lineWidth = thick;
        pen.strokeRect(x - half, y - half, 2 * half, 2 * half);
      }
    }
    pen.setLineDash([]);
  }
  function drawWay(pen, map, { t, frame, chosen }, episode) {
    if (chosen === null || !frame.agents[chosen]) return;
    pen.lineJoin = pen.lineCap = "round";
    pen.beginPath();
    for (let step = 0; step <= t; step++) {
      const place = episode.frame(step).agents[chosen];
      if (place) pen.lineTo(...map.spot(...place));
    }
    for (const [colour, thick] of INKS) {
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.stroke();
    }
  }

  // src/worlds/wildfire/key.ts
  var COMPASS = ["E", "SE", "S", "SW", "W", "NW", "N", "NE"];
  var houses = /* @__PURE__ */ new WeakMap();
  function countHouses(episode) {
    const count = houses.get(episode) ?? untouched(episode).filter((code) => code === HOUSE).length;
    houses.set(episode, count);
    return count;
  }
  var towards = ([east, south]) => COMPASS[Math.round(Math.atan2(south, east) * 4 / Math.PI + 8) % 8];
  var tellWind = (blow) => `${Math.round(Math.hypot(...blow))} m/s to the ${towards(blow)}`;
  function keyOf(moment, episode) {
    return [
      { head: "left" },
      ...unitsLeft(moment, episode),
      ...fireRows(moment, episode),
      { head: "map" },
      ...mapRows(moment, episode).map((row) => ({ ...row, soft: true }))
    ];
  }
  function unitsLeft({ frame }, { static: { kinds }, style }) {
    const symbol = (kind) => (pen, size) => {
      const fill = style.fills[kind] ? rgb(style.fills[kind]) : "#ffffff";
      drawShape(pen, style, kind, size / 2, size / 2, size * 0.36, fill, 1.2);
    };
    const rows = Object.keys(style.shapes).filter((kind) => kinds.includes(kind)).map((kind) => {
      const all = kinds.filter((own) => own === kind).length;
      const left = frame.agents.filter((place, row) => place && kinds[row] === kind).length;
      return { samples: [symbol(kind)], words: `${left} of ${plural(all, kind)}` };
    });
    if (!frame.civilians.length) return rows;
    const counts = STATES.map((word, state) => [frame.civilians.filter((row) => row[2] === state).length, word]);
    const words = counts.filter(([number]) => number).map(([number, word]) => `${number} ${word}`);
    return [...rows, { samples: [symbol("civilian")], words: words.join(", ") }];
  }
  function fireRows({ frame, theme }, episode) {
    if (!frame.counts) return [];
    const { colours } = episode.style;
    const [burning, caught, lost, cut] = frame.counts;
    const all = countHouses(episode);
    const { wind } = frame;
    const blow = (pen, size, [east, south]) => {
      const speed = Math.hypot(east, south) || 1;
      drawArrow(pen, size / 2, size / 2, [15 * east / speed, 15 * south / speed], size, theme.ink);
    };
    return [
      ...all ? [{ samples: [rgb(colours[HOUSE])], words: `${all - lost} of ${plural(all, "house")}` }] : [],
      { head: "fire" },
      {
        samples: [rgb(colours[ON_FIRE])],
        words: `${plural(burning, "cell")} burn${burning === 1 ? "s" : ""}, ${caught} caught`
      },
      { samples: [rgb(colours[CLEARED])], words: `${plural(cut, "tree")} cut` },
      ...wind ? [{ samples: [(pen, size) => blow(pen, size, wind)], words: tellWind(wind), state: wind.join() }] : []
    ];
  }
  function mapRows({ theme, chosen }, { static: fixed, style }) {
    const frame = (thick, colour) => (pen, size) => {
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.strokeRect(3, 3, size - 6, size - 6);
    };
    const arrow = (pen, size) => drawArrow(pen, size / 2, size / 2, [15, 0], size, theme.ink);
    const rows = [
      [true, { samples: [frame(2.2, rgb(style.colours[ON_FIRE]))], words: "a small fire, with the cells that burn" }],
      [fixed.targets.length, { samples: [frame(1.4, theme.ink)], words: "trees to cut" }],
      [fixed.target, { samples: [frame(3, theme.ink)], words: "where people are brought" }],
      [fixed.wind, { samples: [arrow], words: "wind, longer is stronger" }],
      [fixed.relief, { words: "light from the north-west shows the relief" }],
      [true, { words: "×3: three stand together" }],
      [chosen !== null, { words: "chosen agent: its way, what it reveals (line) and observes (dashed)" }]
    ];
    return [
      ...style.legend.map(
        ([codes2, words]) => ({ samples: codes2.map((code) => rgb(style.colours[code])), words })
      ),
      ...rows.flatMap(([isThere, row]) => isThere ? [row] : [])
    ];
  }

  // src/worlds/wildfire/main.ts
  var MOST_AGENTS = 12;
  var MOST_CIVILIANS = 6;
  var wildfire = {
    zooms: true,
    key: keyOf,
    layers: ({ team }) => [
      { id: TRUTH, words: "everything; what the team has not seen is faint" },
      { id: TEAM, words: "what the team has seen, as last seen" },
      ...team.map(({ name }, place) => ({ id: String(place), words: `what ${say(name)} has seen, as last seen` }))
    ],
    curves({ frames }) {
      const values = frames.flatMap(({ counts }) => counts ? [counts[0]] : []);
      return values.some(Boolean) ? [{ name: "burning cells", values, colour: "fail" }] : [];
    },
    draw(pen, size, moment, episode) {
      const map = planOf(size, moment.view, episode);
      const ground = groundOf(moment, episode, map.whole * (window.devicePixelRatio || 1));
      pen.imageSmoothingEnabled = false;
      pen.fillStyle = moment.theme.card;
      pen.fillRect(0, 0, size, size);
      pen.drawImage(ground, -map.left, -map.top, map.whole, map.whole);
      drawWind(pen, map, episode);
      drawTargets(pen, map, episode.static);
      drawWindows(pen, map, moment, episode);
      drawWay(pen, map, moment, episode);
      const agents = moment.frame.agents.map(() => AWAY);
      drawUnits(pen, map, moment, episode, agents);
      drawFires(pen, map, moment, episode);
      drawScale(pen, map, episode.static);
      return { agents };
    },
    label(moment, episode, x, y, size) {
      const map = planOf(size, moment.view, episode);
      const { size: side, wind: field } = episode.static;
      const [column, row] = [Math.floor((x + map.left) / map.cell), Math.floor((y + map.top) / map.cell)];
      if (column < 0 || row < 0 || column >= side || row >= side) return [];
      const { frame } = moment;
      const isNear = (unit) => {
        const [middle, down] = map.spot(unit.x, unit.y);
        return Math.hypot(middle - x, down - y) <= Math.max(map.symbol, map.cell / 2);
      };
      const nameOf = (place) => say(entry(episode.team, place).name);
      const who = teamOf(moment, episode).filter(isNear).map((unit) => {
        const riders = frame.aboard.flatMap((carrier, place) => carrier === unit.row ? [nameOf(place)] : []);
        const load = riders.length ? `, carries ${riders.join(", ")}` : "";
        return `${unit.row} ${nameOf(unit.row)}, water ${frame.water[unit.row]}${load}`;
      });
      const civilians = peopleOf(moment, episode).filter(isNear).map((unit) => {
        if (unit.row === null) return "civilian, last seen here";
        return `civilian ${unit.row}: ${STATES[entry(frame.civilians, unit.row)[2]]}`;
      });
      const { cells, seen } = shown(moment, episode);
      const cell = row * side + column;
      const meaning = episode.style.meanings[cells[cell] ?? 0];
      const unseen = seen && !seen[cell] ? ", not seen by the team yet" : "";
      const lattice = (at) => Math.floor(at * (field?.length ?? 0) / side);
      const blow = field?.[lattice(row)]?.[lattice(column)];
      return [
        ...who.slice(0, MOST_AGENTS),
        ...civilians.slice(0, MOST_CIVILIANS),
        `(${column}, ${row}): ${meaning}${unseen}${tellAge(moment, episode, cell)}`,
        ...blow ? [`wind ${tellWind(blow)}`] : []
      ];
    },
    words({ t, frame }, episode) {
      const cells = codes(frame, episode);
      const counts = [IGNITED, ON_FIRE, BURNT_OUT].map((code) => {
        return `${cells.filter((own) => own === code).length} ${episode.style.meanings[code]}`;
      });
      const alive = plural(frame.agents.filter(Boolean).length, "agent");
      const side = episode.static.size;
      return `Map of ${side} by ${side} cells at step ${t}: ${alive}; cells: ${counts.join(", ")}.`;
    }
  };
  register("wildfire", wildfire, { groups: groupUnits, fires, sight });
})();
