"use strict";
// Curves over the steps below the picture: the score, and what the world's drawer counts. A click goes to a step.
(function (tw) {
  const HIGH = 74;
  const [LEFT, RIGHT, TOP, BOTTOM] = [8, 8, 16, 6];

  const plain = (value) => (Math.round(value * 100) / 100).toLocaleString("en");

  class Curves {
    constructor(episode, drawer, jump) {
      this.episode = episode;
      const own = drawer?.curves?.(episode) ?? [];
      const score = episode.reward?.length ? [{ name: "score", values: episode.reward, colour: "ink" }] : [];
      this.length = episode.steps; // of the axis: beside a longer episode it is that one's
      this.rows = [];
      this.box = tw.byId("curves");
      this.canvas = tw.byId("curve");
      this.add([...own, ...score]);
      this.canvas.addEventListener("click", (event) => jump(Math.round(((event.offsetX - LEFT) / (this.width - LEFT - RIGHT)) * this.length)));
    }

    /** Add curves that have a value for each moment. */
    add(rows) {
      const whole = rows.filter(({ values }) => values.length === this.episode.steps + 1);
      this.rows.push(...whole.map((row) => ({ ...row, low: Math.min(0, ...row.values), high: Math.max(0, ...row.values) })));
      this.box.hidden = !this.rows.length || !this.episode.steps;
      this.canvas.setAttribute("aria-label", `Curves over the steps: ${this.rows.map((row) => row.name).join(", ")}`);
      this.paper = null;
    }

    x(step) {
      return LEFT + (step / this.length) * (this.width - LEFT - RIGHT);
    }

    y({ low, high }, value) {
      return HIGH - BOTTOM - 3 - ((value - low) / (high - low || 1)) * (HIGH - TOP - BOTTOM - 6);
    }

    /** The curves themselves, kept until the width or the theme changes. */
    lines(theme) {
      const key = [this.width, this.length, theme.ink, window.devicePixelRatio].join();
      if (this.paper?.key === key) return this.paper.canvas;
      const canvas = document.createElement("canvas");
      const pen = tw.fit(canvas, this.width, HIGH);
      pen.strokeStyle = theme.line;
      pen.strokeRect(LEFT + 0.5, TOP + 0.5, this.width - LEFT - RIGHT - 1, HIGH - TOP - BOTTOM - 1);
      pen.lineWidth = 1.6;
      for (const row of this.rows) {
        pen.strokeStyle = theme[row.colour] ?? row.colour;
        pen.beginPath();
        row.values.forEach((value, step) => pen.lineTo(this.x(step), this.y(row, value)));
        pen.stroke();
      }
      this.paper = { key, canvas };
      return canvas;
    }

    draw(t, theme) {
      if (this.box.hidden) return;
      this.width = this.box.clientWidth;
      const pen = tw.fit(this.canvas, this.width, HIGH);
      pen.clearRect(0, 0, this.width, HIGH);
      pen.drawImage(this.lines(theme), 0, 0, this.width, HIGH);
      pen.font = "11px system-ui, sans-serif";
      let at = LEFT;
      for (const row of this.rows) {
        pen.fillStyle = theme[row.colour] ?? row.colour;
        pen.beginPath();
        pen.arc(this.x(t), this.y(row, row.values[t]), 3, 0, 2 * Math.PI);
        pen.fill();
        const words = `${row.name} ${plain(row.values[t])}  (${plain(row.low)} to ${plain(row.high)})`;
        pen.fillText(words, at, 11);
        at += pen.measureText(words).width + 22;
      }
      pen.fillStyle = theme.ink;
      pen.fillRect(this.x(t) - 0.5, TOP, 1, HIGH - TOP - BOTTOM);
    }
  }

  tw.Curves = Curves;
})(window.teamworld);
