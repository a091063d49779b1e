"use strict";
// Wildfire: the land in colours, what burns from light to dark, agents told apart by their shapes, civilians as crosses.
// An agent has the colour of the goal that it works on. Data and colours are those of the world's draw.py.
(function (tw) {
  const COLOURS = [
    [255, 255, 255],
    [188, 205, 220], [150, 188, 204], [110, 158, 180], [70, 122, 150], // wet ground, 0 to 3 trees
    [238, 233, 219], [204, 221, 184], [146, 185, 136], [88, 139, 94], // dry ground
    [255, 221, 51], [232, 84, 16], [124, 64, 86], [46, 42, 42], // ignited, on fire, smouldering, burnt out
    [0, 92, 175], [177, 96, 160], [255, 255, 255], // water, building
  ];
  const NAMES = { 9: "ignited", 10: "on fire" };
  const CIVILIAN = "#56b4e9";
  const CARRIED = 1;
  const DEAD = 3;
  const REACH = { firefighter: 10, bulldozer: 10, drone: 25, helicopter: 30 };
  const starts = new WeakMap();
  let land = null;

  const ease = (share) => share * share * (3 - 2 * share);
  const between = (one, other, share) => one + (other - one) * share;

  /** The codes of all cells at a moment, row by row. */
  function codes(frame, episode) {
    if (!starts.has(episode)) starts.set(episode, Uint8Array.from(episode.static.land.join(""), (digit) => parseInt(digit, 16)));
    const cells = starts.get(episode).slice();
    for (let k = 0; k < frame.land.length; k += 3) cells.fill(frame.land[k + 2], frame.land[k], frame.land[k] + frame.land[k + 1]);
    return cells;
  }

  /** The land, a pixel a cell, kept until another moment is drawn. */
  function ground(moment, episode) {
    if (land && land.frame === moment.frame) return land.canvas;
    const side = episode.static.size;
    const canvas = land?.canvas ?? document.createElement("canvas");
    canvas.width = canvas.height = side;
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(side, side);
    codes(moment.frame, episode).forEach((code, cell) => image.data.set([...COLOURS[code], 255], 4 * cell));
    pen.putImageData(image, 0, 0);
    land = { frame: moment.frame, canvas };
    return canvas;
  }

  function targets(pen, cell, episode) {
    pen.lineWidth = tw.clamp(cell * 0.12, 1, 2.5);
    pen.strokeStyle = "#000000";
    for (const [x, y] of episode.static.targets) pen.strokeRect(x * cell, y * cell, cell, cell);
    if (!episode.static.target) return;
    const [x, y] = episode.static.target.map((at) => (at + 0.5) * cell);
    const radius = Math.max(7, cell * 0.6);
    pen.beginPath();
    for (let point = 0; point < 10; point++) {
      const angle = (Math.PI * point) / 5 - Math.PI / 2;
      const far = point % 2 ? radius * 0.45 : radius;
      pen.lineTo(x + far * Math.cos(angle), y + far * Math.sin(angle));
    }
    pen.closePath();
    pen.fillStyle = "#ffffff";
    pen.fill();
    pen.stroke();
  }

  function civilians(pen, cell, moment) {
    const wide = Math.max(3, cell * 0.28);
    const { frame, next, share } = moment;
    frame.civilians.forEach(([x, y, state], place) => {
      if (state === CARRIED || state === DEAD) return;
      const to = next.civilians[place] ?? [x, y];
      const left = (between(x, to[0], ease(share)) + 0.5) * cell;
      const top = (between(y, to[1], ease(share)) + 0.5) * cell;
      for (const [colour, rim] of [["#101010", 1], [CIVILIAN, 0]]) {
        pen.fillStyle = colour;
        pen.fillRect(left - wide - rim, top - wide / 3 - rim, 2 * (wide + rim), 2 * (wide / 3 + rim));
        pen.fillRect(left - wide / 3 - rim, top - wide - rim, 2 * (wide / 3 + rim), 2 * (wide + rim));
      }
    });
  }

  /** The outline of an agent of a kind. */
  function outline(pen, kind, { x, y, radius }) {
    pen.beginPath();
    if (kind === "firefighter") pen.arc(x, y, radius, 0, 2 * Math.PI);
    else if (kind === "bulldozer") pen.rect(x - radius * 0.88, y - radius * 0.88, radius * 1.76, radius * 1.76);
    else {
      const points = kind === "drone" ? [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]] : [[0, -1.15], [1.15, 0.9], [-1.15, 0.9]];
      for (const [right, down] of points) pen.lineTo(x + right * radius, y + down * radius);
      pen.closePath();
    }
  }

  tw.drawers.wildfire = {
    /** Draw a moment; returns where the agents were drawn. */
    draw(pen, size, moment, episode) {
      const { static: fixed } = episode;
      const { frame, next, share, theme } = moment;
      const cell = size / fixed.size;
      pen.imageSmoothingEnabled = false;
      pen.drawImage(ground(moment, episode), 0, 0, size, size);
      targets(pen, cell, episode);
      civilians(pen, cell, moment);
      const radius = tw.clamp(cell * 0.42, moment.team.length > 64 ? 2.5 : 5.5, 14);
      const agents = frame.agents.map((from, place) => {
        if (!from) return { x: -99, y: -99, radius: 0 };
        const to = next.agents[place] ?? from;
        const [x, y] = [0, 1].map((axis) => (between(from[axis], to[axis], ease(share)) + 0.5) * cell);
        return { x, y, radius };
      });
      const chosen = agents[moment.chosen];
      if (chosen && chosen.radius) {
        const side = (REACH[fixed.kinds[moment.chosen]] * 2 + 1) * cell;
        pen.setLineDash([5, 4]);
        pen.lineWidth = 1.5;
        pen.strokeStyle = "#101010";
        pen.strokeRect(chosen.x - side / 2, chosen.y - side / 2, side, side);
        pen.setLineDash([]);
      }
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      agents.forEach((spot, place) => {
        if (!spot.radius || frame.aboard[place] !== null) return;
        const { aim } = moment.team[place];
        const colour = aim ? episode.colour(aim) : "#ffffff";
        outline(pen, fixed.kinds[place], spot);
        pen.fillStyle = colour;
        pen.fill();
        pen.lineWidth = place === moment.chosen ? 2.8 : 1.3;
        pen.strokeStyle = "#101010";
        pen.stroke();
        if (radius < 7 && place !== moment.chosen) return;
        pen.font = `700 ${Math.max(8, radius * 0.95)}px system-ui, sans-serif`;
        pen.fillStyle = tw.inkOn(colour);
        pen.fillText(String(place), spot.x, spot.y + 0.5);
      });
      pen.strokeStyle = theme.line;
      pen.lineWidth = 1;
      pen.strokeRect(0.5, 0.5, size - 1, size - 1);
      return { agents };
    },
    /** The picture in words. */
    words(moment, episode) {
      const cells = codes(moment.frame, episode);
      const count = Object.keys(NAMES).map((code) => `${cells.filter((one) => one === Number(code)).length} ${NAMES[code]}`);
      const alive = moment.frame.agents.filter(Boolean).length;
      const side = episode.static.size;
      return `Map of ${side} by ${side} cells at step ${moment.t}: ${tw.plural(alive, "agent")}, cells ${count.join(" and ")}.`;
    },
  };
})(window.teamworld);
