"use strict";
// Two episodes of one instance, locked in time: two pages as frames, which ask this one for every move, and what differs.
(function (tw) {
  const STEPS_PER_SECOND = 4;
  const ROW = 11; // pixels of a row of the strip
  const [LEFT, RIGHT] = [92, 8];

  class Pair {
    constructor({ pages, names, differences }) {
      this.unlike = { actions: [], rows: [], ...differences };
      this.names = names;
      this.position = 0;
      this.playing = false;
      this.players = [];
      this.busy = false;
      this.frames = [0, 1].map((side) => {
        const box = tw.byId(`side${side}`);
        box.querySelector("h2").textContent = names[side];
        const frame = box.querySelector("iframe");
        frame.title = names[side];
        frame.srcdoc = pages[side];
        return frame;
      });
      Promise.all(this.frames.map((frame) => new Promise((done) => frame.addEventListener("load", done, { once: true })))).then(() => this.begin());
    }

    begin() {
      this.players = this.frames.map((frame) => frame.contentWindow.teamworld.player);
      this.steps = Math.max(...this.players.map((player) => player.episode.steps));
      for (const [side, player] of this.players.entries()) {
        player.follow(this);
        const facts = [...this.frames[side].contentDocument.querySelectorAll("#facts > div")].map((part) => [...part.children].map((child) => child.textContent));
        tw.byId(`side${side}`).querySelector(".facts").textContent = facts.filter(([name]) => !["method", "run"].includes(name)).map((part) => part.join(" ")).join(" · ");
      }
      this.kinds = ["actions", "commitments", "plans", "messages"];
      const of = (kind) => [...new Set(this.unlike.rows.filter((row) => row.kind === kind).map((row) => row.step))];
      this.marks = [this.unlike.actions, of("commitment"), of("plan"), of("message")];
      this.places = [...new Set(this.unlike.rows.map((row) => row.step))];
      this.controls();
      const found = /^#t=(\d{1,9})$/.exec(location.hash);
      this.go(found ? Number(found[1]) : 0);
      tw.pair = this;
    }

    get step() {
      return Math.floor(this.position);
    }

    // ---- what the two pages ask for

    go(step) {
      this.playing = false;
      this.position = tw.clamp(Math.round(step), 0, this.steps);
      this.render();
      clearTimeout(this.writing);
      this.writing = setTimeout(() => history.replaceState(null, "", `#t=${this.step}`), 200);
    }

    play() {
      if (this.position >= this.steps) this.position = 0;
      this.playing = true;
      this.before = null;
      requestAnimationFrame((now) => this.tick(now));
    }

    pause() {
      this.playing = false;
    }

    choose(from, place) {
      this.both(from, (player) => player.choose(place));
    }

    show(id) {
      this.both(null, (_, frame) => {
        const tab = frame.contentDocument.getElementById(id);
        if (tab?.getAttribute("aria-selected") === "false") tab.click();
      });
    }

    scroll(top) {
      this.both(null, (_, { contentWindow }) => contentWindow.scrollY !== top && contentWindow.scrollTo(0, top));
    }

    /** Do the same on both sides, but for one; what that leads to on a side does not come back here. */
    both(from, act) {
      if (this.busy) return;
      this.busy = true;
      for (const [side, player] of this.players.entries()) if (player !== from) act(player, this.frames[side]);
      this.busy = false;
    }

    // ---- time

    tick(now) {
      if (!this.playing) return this.render();
      const passed = this.before === null ? 0 : Math.min(now - this.before, 250);
      this.before = now;
      this.position = Math.min(this.steps, this.position + (passed / 1000) * STEPS_PER_SECOND);
      if (this.position >= this.steps) this.playing = false;
      this.render();
      return this.playing && requestAnimationFrame((next) => this.tick(next));
    }

    render() {
      for (const player of this.players) player.showAt(this.position);
      tw.byId("play").textContent = this.playing ? "pause" : "play";
      if (this.shown === this.step) return;
      this.shown = this.step;
      tw.byId("scrub").value = String(this.step);
      tw.byId("step").textContent = `step ${this.step} / ${this.steps}`;
      this.drawStrip();
      this.writeRows();
    }

    // ---- differences

    /** Which steps differ in what, with the first of them marked. */
    drawStrip() {
      const canvas = tw.byId("strip");
      const width = Math.max(LEFT + 80, canvas.parentElement.clientWidth - 24);
      const high = this.marks.length * ROW + 6;
      const pen = tw.fit(canvas, width, high);
      const theme = tw.theme();
      const x = (step) => LEFT + (step / Math.max(1, this.steps)) * (width - LEFT - RIGHT);
      this.stepAt = (at) => ((at - LEFT) / (width - LEFT - RIGHT)) * this.steps;
      pen.clearRect(0, 0, width, high);
      pen.font = "10.5px system-ui, sans-serif";
      pen.textBaseline = "middle";
      for (const [row, steps] of this.marks.entries()) {
        const top = 3 + row * ROW;
        pen.fillStyle = theme.soft;
        pen.fillText(this.kinds[row], 0, top + ROW / 2);
        pen.fillStyle = theme.faint;
        pen.fillRect(LEFT, top + 2, width - LEFT - RIGHT, ROW - 4);
        pen.fillStyle = row ? theme.ready : theme.move;
        for (const step of steps) pen.fillRect(x(step), top + 2, Math.max(1.5, x(1) - x(0) - 0.5), ROW - 4);
      }
      const { first } = this.unlike;
      if (first !== undefined) {
        pen.fillStyle = theme.fail;
        pen.fillRect(x(first) - 1, 0, 2, high);
      }
      pen.fillStyle = theme.ink;
      pen.fillRect(x(this.position) - 1, 0, 2, high);
      canvas.setAttribute("aria-label", this.kinds.map((kind, row) => `${kind} differ in ${tw.plural(this.marks[row].length, "step")}`).join(", "));
    }

    writeRows() {
      const here = this.unlike.rows.filter((row) => row.step === this.step);
      const cell = (texts = []) => tw.el("td", { class: texts.length ? null : "none" }, texts.length ? texts.map((text) => tw.el("p", null, tw.say(text))) : "nothing");
      const rows = here.map((row) => tw.el("tr", null, tw.el("th", { scope: "row" }, `${tw.say(row.agent)}: ${row.kind}`), cell(row.first), cell(row.second)));
      tw.byId("rows").replaceChildren(...(rows.length ? [tw.el("table", null, tw.el("tbody", null, rows))] : []));
      tw.byId("count").textContent = here.length ? `${tw.plural(here.length, "difference")} in this step` : "commitments, plans and messages of this step are the same";
    }

    move(way) {
      const { places, step } = this;
      const found = way > 0 ? places.find((place) => place > step) : places.findLast((place) => place < step);
      if (found !== undefined) this.go(found);
    }

    controls() {
      const { first } = this.unlike;
      tw.byId("first").textContent = first === undefined ? "The two episodes are the same" : `They first differ in step ${first}`;
      tw.byId("tofirst").hidden = first === undefined;
      const acts = {
        tofirst: () => this.go(first),
        before: () => this.move(-1),
        after: () => this.move(1),
        back: () => this.go(Math.ceil(this.position) - 1),
        next: () => this.go(this.step + 1),
        play: () => (this.playing ? this.pause() : this.play()),
        theme: () => this.recolour(),
      };
      for (const [id, act] of Object.entries(acts)) tw.byId(id).addEventListener("click", act);
      const scrub = tw.byId("scrub");
      scrub.max = String(this.steps);
      scrub.addEventListener("input", () => this.go(Number(scrub.value)));
      tw.byId("strip").addEventListener("click", (event) => this.go(this.stepAt(event.offsetX)));
      const listen = (page) => page.addEventListener("keydown", (event) => {
        const act = { n: () => this.move(1), p: () => this.move(-1) }[event.key];
        if (act && !event.ctrlKey && !event.metaKey && !event.altKey) act();
      });
      [window, ...this.frames.map((frame) => frame.contentWindow)].forEach(listen);
      addEventListener("keydown", (event) => this.key(event));
      const redraw = () => {
        this.shown = -1;
        this.render();
      };
      addEventListener("resize", redraw);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const far = event.shiftKey ? 10 : 1;
      const acts = { ArrowLeft: () => this.go(Math.ceil(this.position) - far), ArrowRight: () => this.go(this.step + far), Home: () => this.go(0), End: () => this.go(this.steps), " ": () => (this.playing ? this.pause() : this.play()) };
      if (!Object.hasOwn(acts, event.key) || (event.key === " " && event.target instanceof Element && event.target.matches("button"))) return;
      event.preventDefault();
      acts[event.key]();
    }

    recolour() {
      const root = document.documentElement;
      const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
      root.dataset.theme = now === "dark" ? "light" : "dark";
      for (const frame of this.frames) frame.contentDocument.getElementById("theme").click();
      this.shown = -1;
      this.render();
    }
  }

  tw.unpack(tw.byId("data")).then((data) => new Pair(data), (error) => {
    tw.byId("first").textContent = `The episodes cannot be unpacked in this browser (${error.message}); newer ones can.`;
  });
})(window.teamworld);
