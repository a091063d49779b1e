"use strict";
// The picture of the world at a moment, between two frames while it plays: its layers, its key, its zoom, and words on
// what is under the pointer. A drawer says what it has of these.
(function (tw) {
  const CLOSEST = 16;
  const MOST_ROWS = 300;

  /** Parts of a state as [name, value in JSON]: of each list or mapping in it every entry. */
  const rowsOf = (state) => Object.entries(state ?? {}).filter(([name]) => name !== "v").flatMap(([name, value]) =>
    value !== null && typeof value === "object"
      ? Object.entries(value).map(([key, part]) => [`${name} ${key}`, JSON.stringify(part)])
      : [[name, JSON.stringify(value)]]);

  class Stage {
    constructor(canvas, episode) {
      this.canvas = canvas;
      this.episode = episode;
      this.drawer = tw.drawerOf(episode);
      this.size = 0;
      this.drawn = null;
      this.view = { zoom: 1, x: 0.5, y: 0.5 }; // the middle of what is shown, as shares of the map
      this.layer = this.drawer?.layers?.(episode)[0]?.id ?? null;
      this.key = tw.byId("key");
      this.key.hidden = !this.drawer?.key;
      this.kept = new Map(); // rows of the key, by their words
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
        layer: this.layer,
        view: this.view,
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
      if (!this.drawer) this.writeState(Math.min(Math.floor(p), this.episode.steps));
      if (!this.drawer || this.size <= 0) return;
      const pen = tw.fit(this.canvas, this.size, this.size);
      this.shown = this.moment(p, theme, chosen);
      this.drawn = this.drawer.draw(pen, this.size, this.shown, this.episode);
    }

    /** Write what a world without a drawing records of a step: a row for each part, those that have changed marked. */
    writeState(t) {
      if (t === this.written) return;
      this.written = t;
      const before = new Map(rowsOf(this.episode.frame(Math.max(0, t - 1))));
      const rows = rowsOf(this.episode.frame(t)).slice(0, MOST_ROWS).map(([name, value]) =>
        tw.el("tr", { class: before.get(name) === value ? null : "changed" }, tw.el("th", { scope: "row" }, name), tw.el("td", null, value)));
      tw.byId("state").replaceChildren(...rows);
    }

    /** Write the key anew: rows of {head}, or {words, samples, soft}, whose samples are colours or drawn by a call. */
    writeKey() {
      if (this.key.hidden || !this.shown) return;
      const rows = this.drawer.key(this.shown, this.episode).map((row) => {
        if (!row.soft) return this.keyRow(row);
        if (!this.kept.has(row.words)) this.kept.set(row.words, this.keyRow(row)); // these explain and do not change
        return this.kept.get(row.words);
      });
      this.key.replaceChildren(...rows);
    }

    keyRow({ head, words, samples = [], soft }) {
      if (head) return tw.el("h2", null, head);
      const drawn = samples.map((sample) => {
        if (typeof sample === "string") return tw.el("i", { css: { background: sample } });
        const canvas = tw.el("canvas");
        sample(tw.fit(canvas, 18, 18), 18);
        return canvas;
      });
      return tw.el("p", { class: soft ? "soft" : null }, tw.el("span", { class: "samples" }, drawn), tw.el("span", null, words));
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

    /** Words on what is at a point of the canvas. */
    wordsAt(x, y) {
      return this.shown && this.drawer?.label ? this.drawer.label(this.shown, this.episode, x, y, this.size) : [];
    }

    /** Show more or less of the map; what is at a point of the canvas stays there. */
    zoomAt(factor, x, y) {
      const { view, size } = this;
      const zoom = tw.clamp(view.zoom * factor, 1, CLOSEST);
      const part = 1 / view.zoom - 1 / zoom;
      view.x += (x / size - 0.5) * part;
      view.y += (y / size - 0.5) * part;
      view.zoom = zoom;
      this.move(0, 0);
    }

    /** Move the map by pixels, as far as it goes. */
    move(right, down) {
      const { view, size } = this;
      const half = 0.5 / view.zoom;
      view.x = tw.clamp(view.x - right / size / view.zoom, half, 1 - half);
      view.y = tw.clamp(view.y - down / size / view.zoom, half, 1 - half);
    }

    /** Listen to the pointer; `changed` is called when the picture has to be drawn anew, `clicked` with a place or null. */
    listen(changed, clicked) {
      const { canvas } = this;
      let held = null;
      canvas.addEventListener("pointermove", (event) => {
        if (held && event.buttons && this.drawer?.zooms) {
          this.move(event.clientX - held.x, event.clientY - held.y);
          held.far += Math.hypot(event.clientX - held.x, event.clientY - held.y);
          Object.assign(held, { x: event.clientX, y: event.clientY });
          changed();
        }
        tw.showTip(event.buttons ? [] : this.wordsAt(event.offsetX, event.offsetY), event.clientX, event.clientY);
      });
      canvas.addEventListener("pointerdown", (event) => (held = { x: event.clientX, y: event.clientY, far: 0 }));
      canvas.addEventListener("pointerleave", () => tw.showTip([]));
      canvas.addEventListener("click", (event) => {
        if (!held || held.far < 5) clicked(this.hit(event.offsetX, event.offsetY));
      });
      this.chooseLayer(changed);
      if (!this.drawer?.zooms) return;
      tw.byId("closer").hidden = false;
      const zoom = (factor, x, y) => {
        this.zoomAt(factor, x, y);
        changed();
      };
      canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return; // the wheel alone moves the page
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
      }, { passive: false });
      for (const [id, factor] of [["near", 1.6], ["far", 1 / 1.6], ["whole", 0]]) {
        tw.byId(id).addEventListener("click", () => zoom(factor, this.size / 2, this.size / 2));
      }
    }

    chooseLayer(changed) {
      if (!this.drawer?.layers) return;
      const select = tw.byId("layer");
      this.writeLayers();
      select.addEventListener("change", () => {
        this.layer = select.value;
        changed();
      });
    }

    /** Write the layers that there are; those of what agents know come when that is unpacked. */
    writeLayers() {
      const layers = this.drawer?.layers?.(this.episode) ?? [];
      tw.byId("layers").hidden = layers.length < 2;
      tw.byId("note").textContent = this.drawer?.note?.(this.episode) ?? "";
      tw.byId("layer").replaceChildren(...layers.map(({ id, words }) => tw.el("option", { value: id, selected: id === this.layer }, words)));
    }
  }

  tw.Stage = Stage;
})(window.teamworld);
