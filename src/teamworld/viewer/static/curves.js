"use strict";
// Curves over the steps below the picture: the score, and what the world's drawer counts. A click goes to a step.
(function (tw) {
  const HIGH = 74;
  const [LEFT, RIGHT, TOP, BOTTOM] = [8, 8, 16, 6];

  class Curves {
    constructor(episode, drawer, jump) {
      this.episode = episode;
      const own = drawer?.curves?.(episode) ?? [];
      const score = episode.reward?.length ? [{ name: "score", values: episode.reward, colour: "ink" }] : [];
      this.rows = [...own, ...score].filter(({ values }) => values.length === episode.steps + 1);
      this.box = tw.byId("curves");
      this.canvas = tw.byId("curve");
      this.box.hidden = !this.rows.length || !episode.steps;
      this.canvas.addEventListener("click", (event) => jump(Math.round(((event.offsetX - LEFT) / this.inner()) * episode.steps)));
      this.canvas.setAttribute("aria-label", `Curves over the steps: ${this.rows.map((row) => row.name).join(", ")}`);
    }

    inner() {
      return this.box.clientWidth - LEFT - RIGHT;
    }

    draw(t, theme) {
      if (this.box.hidden) return;
      const { steps } = this.episode;
      const wide = this.inner();
      const pen = tw.fit(this.canvas, this.box.clientWidth, HIGH);
      pen.clearRect(0, 0, this.box.clientWidth, HIGH);
      const x = (step) => LEFT + (step / steps) * wide;
      pen.strokeStyle = theme.line;
      pen.lineWidth = 1;
      pen.strokeRect(LEFT + 0.5, TOP + 0.5, wide - 1, HIGH - TOP - BOTTOM - 1);
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "alphabetic";
      pen.textAlign = "left";
      let at = LEFT;
      for (const { name, values, colour } of this.rows) {
        const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
        const y = (value) => HIGH - BOTTOM - 3 - ((value - low) / (high - low || 1)) * (HIGH - TOP - BOTTOM - 6);
        pen.strokeStyle = pen.fillStyle = theme[colour] ?? colour;
        pen.beginPath();
        values.forEach((value, step) => pen.lineTo(x(step), y(value)));
        pen.lineWidth = 1.6;
        pen.stroke();
        pen.beginPath();
        pen.arc(x(t), y(values[t]), 3, 0, 2 * Math.PI);
        pen.fill();
        const words = `${name} ${Math.round(values[t] * 100) / 100}  (${Math.round(low)} to ${Math.round(high)})`;
        pen.fillText(words, at, 11);
        at += pen.measureText(words).width + 22;
      }
      pen.fillStyle = theme.ink;
      pen.fillRect(x(t) - 0.5, TOP, 1, HIGH - TOP - BOTTOM);
    }
  }

  tw.Curves = Curves;
})(window.teamworld);
