"use strict";
// CUBE: a grid of K x K cells, the goal column at the right, blocks as wide as they are heavy, agents.
// A block and the agents bound to it have the same colour. A block that is pushed shows its force: a box for each agent
// that it takes, filled for those who push now, empty for those who are missing, and an arrow from each who pushes.
(function (tw) {
  const DIRECTION = { UP: [-1, 0], DOWN: [1, 0], LEFT: [0, -1], RIGHT: [0, 1] };
  const TRAIL = 10;
  const ROOMY = 54; // pixels of a block that holds a second line of text
  const FITS = 30; // pixels of one that holds a label and its force
  const MOST_BOXES = 20; // of a force; beyond them it is a bar
  let paper = null;

  /** Where cells lie. */
  function plan(size, episode, view = { zoom: 1, x: 0.5, y: 0.5 }) {
    const side = episode.static.grid_size;
    const whole = size * view.zoom;
    return { size, side, view, cell: whole / side, left: size / 2 - view.x * whole, top: size / 2 - view.y * whole };
  }

  /** The empty grid, kept until the size, the part that is shown or the theme changes. */
  function ground(map, theme) {
    const { size, side, cell, left, top } = map;
    const key = [size, side, ...Object.values(map.view), theme.card, window.devicePixelRatio].join();
    if (paper && paper.key === key) return paper.canvas;
    const canvas = document.createElement("canvas");
    const pen = tw.fit(canvas, size, size);
    pen.fillStyle = theme.card;
    pen.fillRect(0, 0, size, size);
    pen.fillStyle = theme.goalzone;
    pen.fillRect(left + (side - 1) * cell, top, cell, side * cell);
    pen.strokeStyle = theme.line;
    pen.lineWidth = cell < 6 ? 0.3 : 0.7;
    pen.beginPath();
    const every = cell < 5 ? 8 : 1;
    for (let line = every; line < side; line += every) {
      pen.moveTo(left + line * cell, 0);
      pen.lineTo(left + line * cell, size);
      pen.moveTo(0, top + line * cell);
      pen.lineTo(size, top + line * cell);
    }
    pen.stroke();
    paper = { key, canvas };
    return canvas;
  }

  function write(pen, text, x, y, size, colour, weight) {
    pen.font = `${weight || 600} ${size}px system-ui, sans-serif`;
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  const blockOf = (goal) => Number(goal.split("_")[1]);

  /** The force on each block that is tried in the step: [how many push at once, how many it takes, whether it moves]. */
  function forces({ joints }) {
    const found = new Map();
    for (const joint of joints) found.set(blockOf(joint.goal), { have: joint.have.temporal ?? joint.who.length, need: joint.need.temporal ?? joint.k, moves: joint.success, who: joint.who });
    return found;
  }

  function drawBlocks(pen, map, moment, episode, pushed) {
    const { frame, next, share, theme } = moment;
    const { cell } = map;
    const weights = episode.static.weights;
    frame.blocks.forEach((place, block) => {
      if (!place) return;
      const colour = episode.colour(`block_${block}`);
      const to = next.blocks[block];
      const side = weights[block] * cell;
      const shift = to || [place[0], place[1] + 1]; // delivered: it slides off to the right
      const x = map.left + tw.between(place[1], shift[1], tw.ease(share)) * cell;
      const y = map.top + tw.between(place[0], shift[0], tw.ease(share)) * cell;
      const rim = tw.clamp(cell * 0.1, 1, 3);
      pen.globalAlpha = to ? 1 : 1 - share;
      pen.beginPath();
      pen.roundRect(x + rim, y + rim, side - 2 * rim, side - 2 * rim, tw.clamp(cell * 0.18, 0, 6));
      pen.fillStyle = tw.mix(theme.card, colour, 0.22);
      pen.fill();
      pen.lineWidth = rim * 1.4;
      pen.strokeStyle = colour;
      pen.stroke();
      const middle = side / 2;
      const force = side >= FITS && pushed.has(block);
      const big = side >= ROOMY && !force;
      const label = side >= 26 ? `B${block}` : String(block);
      const up = force ? side * 0.16 : big ? side * 0.08 : 0;
      if (side >= 13) write(pen, label, x + middle, y + middle - up, tw.clamp(side * (force ? 0.28 : 0.34), 8, 22), theme.ink);
      if (big) write(pen, `weight ${weights[block]}`, x + middle, y + middle + tw.clamp(side * 0.22, 10, 20), tw.clamp(side * 0.16, 10, 13), theme.soft, 400);
      pen.globalAlpha = 1;
    });
  }

  /** The force on each block: in boxes and as "2 of 5", and how much is missing; in words where there is room for them. */
  function drawForces(pen, map, moment, episode, pushed) {
    const { theme } = moment;
    const { cell, size } = map;
    for (const [block, { have, need, moves }] of pushed) {
      const place = moment.frame.blocks[block];
      if (!place || cell < 5) continue;
      const side = episode.static.weights[block] * cell;
      const colour = moves ? theme.good : theme.fail;
      const isIn = side >= FITS;
      const font = isIn ? tw.clamp(side * 0.15, 9, 13) : tw.clamp(cell * 0.55, 9, 12);
      const lack = need - have;
      const short = `${have}/${need}`;
      const long = lack > 0 ? `${have} of ${need}, ${lack} missing` : moves ? `${have} of ${need}` : `${have} of ${need}, held up`;
      pen.font = `700 ${font}px system-ui, sans-serif`;
      const words = isIn && pen.measureText(long).width < side - font ? long : short;
      const wide = Math.max(pen.measureText(words).width + font, isIn ? 0 : 2 * font);
      const x = tw.clamp(map.left + place[1] * cell + (isIn ? side / 2 : side), wide / 2 + 2, size - wide / 2 - 2);
      const y = tw.clamp(map.top + place[0] * cell + (isIn ? side * 0.6 : 0), font, size - font);
      pen.beginPath();
      pen.roundRect(x - wide / 2, y - font * 0.8, wide, font * 1.6, font * 0.8);
      pen.fillStyle = colour;
      pen.fill();
      write(pen, words, x, y + 0.5, font, tw.inkOn(colour), 700);
      if (isIn) drawBoxes(pen, x, y + font * 1.15, Math.min(side - 12, 13 * need), tw.clamp(side * 0.1, 5, 9), have, need, colour, theme);
    }
  }

  function drawBoxes(pen, x, y, wide, high, have, need, colour, theme) {
    const left = x - wide / 2;
    pen.lineWidth = 1.2;
    pen.strokeStyle = colour;
    pen.fillStyle = theme.card;
    pen.fillRect(left, y, wide, high);
    pen.fillStyle = colour;
    if (need > MOST_BOXES || wide / need < 4) {
      pen.fillRect(left, y, (wide * Math.min(have, need)) / need, high);
      pen.strokeRect(left, y, wide, high);
      return;
    }
    const each = wide / need;
    for (let box = 0; box < need; box++) {
      if (box < have) pen.fillRect(left + box * each + 1, y, each - 2, high);
      else pen.setLineDash([2, 1.5]);
      pen.strokeRect(left + box * each + 1, y, each - 2, high);
    }
    pen.setLineDash([]);
  }

  /** The ways of the last steps; those of a colour in one go. */
  function drawTrails(pen, map, moment, episode, colours) {
    const first = Math.max(0, moment.t - TRAIL);
    if (map.cell < 6 || first === moment.t) return;
    pen.globalAlpha = 0.28;
    pen.lineWidth = map.cell * 0.14;
    pen.lineJoin = pen.lineCap = "round";
    colours.forEach((colour, place) => {
      pen.beginPath();
      for (let t = first; t <= moment.t; t++) {
        const [row, col] = episode.frame(t).agents[place];
        pen.lineTo(map.left + (col + 0.5) * map.cell, map.top + (row + 0.5) * map.cell);
      }
      pen.strokeStyle = colour;
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  /** An arrow ahead of one who pushes; a bar before one who is held up; dashes round one who waits for others. */
  function drawEffort(pen, cell, spot, pace, theme) {
    if (!pace || cell < 6) return;
    const { radius } = spot;
    if (pace.ready) {
      pen.setLineDash([2.5, 2.5]);
      pen.beginPath();
      pen.arc(spot.x, spot.y, radius + 2, 0, 2 * Math.PI);
      pen.strokeStyle = theme.ready;
      pen.lineWidth = 1.6;
      pen.stroke();
      pen.setLineDash([]);
    }
    const way = DIRECTION[pace.primitive];
    if (!way || (pace.moved && !pace.effect)) return;
    const [rows, cols] = way;
    const wide = cell * 0.22;
    pen.strokeStyle = pen.fillStyle = pace.effect ? theme.ink : theme.fail;
    pen.lineWidth = tw.clamp(cell * 0.11, 1.5, 3);
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    if (pace.effect) {
      const [from, to] = [radius + cell * 0.02, radius + cell * 0.5];
      const tip = [spot.x + cols * to, spot.y + rows * to];
      pen.moveTo(spot.x + cols * from, spot.y + rows * from);
      pen.lineTo(...tip);
      pen.moveTo(tip[0] + rows * wide - cols * wide, tip[1] + cols * wide - rows * wide);
      pen.lineTo(...tip);
      pen.lineTo(tip[0] - rows * wide - cols * wide, tip[1] - cols * wide - rows * wide);
    } else {
      const ahead = radius + cell * 0.12;
      const [x, y] = [spot.x + cols * ahead, spot.y + rows * ahead];
      pen.moveTo(x + rows * wide, y + cols * wide);
      pen.lineTo(x - rows * wide, y - cols * wide);
    }
    pen.stroke();
  }

  function drawAgents(pen, map, agents, moment, colours) {
    const { cell } = map;
    const { theme } = moment;
    agents.forEach((spot, place) => {
      if (moment.team[place].gone) return;
      const isChosen = place === moment.chosen;
      pen.beginPath();
      pen.arc(spot.x, spot.y, spot.radius, 0, 2 * Math.PI);
      pen.fillStyle = colours[place];
      pen.fill();
      pen.lineWidth = isChosen ? 3 : 1;
      pen.strokeStyle = isChosen ? theme.ink : theme.card;
      pen.stroke();
      if (cell >= 11) write(pen, String(place), spot.x, spot.y + 0.5, cell * (place > 99 ? 0.3 : place > 9 ? 0.4 : 0.48), tw.inkOn(colours[place]), 700);
      drawEffort(pen, cell, spot, moment.team[place].pace, theme);
    });
  }

  function keyOf(moment, episode) {
    const { theme, frame } = moment;
    const { weights } = episode.static;
    const idle = { x: 9, y: 9, radius: 5 };
    const disc = (colour, pace) => (pen) => {
      const spot = pace ? { ...idle, x: pace.primitive ? 6 : 9 } : idle;
      pen.beginPath();
      pen.arc(spot.x, spot.y, spot.radius, 0, 2 * Math.PI);
      pen.fillStyle = colour;
      pen.fill();
      if (pace) drawEffort(pen, 14, spot, pace, theme);
    };
    const square = (colour) => (pen, size) => {
      pen.beginPath();
      pen.roundRect(2, 2, size - 4, size - 4, 3);
      pen.fillStyle = tw.mix(theme.card, colour, 0.22);
      pen.fill();
      pen.lineWidth = 2;
      pen.strokeStyle = colour;
      pen.stroke();
    };
    const boxes = (have, colour) => (pen, size) => drawBoxes(pen, size / 2, size / 2 - 3, size - 2, 6, have, 2, colour, theme);
    const left = frame.blocks.flatMap((place, block) => (place ? [block] : []));
    const rows = [{ head: `${left.length} of ${tw.plural(weights.filter(Boolean).length, "block")} left, as wide as heavy` }];
    for (const block of left.slice(0, 10)) rows.push({ samples: [square(episode.colour(`block_${block}`))], words: `B${block}: weight ${weights[block]}` });
    if (left.length > 10) rows.push({ words: `and ${left.length - 10} more` });
    rows.push({ head: "map" });
    rows.push({ samples: [theme.goalzone], words: "blocks go here", soft: true });
    rows.push({ samples: [disc(theme.idle)], words: "agent, in the colour of its block", soft: true });
    rows.push({ samples: [disc(theme.idle, { primitive: "RIGHT", effect: true })], words: "pushes", soft: true });
    rows.push({ samples: [disc(theme.idle, { primitive: "RIGHT" })], words: "held up", soft: true });
    rows.push({ samples: [disc(theme.idle, { ready: "x" })], words: "in place, waits for others", soft: true });
    if (episode.joints.length) {
      rows.push({ samples: [boxes(2, theme.good)], words: "force of a push that moves it", soft: true });
      rows.push({ samples: [boxes(1, theme.fail)], words: "empty box: a missing agent", soft: true });
    }
    return rows;
  }

  tw.drawers.cube = {
    zooms: true,
    key: keyOf,
    forces, // for tests
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const map = plan(size, episode, moment.view);
      const { cell } = map;
      const { theme } = moment;
      pen.drawImage(ground(map, theme), 0, 0, size, size);
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      const colours = moment.team.map((agent) => (agent.aim ? episode.colour(agent.aim) : theme.idle));
      if (moment.team.length <= 64) drawTrails(pen, map, moment, episode, colours);
      const pushed = forces(moment);
      drawBlocks(pen, map, moment, episode, pushed);
      const part = tw.ease(moment.share);
      const radius = Math.max(1.6, cell * 0.38);
      const agents = moment.frame.agents.map((from, place) => {
        const to = moment.next.agents[place];
        return { x: map.left + (tw.between(from[1], to[1], part) + 0.5) * cell, y: map.top + (tw.between(from[0], to[0], part) + 0.5) * cell, radius };
      });
      drawAgents(pen, map, agents, moment, colours);
      drawForces(pen, map, moment, episode, pushed);
      return { agents };
    },
    /** What is under the pointer: agents, and the block with the force on it. */
    label(moment, episode, x, y, size) {
      const map = plan(size, episode, moment.view);
      const [row, column] = [Math.floor((y - map.top) / map.cell), Math.floor((x - map.left) / map.cell)];
      if (row < 0 || column < 0 || row >= map.side || column >= map.side) return [];
      const pushed = forces(moment);
      const who = moment.frame.agents.flatMap(([down, right], place) => (down === row && right === column && !moment.team[place].gone ? [`${tw.say(episode.team[place].name)}${moment.team[place].aim ? `, bound to ${tw.say(moment.team[place].aim)}` : ""}`] : []));
      const what = moment.frame.blocks.flatMap((place, block) => {
        const weight = episode.static.weights[block];
        if (!place || row < place[0] || column < place[1] || row >= place[0] + weight || column >= place[1] + weight) return [];
        const force = pushed.get(block);
        const told = force ? [`force ${force.have} of ${force.need}${force.have < force.need ? `, ${force.need - force.have} missing` : force.moves ? ", it moves" : ", held up"}: ${force.who.map(tw.say).join(", ")}`] : [];
        return [`block ${block}, weight ${weight}`, ...told];
      });
      return [...who, ...what, ...(column === map.side - 1 ? ["blocks go here"] : []), `(${row}, ${column})`];
    },
    /** The picture in words. */
    words(moment, episode) {
      const left = moment.frame.blocks.filter(Boolean).length;
      const side = episode.static.grid_size;
      return `Grid of ${side} by ${side} cells at step ${moment.t}: ${tw.plural(moment.frame.agents.length, "agent")}, ${tw.plural(left, "block")} left.`;
    },
  };
})(window.teamworld);
