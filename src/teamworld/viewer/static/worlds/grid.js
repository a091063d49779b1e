"use strict";
// Environments that are grids, by the data that worlds/base/picture.py describes: kinds of things with a shape and a
// colour, agents with a label, where they face and what they carry.
(function (tw) {
  const FACING = { north: [-1, 0], south: [1, 0], west: [0, -1], east: [0, 1] };
  const ease = (share) => share * share * (3 - 2 * share);
  const between = (one, other, share) => one + (other - one) * share;

  /** Cells are squares; a grid that is not square stands in the middle. */
  function plan(size, episode) {
    const [rows, columns] = episode.static.size;
    const cell = size / Math.max(rows, columns);
    return { rows, columns, cell, left: (size - columns * cell) / 2, top: (size - rows * cell) / 2 };
  }

  function shape(pen, look, x, y, cell) {
    pen.fillStyle = look.colour;
    pen.beginPath();
    if (look.shape === "disc") pen.arc(x, y, cell * 0.38, 0, 2 * Math.PI);
    else if (look.shape === "tile") pen.rect(x - cell / 2, y - cell / 2, cell, cell);
    else pen.roundRect(x - cell * 0.38, y - cell * 0.38, cell * 0.76, cell * 0.76, cell * 0.1);
    pen.fill();
  }

  function write(pen, text, x, y, size, colour) {
    if (!text || size < 6) return;
    pen.font = `600 ${text.length > 2 ? size * 0.7 : size}px system-ui, sans-serif`;
    pen.fillStyle = colour;
    pen.fillText(text, x, y + 0.5);
  }

  function paper(pen, map, theme) {
    pen.fillStyle = theme.card;
    pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
    pen.strokeStyle = theme.line;
    pen.lineWidth = 0.7;
    pen.beginPath();
    for (let column = 0; column <= map.columns; column++) {
      pen.moveTo(map.left + column * map.cell, map.top);
      pen.lineTo(map.left + column * map.cell, map.top + map.rows * map.cell);
    }
    for (let row = 0; row <= map.rows; row++) {
      pen.moveTo(map.left, map.top + row * map.cell);
      pen.lineTo(map.left + map.columns * map.cell, map.top + row * map.cell);
    }
    pen.stroke();
  }

  function drawThings(pen, map, rows, kinds) {
    for (const [row, column, kind, label] of rows) {
      const look = kinds[kind];
      const x = map.left + (column + 0.5) * map.cell;
      const y = map.top + (row + 0.5) * map.cell;
      shape(pen, look, x, y, map.cell);
      write(pen, label, x, y, map.cell * 0.42, tw.inkOn(look.colour));
    }
  }

  /** Where agents are drawn, as [row, column, radius] in cells: those that share a cell stand in a ring, smaller. */
  function spread(agents) {
    const shared = (at) => agents.filter((agent) => agent[0] === at[0] && agent[1] === at[1]);
    return agents.map((agent) => {
      const [row, column] = agent;
      const here = shared(agent);
      if (here.length === 1) return [row + 0.5, column + 0.5, 0.32];
      const angle = (2 * Math.PI * here.indexOf(agent)) / here.length;
      return [row + 0.5 - 0.25 * Math.cos(angle), column + 0.5 + 0.25 * Math.sin(angle), here.length < 5 ? 0.17 : 0.1];
    });
  }

  function drawAgent(pen, spot, agent, colour, moment, isChosen, kinds) {
    const [, , label, facing, held] = agent;
    if (held) shape(pen, { ...kinds[held], shape: "square" }, spot.x, spot.y, spot.radius / 0.32);
    pen.beginPath();
    pen.arc(spot.x, spot.y, spot.radius, 0, 2 * Math.PI);
    pen.fillStyle = colour;
    pen.fill();
    pen.lineWidth = isChosen ? 2.5 : 1;
    pen.strokeStyle = isChosen ? moment.theme.ink : moment.theme.card;
    pen.stroke();
    if (facing) {
      const [down, right] = FACING[facing];
      pen.beginPath();
      pen.arc(spot.x + right * spot.radius * 1.06, spot.y + down * spot.radius * 1.06, spot.radius * 0.3, 0, 2 * Math.PI);
      pen.fillStyle = moment.theme.ink;
      pen.fill();
    }
    write(pen, label, spot.x, spot.y, spot.radius * 1.25, tw.inkOn(colour));
  }

  /** What an agent knows, over a picture that is faint: cells where it perceives something, and last sightings with their age in steps. */
  function drawKnown(pen, map, moment, episode, picture) {
    const known = tw.sightings(episode, moment.layer, moment.t);
    pen.fillStyle = moment.theme.card;
    pen.globalAlpha = 0.72;
    pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
    pen.globalAlpha = 1;
    const corner = ({ row, column }) => [map.left + column * map.cell, map.top + row * map.cell];
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

  tw.drawers.grid = {
    layers: tw.knowledgeLayers,
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const map = plan(size, episode);
      const picture = () => this.picture(pen, map, moment, episode);
      const drawn = picture();
      if (moment.layer && episode.knowledge) drawKnown(pen, map, moment, episode, picture);
      return drawn;
    },
    picture(pen, map, moment, episode) {
      const { kinds, ground } = episode.static;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      paper(pen, map, moment.theme);
      drawThings(pen, map, ground, kinds);
      drawThings(pen, map, moment.frame.things, kinds);
      const part = ease(moment.share);
      const ends = spread(moment.next.agents);
      const agents = spread(moment.frame.agents).map((from, place) => {
        const [row, column, radius] = from.map((value, axis) => between(value, ends[place][axis], part));
        return { x: map.left + column * map.cell, y: map.top + row * map.cell, radius: Math.max(2, map.cell * radius) };
      });
      agents.forEach((spot, place) => {
        const member = moment.team[place];
        if (member.gone) return;
        const colour = member.aim ? episode.colour(member.aim) : moment.theme.idle;
        drawAgent(pen, spot, moment.frame.agents[place], colour, moment, place === moment.chosen, kinds);
      });
      return { agents };
    },
    key(moment, episode) {
      const kinds = Object.values(episode.static.kinds).map((look) => ({ samples: [(pen, size) => shape(pen, look, size / 2, size / 2, size)], words: look.words }));
      const known = [{ words: "faint: not perceived now", soft: true }, { words: "dashed: where it last was perceived, −n: n steps ago", soft: true }];
      return [...kinds, ...(moment.layer ? known : []), { words: "agents have the colour of the goal they work on", soft: true }];
    },
    /** What is under the pointer. */
    label(moment, episode, x, y, size) {
      const map = plan(size, episode);
      const [row, column] = [Math.floor((y - map.top) / map.cell), Math.floor((x - map.left) / map.cell)];
      if (row < 0 || column < 0 || row >= map.rows || column >= map.columns) return [];
      const here = (thing) => (thing.row ?? thing[0]) === row && (thing.column ?? thing[1]) === column;
      const who = moment.frame.agents.flatMap((agent, place) => (here(agent) ? [`${tw.say(episode.team[place].name)}${agent[4] ? `, carries ${episode.static.kinds[agent[4]].words}` : ""}`] : []));
      const what = [...moment.frame.things, ...episode.static.ground].filter(here).map((thing) => `${episode.static.kinds[thing[2]].words}${thing[3] ? `: ${thing[3]}` : ""}`);
      const known = moment.layer && episode.knowledge ? tw.sightings(episode, moment.layer, moment.t).filter(here) : [];
      const told = known.map(({ name, age }) => `${tw.say(moment.layer)} ${age ? `last perceived ${tw.say(name)} here ${tw.plural(age, "step")} ago` : `perceives ${tw.say(name)}`}`);
      return [...who, ...what, ...told, `(${row}, ${column})`];
    },
    /** The picture in words. */
    words(moment, episode) {
      const [rows, columns] = episode.static.size;
      return `Grid of ${rows} by ${columns} cells at step ${moment.t}: ${tw.plural(moment.frame.agents.length, "agent")}, ${tw.plural(moment.frame.things.length, "thing")}.`;
    },
  };
})(window.teamworld);
