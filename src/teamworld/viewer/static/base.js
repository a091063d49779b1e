"use strict";
// What every part needs: making elements, colours of the theme, words.
(function (tw) {
  // Okabe and Ito (2008), colour-blind safe; vermillion is kept for what failed.
  const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442"];

  /** Make an element. Texts become text nodes: nothing that was said or written is ever read as HTML. */
  tw.el = function (tag, options, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
      else if (name === "css") for (const [property, set] of Object.entries(value)) node.style.setProperty(property, set);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  };

  /** What draws the world of an episode; null if nothing does. */
  tw.drawerOf = (episode) => {
    const name = episode.static?.drawer ?? episode.world;
    return Object.hasOwn(tw.drawers, name) ? tw.drawers[name] : null;
  };

  tw.byId = (id) => document.getElementById(id);
  tw.clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  /** What something was worth, in words; empty where it was not measured. */
  tw.worthInWords = function (row) {
    if (!row) return "";
    const signed = (value, digits) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
    const words = Object.entries(row.values ?? {}).map(([name, [mean, low, high]]) => {
      const digits = name === "completion" ? 2 : 1;
      return `${name} ${signed(mean, digits)}${low === high ? "" : ` [${signed(low, digits)}, ${signed(high, digits)}]`}`;
    });
    return `worth: ${words.join(", ")}`;
  };

  tw.plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  /** Entities as people say them: "<block>(2)" becomes "block 2", "block_2" too. */
  tw.say = (text) => text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

  /** Steps of an interval that does not hold its end. */
  tw.steps = (start, end) => (end - start > 1 ? `steps ${start}–${end - 1}` : `step ${start}`);

  /** Place of the last row whose `key` is at most t, -1 if there is none; rows are ordered by it. */
  tw.lastAt = function (rows, t, key) {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle][key] <= t) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };

  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const mix = (one, other, share) =>
    "#" + channels(one).map((v, i) => Math.round(v + (channels(other)[i] - v) * share).toString(16).padStart(2, "0")).join("");
  tw.mix = mix;

  /** Black or white, whichever reads better on a colour (WCAG contrast). */
  tw.inkOn = function (hex) {
    const [r, g, b] = channels(hex).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#10151a" : "#ffffff";
  };

  /** Colour of the goal in a place of the list: the palette, then darker and lighter rounds of it. */
  tw.goalColour = function (place) {
    const base = PALETTE[place % PALETTE.length];
    const round = Math.floor(place / PALETTE.length) % 3;
    return round === 0 ? base : round === 1 ? mix(base, "#000000", 0.38) : mix(base, "#ffffff", 0.45);
  };

  /** Colours of the page as it looks now; read once per theme. */
  tw.theme = function () {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = ["page", "card", "ink", "soft", "faint", "line", "bar", "fail", "failbar", "good", "work", "move", "ready", "goalzone", "idle"];
    return Object.fromEntries(names.map((name) => [name, read(name)]));
  };

  /** Fit a canvas to its size on the page, sharp on every screen; returns its context, in CSS pixels. */
  tw.fit = function (canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const w = Math.max(1, Math.round(width * ratio));
    const h = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(w / width, 0, 0, h / height, 0, 0);
    return pen;
  };

  /** Show lines near a point of the window, the first one strong; hide what is shown if there are none. */
  tw.showTip = function (lines, x, y) {
    const tip = tw.byId("tip");
    tip.hidden = !lines.length;
    if (tip.hidden) return;
    const [head, ...rest] = lines;
    tip.replaceChildren(tw.el("strong", null, head), ...rest.map((line) => tw.el("div", null, line)));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${tw.clamp(x + 14, 4, window.innerWidth - width - 8)}px`;
    tip.style.top = `${y + 18 + height > window.innerHeight ? y - height - 12 : y + 18}px`;
  };

  tw.ease = (share) => share * share * (3 - 2 * share);
  tw.between = (one, other, share) => one + (other - one) * share;

  /** A small button that names a goal in its colour. */
  tw.goalChip = function (episode, goal) {
    const dot = tw.el("i", { css: { background: episode.colour(goal) } });
    return tw.el("span", { class: "chip" }, dot, tw.say(goal));
  };

  /** An agent's number on a disc. */
  tw.disc = function (episode, name, goal) {
    const place = episode.place.get(name);
    const node = tw.el("b", { class: "disc", title: name }, place === undefined ? name.slice(0, 1).toUpperCase() || "?" : String(place));
    if (goal) {
      const colour = episode.colour(goal);
      node.style.background = colour;
      node.style.color = tw.inkOn(colour);
    }
    return node;
  };

  tw.drawers = {};
})((window.teamworld = window.teamworld || {}));
