"use strict";
// CUBE: a grid of K x K cells, the goal column at the right, blocks as wide as they are heavy, agents.
// A block and the agents bound to it have the same colour.
(function (tw) {
  const DIRECTION = { UP: [-1, 0], DOWN: [1, 0], LEFT: [0, -1], RIGHT: [0, 1] };
  const TRAIL = 10;
  const ROOMY = 54; // pixels of a block that holds a second line of text
  const FITS = 30; // pixels of one that holds a label and a badge
  let paper = null;

  const ease = (share) => share * share * (3 - 2 * share);
  const between = (one, other, share) => one + (other - one) * share;

  /** The empty grid, kept until the size or the theme changes. */
  function ground(size, side, theme) {
    const ratio = window.devicePixelRatio || 1;
    const key = [size, side, theme.card, ratio].join();
    if (paper && paper.key === key) return paper.canvas;
    const canvas = document.createElement("canvas");
    const pen = tw.fit(canvas, size, size);
    const cell = size / side;
    pen.fillStyle = theme.card;
    pen.fillRect(0, 0, size, size);
    pen.fillStyle = theme.goalzone;
    pen.fillRect(size - cell, 0, cell, size);
    pen.strokeStyle = theme.line;
    pen.lineWidth = cell < 6 ? 0.3 : 0.7;
    pen.beginPath();
    const every = cell < 5 ? 8 : 1;
    for (let line = every; line < side; line += every) {
      pen.moveTo(line * cell, 0);
      pen.lineTo(line * cell, size);
      pen.moveTo(0, line * cell);
      pen.lineTo(size, line * cell);
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

  function drawBlocks(pen, cell, moment, episode) {
    const { frame, next, share, theme } = moment;
    const weights = episode.static.weights;
    frame.blocks.forEach((place, block) => {
      if (!place) return;
      const goal = `block_${block}`;
      const colour = episode.colour(goal);
      const to = next.blocks[block];
      const side = weights[block] * cell;
      const shift = to || [place[0], place[1] + 1]; // delivered: it slides off to the right
      const x = between(place[1], shift[1], ease(share)) * cell;
      const y = between(place[0], shift[0], ease(share)) * cell;
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
      const badge = side >= FITS && moment.joints.some((joint) => joint.goal === goal);
      const big = side >= ROOMY && !badge;
      const label = side >= 26 ? `B${block}` : String(block);
      const up = badge ? tw.clamp(side * 0.2, 8, 14) : big ? side * 0.08 : 0;
      if (side >= 13) write(pen, label, x + middle, y + middle - up, tw.clamp(side * (badge ? 0.28 : 0.34), 8, 22), theme.ink);
      if (big) write(pen, `weight ${weights[block]}`, x + middle, y + middle + tw.clamp(side * 0.22, 10, 20), tw.clamp(side * 0.16, 10, 12), theme.soft, 400);
      pen.globalAlpha = 1;
    });
  }

  /** How many push at once and how many it takes: on the block, under its name if that fits. */
  function drawBadges(pen, cell, size, moment, episode) {
    for (const joint of moment.joints) {
      const block = Number(joint.goal.split("_")[1]);
      const place = moment.frame.blocks[block];
      if (!place || cell < 6) continue;
      const text = `${joint.have.temporal ?? joint.who.length}/${joint.need.temporal ?? joint.k}`;
      const font = tw.clamp(cell * 0.55, 9, 12);
      pen.font = `700 ${font}px system-ui, sans-serif`;
      const width = pen.measureText(text).width + font;
      const side = episode.static.weights[block] * cell;
      const small = side < FITS;
      const below = small ? 0 : side / 2 + tw.clamp(side * 0.22, 7, 20);
      const x = tw.clamp(place[1] * cell + (small ? side : side / 2), width / 2 + 2, size - width / 2 - 2);
      const y = tw.clamp(place[0] * cell + below, font, size - font);
      pen.beginPath();
      pen.roundRect(x - width / 2, y - font * 0.8, width, font * 1.6, font * 0.8);
      const colour = joint.success ? moment.theme.good : moment.theme.fail;
      pen.fillStyle = colour;
      pen.fill();
      write(pen, text, x, y + 0.5, font, tw.inkOn(colour), 700);
    }
  }

  function drawTrail(pen, cell, place, moment, episode, colour) {
    const first = Math.max(0, moment.t - TRAIL);
    if (cell < 6 || first === moment.t) return;
    pen.beginPath();
    for (let t = first; t <= moment.t; t++) {
      const [row, col] = episode.frame(t).agents[place];
      pen.lineTo((col + 0.5) * cell, (row + 0.5) * cell);
    }
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.28;
    pen.lineWidth = cell * 0.14;
    pen.lineJoin = pen.lineCap = "round";
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** A chevron ahead of one who pushes; a bar before one who is held up; dashes round one who waits for others. */
  function drawEffort(pen, cell, spot, pace, theme) {
    if (!pace || cell < 6) return;
    const radius = spot.radius;
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
    const ahead = radius + cell * (pace.effect ? 0.18 : 0.12);
    const x = spot.x + cols * ahead;
    const y = spot.y + rows * ahead;
    const wide = cell * 0.22;
    const deep = cell * 0.14;
    pen.beginPath();
    if (pace.effect) {
      pen.moveTo(x + rows * wide - cols * deep, y + cols * wide - rows * deep);
      pen.lineTo(x, y);
      pen.lineTo(x - rows * wide - cols * deep, y - cols * wide - rows * deep);
    } else {
      pen.moveTo(x + rows * wide, y + cols * wide);
      pen.lineTo(x - rows * wide, y - cols * wide);
    }
    pen.strokeStyle = pace.effect ? theme.ink : theme.fail;
    pen.lineWidth = tw.clamp(cell * 0.11, 1.5, 3);
    pen.lineCap = pen.lineJoin = "round";
    pen.stroke();
  }

  tw.drawers.cube = {
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const side = episode.static.grid_size;
      const cell = size / side;
      const { theme, share } = moment;
      pen.drawImage(ground(size, side, theme), 0, 0, size, size);
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      const colours = moment.team.map((agent) => (agent.aim ? episode.colour(agent.aim) : theme.idle));
      if (moment.team.length <= 64) colours.forEach((colour, place) => drawTrail(pen, cell, place, moment, episode, colour));
      drawBlocks(pen, cell, moment, episode);
      const radius = Math.max(1.6, cell * 0.38);
      const agents = moment.frame.agents.map((from, place) => {
        const to = moment.next.agents[place];
        const part = ease(share);
        return { x: (between(from[1], to[1], part) + 0.5) * cell, y: (between(from[0], to[0], part) + 0.5) * cell, radius };
      });
      agents.forEach((spot, place) => {
        if (moment.team[place].gone) return;
        pen.beginPath();
        pen.arc(spot.x, spot.y, radius, 0, 2 * Math.PI);
        pen.fillStyle = colours[place];
        pen.fill();
        pen.lineWidth = place === moment.chosen ? 2.5 : 1;
        pen.strokeStyle = place === moment.chosen ? theme.ink : theme.card;
        pen.stroke();
        if (cell >= 11) write(pen, String(place), spot.x, spot.y + 0.5, cell * (place > 9 ? 0.4 : 0.46), tw.inkOn(colours[place]), 700);
        drawEffort(pen, cell, spot, moment.team[place].pace, theme);
      });
      drawBadges(pen, cell, size, moment, episode);
      return { agents };
    },
    /** The picture in words. */
    words(moment, episode) {
      const left = moment.frame.blocks.filter(Boolean).length;
      const side = episode.static.grid_size;
      return `Grid of ${side} by ${side} cells at step ${moment.t}: ${tw.plural(moment.frame.agents.length, "agent")}, ${tw.plural(left, "block")} left.`;
    },
  };
})(window.teamworld);
