"use strict";
// The picture of the world at a moment, between two frames while it plays.
(function (tw) {
  class Stage {
    constructor(canvas, episode) {
      this.canvas = canvas;
      this.episode = episode;
      this.drawer = Object.hasOwn(tw.drawers, episode.world) ? tw.drawers[episode.world] : null;
      this.size = 0;
      this.drawn = null;
    }

    /** Fill the box that the page has for it; false if nothing changed. */
    resize() {
      const box = this.canvas.parentElement;
      const size = Math.floor(Math.min(box.clientWidth, box.clientHeight || box.clientWidth));
      const ratio = window.devicePixelRatio || 1;
      if (size <= 0 || (size === this.size && ratio === this.ratio)) return false;
      this.size = size;
      this.ratio = ratio;
      return true;
    }

    /** What a drawer is told about position p, a moment and a share of the step after it. */
    moment(p, theme, chosen) {
      const { episode } = this;
      const t = Math.min(Math.floor(p), episode.steps);
      return {
        t,
        share: p - t,
        theme,
        chosen,
        frame: episode.frame(t),
        next: episode.frame(t + 1),
        joints: t < episode.steps ? episode.jointsAt(t) : [],
        team: episode.team.map((lane) => ({
          aim: lane.aim(t),
          pace: t < episode.steps ? lane.pace(t) : null,
          gone: lane.gone !== undefined && t >= lane.gone,
        })),
      };
    }

    draw(p, theme, chosen) {
      if (!this.drawer || this.size <= 0) return;
      const pen = tw.fit(this.canvas, this.size, this.size);
      const moment = this.moment(p, theme, chosen);
      this.drawn = this.drawer.draw(pen, this.size, moment, this.episode);
    }

    /** Place in the team of the agent at a point of the canvas, null if there is none. */
    hit(x, y) {
      if (!this.drawn) return null;
      let best = null;
      for (const [place, spot] of this.drawn.agents.entries()) {
        const far = Math.hypot(spot.x - x, spot.y - y);
        if (far <= Math.max(spot.radius, 9) && (best === null || far < best.far)) best = { place, far };
      }
      return best && best.place;
    }
  }

  tw.Stage = Stage;
})(window.teamworld);
