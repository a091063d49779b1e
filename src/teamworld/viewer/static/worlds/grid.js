"use strict";
// Environments that are grids, by the data that worlds/base/picture.py describes: kinds of things with a shape and a
// colour, agents with a label, where they face and what they carry. An agent has its number, the way of its last steps
// behind it, and the colour of the goal it works on; those who act together are joined by lines to how many of how many.
(function (tw) {
  const FACING = { north: [-1, 0], south: [1, 0], west: [0, -1], east: [0, 1] };
  const TRAIL = 8; // steps
  const MOST_TRAILS = 64; // agents: more of them would be a tangle
  const MOST_KEY_ROWS = 24;
  let paper = null;

  /** Where cells lie: squares; a grid that is not square stands in the middle. */
  function plan(size, episode, view = { zoom: 1, x: 0.5, y: 0.5 }) {
    const [rows, columns] = episode.static.size;
    const whole = size * view.zoom;
    const cell = whole / Math.max(rows, columns);
    const [left, top] = [[columns, view.x], [rows, view.y]].map(([count, middle]) => (whole - count * cell) / 2 - (middle * whole - size / 2));
    return { rows, columns, cell, left, top, size, view, x: (column) => left + column * cell, y: (row) => top + row * cell };
  }

  function outline(pen, look, x, y, cell) {
    if (look.shape === "disc") {
      pen.moveTo(x + cell * 0.38, y);
      pen.arc(x, y, cell * 0.38, 0, 2 * Math.PI);
    } else if (look.shape === "tile") pen.rect(x - cell / 2, y - cell / 2, cell, cell);
    else pen.roundRect(x - cell * 0.38, y - cell * 0.38, cell * 0.76, cell * 0.76, cell * 0.1);
  }

  function shape(pen, look, x, y, cell, rim = null) {
    pen.beginPath();
    outline(pen, look, x, y, cell);
    pen.fillStyle = look.colour;
    pen.fill();
    if (!rim) return;
    pen.lineWidth = 1.2;
    pen.strokeStyle = rim;
    pen.stroke();
  }

  function write(pen, text, x, y, size, colour) {
    if (!text || size < 6) return;
    pen.font = `600 ${text.length > 2 ? size * 0.7 : size}px system-ui, sans-serif`;
    pen.fillStyle = colour;
    pen.fillText(text, x, y + 0.5);
  }

  /** The grid and what never changes, kept until the size, the part that is shown or the theme changes. */
  function ground(map, episode, theme) {
    const key = [map.size, ...Object.values(map.view), window.devicePixelRatio, theme.card].join();
    if (paper?.episode === episode && paper.key === key) return paper.canvas;
    const canvas = document.createElement("canvas");
    const pen = tw.fit(canvas, map.size, map.size);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = theme.card;
    pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
    drawThings(pen, map, episode.static.ground, episode.static.kinds);
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
    paper = { episode, key, canvas };
    return canvas;
  }

  /** Things in their order, those of a kind that follow one another in one go, with their labels. */
  function drawThings(pen, map, rows, kinds) {
    const flush = (look) => {
      if (!look) return;
      pen.fillStyle = look.colour;
      pen.fill();
    };
    let before = null;
    for (const [row, column, kind] of rows) {
      const look = kinds[kind];
      if (look !== before) {
        flush(before);
        pen.beginPath();
        before = look;
      }
      outline(pen, look, map.x(column + 0.5), map.y(row + 0.5), map.cell);
    }
    flush(before);
    if (map.cell < 12) return;
    for (const [row, column, kind, label] of rows) write(pen, label, map.x(column + 0.5), map.y(row + 0.5), map.cell * 0.42, tw.inkOn(kinds[kind].colour));
  }

  /** Where agents are drawn, as [row, column, radius] in cells, null for those that are gone: those that share a cell
   * stand in a ring, smaller; beside a thing that has a label, so that this can be read. */
  function spread({ agents, things }) {
    const cells = new Map();
    const key = (at) => `${at[0]},${at[1]}`;
    const labelled = new Set(things.filter((thing) => thing[3]).map(key));
    for (const agent of agents) if (agent) cells.set(key(agent), [...(cells.get(key(agent)) ?? []), agent]);
    return agents.map((agent) => {
      if (!agent) return null;
      const [row, column] = agent;
      const here = cells.get(key(agent));
      if (here.length === 1) return labelled.has(key(agent)) ? [row + 0.74, column + 0.74, 0.24] : [row + 0.5, column + 0.5, 0.34];
      const angle = (2 * Math.PI * here.indexOf(agent)) / here.length;
      return [row + 0.5 - 0.25 * Math.cos(angle), column + 0.5 + 0.25 * Math.sin(angle), here.length < 5 ? 0.2 : 0.12];
    });
  }

  /** The middle of each agent between two moments; those that are gone are off the picture. */
  function places(map, { frame, next, share }) {
    const ends = spread(next);
    return spread(frame).map((from, place) => {
      if (!from) return { x: -99, y: -99, radius: 0 };
      const to = ends[place] ?? from;
      const [row, column, radius] = from.map((value, axis) => tw.between(value, to[axis], tw.ease(share)));
      return { x: map.x(column), y: map.y(row), radius: Math.max(2, map.cell * radius) };
    });
  }

  /** The way of the last steps, to where the agent is drawn. */
  function drawTrail(pen, map, spot, place, moment, episode, colour) {
    const first = Math.max(0, moment.t - TRAIL);
    if (map.cell < 6 || (first === moment.t && !moment.share)) return;
    pen.beginPath();
    for (let t = first; t <= moment.t; t++) {
      const at = episode.frame(t).agents[place];
      if (at) pen.lineTo(map.x(at[1] + 0.5), map.y(at[0] + 0.5));
    }
    pen.lineTo(spot.x, spot.y);
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.35;
    pen.lineWidth = map.cell * 0.12;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** Whether the world's labels say who is who, as numbers or letters of names do; others stand beside the number. */
  const areNames = ({ agents }, { team }) => agents.every((agent, place) => !agent?.[2] || agent[2].includes(String(place)) || team[place].name.includes(agent[2]));

  function drawAgent(pen, spot, place, agent, colour, theme, isChosen, kinds, isNamed) {
    const [, , label, facing, held] = agent;
    const { x, y, radius } = spot;
    if (facing) {
      const [down, right] = FACING[facing];
      const [far, wide] = [1.5 * radius, 0.62 * radius];
      pen.beginPath();
      pen.moveTo(x + right * far, y + down * far);
      pen.lineTo(x + right * 0.7 * radius + down * wide, y + down * 0.7 * radius + right * wide);
      pen.lineTo(x + right * 0.7 * radius - down * wide, y + down * 0.7 * radius - right * wide);
      pen.closePath();
      pen.fillStyle = theme.ink;
      pen.fill();
    }
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = colour;
    pen.fill();
    pen.lineWidth = isChosen ? 3 : 1.2;
    pen.strokeStyle = theme.ink;
    pen.stroke();
    if (held) shape(pen, kinds[held], x - radius * 0.72, y + radius * 0.72, radius * 1.25, theme.ink);
    const extra = isNamed ? "" : label;
    write(pen, extra || !label ? String(place) : label, x, y, radius * 1.2, tw.inkOn(colour));
    if (!extra || radius < 8) return;
    const size = radius * 0.72;
    pen.font = `600 ${size}px system-ui, sans-serif`;
    const wide = Math.max(size * 1.3, pen.measureText(extra).width + size * 0.6);
    pen.beginPath();
    pen.roundRect(x + radius * 0.72 - wide / 2, y - radius * 0.72 - size * 0.65, wide, size * 1.3, size * 0.3);
    pen.fillStyle = theme.card;
    pen.fill();
    pen.lineWidth = 1.2;
    pen.stroke();
    write(pen, extra, x + radius * 0.72, y - radius * 0.72, size, theme.ink);
  }

  /** Those who act together, and how many of how many it takes: joined by lines. */
  function drawJoints(pen, map, agents, moment, episode) {
    for (const joint of moment.joints) {
      const spots = joint.who.map((name) => agents[episode.place.get(name)]).filter((spot) => spot?.radius);
      if (!spots.length || map.cell < 6) continue;
      const [have, need] = [joint.have.temporal ?? joint.who.length, joint.need.temporal ?? joint.k];
      const colour = joint.success ? moment.theme.good : moment.theme.fail;
      const font = tw.clamp(map.cell * 0.3, 10, 15);
      const middle = spots.reduce((sum, spot) => sum + spot.x, 0) / spots.length;
      const x = tw.clamp(middle, 2 * font, map.size - 2 * font);
      const y = tw.clamp(Math.min(...spots.map((spot) => spot.y - spot.radius)) - font * 1.4, font, map.size - font);
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.beginPath();
      for (const spot of spots) {
        pen.moveTo(x, y);
        pen.lineTo(spot.x, spot.y - spot.radius);
      }
      pen.stroke();
      const words = `${have}/${need}`;
      pen.font = `700 ${font}px system-ui, sans-serif`;
      const wide = pen.measureText(words).width + font;
      pen.beginPath();
      pen.roundRect(x - wide / 2, y - font * 0.8, wide, font * 1.6, font * 0.8);
      pen.fillStyle = colour;
      pen.fill();
      pen.fillStyle = tw.inkOn(colour);
      pen.fillText(words, x, y + 0.5);
    }
  }

  /** What an agent knows, over a picture that is faint: cells where it perceives something, and last sightings with their age in steps. */
  function drawKnown(pen, map, moment, episode, picture) {
    const known = tw.sightings(episode, moment.layer, moment.t);
    pen.fillStyle = moment.theme.card;
    pen.globalAlpha = 0.72;
    pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
    pen.globalAlpha = 1;
    const corner = ({ row, column }) => [map.x(column), map.y(row)];
    pen.save();
    pen.beginPath();
    for (const it of known.filter(({ age }) => age === 0)) pen.rect(...corner(it), map.cell, map.cell);
    pen.clip();
    picture();
    pen.restore();
    pen.setLineDash([3, 2]);
    for (const it of known.filter(({ age }) => age > 0)) {
      const [x, y] = corner(it);
      pen.fillStyle = moment.theme.card;
      pen.fillRect(x + 2, y + 2, map.cell - 4, map.cell - 4);
      pen.strokeStyle = moment.theme.ready;
      pen.lineWidth = 1.5;
      pen.strokeRect(x + 2, y + 2, map.cell - 4, map.cell - 4);
      write(pen, `${it.name[0]}${/\d*$/.exec(it.name)[0]}`, x + map.cell / 2, y + map.cell * 0.38, map.cell * 0.36, moment.theme.ink);
      write(pen, `−${it.age}`, x + map.cell / 2, y + map.cell * 0.74, map.cell * 0.3, moment.theme.ready);
    }
    pen.setLineDash([]);
  }

  /** What the marks of agents mean, those that this episode has. */
  function marksOf(moment, episode) {
    const any = (is) => episode.frames.some(({ agents }) => agents.some((agent) => agent && is(agent)));
    const { theme } = moment;
    const sample = (...agent) => (pen, size) => {
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      drawAgent(pen, { x: size / 2, y: size / 2, radius: size * 0.32 }, 0, agent, theme.idle, theme, false, episode.static.kinds, true);
    };
    return [
      { samples: [sample(0, 0, "0", "", "")], words: "agent, in the colour of the goal it works on", soft: true },
      ...(any((agent) => agent[3]) ? [{ samples: [sample(0, 0, "", "east", "")], words: "the way it faces", soft: true }] : []),
      ...(any((agent) => agent[4]) ? [{ words: "below on its left: what it carries", soft: true }] : []),
      ...(!areNames(moment.frame, episode) ? [{ words: "above on its right: its own label", soft: true }] : []),
      ...(episode.joints.length ? [{ words: "1/2: one acts, it takes two at once", soft: true }] : []),
    ];
  }

  tw.drawers.grid = {
    zooms: true,
    layers: tw.knowledgeLayers,
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const map = plan(size, episode, moment.view);
      const picture = () => this.picture(pen, map, moment, episode);
      pen.fillStyle = moment.theme.page;
      pen.fillRect(0, 0, size, size);
      const drawn = picture();
      if (moment.layer && episode.knowledge) drawKnown(pen, map, moment, episode, picture);
      return drawn;
    },
    picture(pen, map, moment, episode) {
      const { kinds } = episode.static;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.drawImage(ground(map, episode, moment.theme), 0, 0, map.size, map.size);
      drawThings(pen, map, moment.frame.things, kinds);
      const agents = places(map, moment);
      const isNamed = areNames(moment.frame, episode);
      const colours = moment.team.map(({ aim }) => (aim ? episode.colour(aim) : moment.theme.idle));
      const here = agents.map((spot, place) => (moment.team[place].gone ? 0 : spot.radius));
      if (agents.length <= MOST_TRAILS) agents.forEach((spot, place) => here[place] && drawTrail(pen, map, spot, place, moment, episode, colours[place]));
      agents.forEach((spot, place) => {
        if (here[place]) drawAgent(pen, spot, place, moment.frame.agents[place], colours[place], moment.theme, place === moment.chosen, kinds, isNamed);
      });
      drawJoints(pen, map, agents, moment, episode);
      return { agents };
    },
    key(moment, episode) {
      const kinds = Object.values(episode.static.kinds).slice(0, MOST_KEY_ROWS).map((look) => ({ samples: [(pen, size) => shape(pen, look, size / 2, size / 2, size)], words: look.words }));
      const known = [{ words: "faint: not perceived now", soft: true }, { words: "dashed: where it last was perceived, −n: n steps ago", soft: true }];
      return [...kinds, ...(moment.layer ? known : []), ...marksOf(moment, episode)];
    },
    /** What is under the pointer. */
    label(moment, episode, x, y, size) {
      const map = plan(size, episode, moment.view);
      const [row, column] = [Math.floor((y - map.top) / map.cell), Math.floor((x - map.left) / map.cell)];
      if (row < 0 || column < 0 || row >= map.rows || column >= map.columns) return [];
      const here = (thing) => thing && (thing.row ?? thing[0]) === row && (thing.column ?? thing[1]) === column;
      const who = moment.frame.agents.flatMap((agent, place) => {
        if (!here(agent) || moment.team[place].gone) return [];
        const extra = areNames(moment.frame, episode) ? "" : agent[2];
        return [`${tw.say(episode.team[place].name)}${extra ? ` (${extra})` : ""}${agent[4] ? `, carries ${episode.static.kinds[agent[4]].words}` : ""}`];
      });
      const what = [...moment.frame.things, ...episode.static.ground].filter(here).map((thing) => `${episode.static.kinds[thing[2]].words}${thing[3] ? `: ${thing[3]}` : ""}`);
      const known = moment.layer && episode.knowledge ? tw.sightings(episode, moment.layer, moment.t).filter(here) : [];
      const told = known.map(({ name, age }) => `${tw.say(moment.layer)} ${age ? `last perceived ${tw.say(name)} here ${tw.plural(age, "step")} ago` : `perceives ${tw.say(name)}`}`);
      return [...who, ...what, ...told, `(${row}, ${column})`];
    },
    /** The picture in words. */
    words(moment, episode) {
      const [rows, columns] = episode.static.size;
      return `Grid of ${rows} by ${columns} cells at step ${moment.t}: ${tw.plural(moment.frame.agents.filter(Boolean).length, "agent")}, ${tw.plural(moment.frame.things.length, "thing")}.`;
    },
  };
})(window.teamworld);
