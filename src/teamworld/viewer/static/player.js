"use strict";
// Puts the parts together and moves through the episode.
(function (tw) {
  const SPEEDS = [0.5, 1, 2, 4, 8, 16];
  const STEPS_PER_SECOND = 4; // at speed 1
  const ENDS = { all_done: "all goals done", horizon: "step limit reached", budget: "budget spent", lost: "nobody left", quit: "the team quit", error: "an error" };

  class Player {
    constructor(episode) {
      this.episode = episode;
      this.position = 0;
      this.playing = false;
      this.speed = 1;
      this.chosen = null;
      this.shown = -1;
      const jump = (step) => this.go(step);
      const choose = (place) => this.choose(place);
      this.stage = new tw.Stage(tw.byId("stage"), episode);
      this.curves = new tw.Curves(episode, this.stage.drawer, jump);
      this.lanes = new tw.Lanes(episode, jump, choose, (row) => this.ask?.open(row));
      this.panels = new tw.Panels(episode, jump, choose, () => this.step);
      this.theme = tw.theme();
      this.controls();
      this.keys();
      this.looks();
      this.readFragment();
      this.resize();
    }

    /** Show questions and knowledge, which are unpacked when the page is there already. */
    takeRest() {
      const { episode } = this;
      const jump = (step) => this.go(step);
      this.ask = new tw.QuestionView(episode, jump);
      this.panels.takeQuestions(episode, jump, (row) => this.ask.open(row), this.step);
      this.panels.takeKnowledge(episode, (place) => this.choose(place), this.step);
      this.stage.writeLayers();
      this.curves.add(tw.costCurves(episode));
      this.resize();
    }

    /** The moment that is shown. */
    get step() {
      return Math.floor(this.position);
    }

    /** Show the episode beside another: the page that holds both leads, and this one asks it for every move. */
    follow(leader) {
      this.leader = leader;
      document.body.classList.add("beside");
      this.lanes.length = this.curves.length = leader.steps;
      for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => leader.show(tab.id));
      addEventListener("scroll", () => leader.scroll(scrollY));
      this.resize();
    }

    /** Show a position, as the page that leads has it. */
    showAt(position) {
      this.position = Math.min(position, this.episode.steps);
      this.want();
    }

    /** Go to a moment and stop there. */
    go(step) {
      if (this.leader) {
        this.leader.go(step);
        return;
      }
      this.pause();
      this.position = tw.clamp(Math.round(step), 0, this.episode.steps);
      this.want();
    }

    play() {
      if (this.leader) {
        this.leader.play();
        return;
      }
      if (this.position >= this.episode.steps) this.position = 0;
      this.playing = true;
      this.before = null;
      this.want();
    }

    pause() {
      this.leader?.pause();
      this.playing = false;
      this.want();
    }

    choose(place) {
      this.leader?.choose(this, place);
      this.chosen = place;
      this.lanes.setChosen(place);
      this.panels.team.setChosen(place);
      this.panels.knows?.setChosen(place);
      this.want();
    }

    // ---- drawing: at most once a frame of the screen, and only if something changed

    want() {
      if (!this.waiting) this.waiting = requestAnimationFrame((now) => this.tick(now));
    }

    tick(now) {
      this.waiting = 0;
      if (this.playing) {
        const passed = this.before === null ? 0 : Math.min(now - this.before, 250);
        this.before = now;
        this.position = Math.min(this.episode.steps, this.position + (passed / 1000) * STEPS_PER_SECOND * this.speed);
        if (this.position >= this.episode.steps) this.playing = false;
        else this.want();
      }
      this.render();
    }

    render() {
      this.stage.draw(this.position, this.theme, this.chosen);
      this.lanes.moveTo(this.position);
      document.body.classList.toggle("playing", this.playing);
      if (this.shown !== this.step) {
        this.shown = this.step;
        this.stage.writeKey();
        this.curves.draw(this.step, this.theme);
        this.panels.update(this.step);
        this.label();
      }
      this.writeFragment();
    }

    label() {
      const { episode, step } = this;
      const tick = episode.ticks ? `, tick ${episode.tick(step)}` : "";
      tw.byId("step").textContent = `step ${step} / ${episode.steps}${tick}`;
      const scrub = tw.byId("scrub");
      scrub.value = String(step);
      scrub.style.setProperty("--gone", `${episode.steps ? (100 * step) / episode.steps : 0}%`);
      const { drawer } = this.stage;
      if (drawer?.words && !this.playing) this.stage.canvas.setAttribute("aria-label", drawer.words(this.stage.moment(step, this.theme, null), episode));
    }

    resize() {
      // The picture takes the height that the head and the controls leave; the lanes may go on below.
      const parts = ["header", ".bar", ".curves", ".transport", "#ruler"].map((part) => document.querySelector(part).offsetHeight);
      document.documentElement.style.setProperty("--rest", `${parts.reduce((sum, high) => sum + high, 0) + 84}px`);
      this.stage.resize();
      this.redraw();
    }

    /** Draw everything anew at the same moment. */
    redraw() {
      this.lanes.draw(this.theme);
      this.shown = -1;
      this.want();
    }

    recolour() {
      this.theme = tw.theme();
      this.stage.kept.clear();
      this.redraw();
    }

    // ---- the address remembers the step

    readFragment() {
      const found = /^#t=(\d{1,9})$/.exec(location.hash);
      if (found) this.go(Number(found[1]));
    }

    writeFragment() {
      clearTimeout(this.writing);
      if (this.playing || this.leader) return; // browsers limit how often an address may change
      this.writing = setTimeout(() => {
        const wanted = `#t=${this.step}`;
        if (location.hash === wanted || (this.step === 0 && !location.hash)) return;
        try {
          history.replaceState(null, "", wanted);
        } catch {
          // some previews of mails forbid it; the page works without
        }
      }, 200);
    }

    // ---- what the user does

    controls() {
      const on = (id, call) => tw.byId(id).addEventListener("click", call);
      on("first", () => this.go(0));
      on("last", () => this.go(this.episode.steps));
      on("back", () => this.go(Math.ceil(this.position) - 1));
      on("next", () => this.go(this.step + 1));
      on("play", () => (this.playing ? this.pause() : this.play()));
      on("in", () => this.lanes.setZoom(this.lanes.zoom * 1.6));
      on("out", () => this.lanes.setZoom(this.lanes.zoom / 1.6));
      on("fit", () => this.lanes.setZoom(1));
      const scrub = tw.byId("scrub");
      scrub.max = String(this.episode.steps);
      scrub.addEventListener("input", () => this.go(Number(scrub.value)));
      const speed = tw.byId("speed");
      for (const factor of SPEEDS) speed.append(tw.el("option", { value: factor, selected: factor === this.speed }, `${factor}×`));
      speed.addEventListener("change", () => (this.speed = Number(speed.value)));
      this.stage.listen(() => this.redraw(), (place) => this.choose(place === this.chosen ? null : place));
      addEventListener("hashchange", () => this.readFragment());
    }

    keys() {
      addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const focus = event.target instanceof Element ? event.target : document.body;
        if (focus.matches("select")) return;
        const far = event.shiftKey ? 10 : 1;
        const acts = {
          " ": () => (this.playing || this.leader?.playing ? this.pause() : this.play()),
          ArrowLeft: () => this.go(Math.ceil(this.position) - far),
          ArrowRight: () => this.go(this.step + far),
          Home: () => this.go(0),
          End: () => this.go(this.episode.steps),
        };
        if (!Object.hasOwn(acts, event.key) || (event.key === " " && focus.matches("button"))) return;
        event.preventDefault();
        acts[event.key]();
      });
    }

    looks() {
      const dark = matchMedia("(prefers-color-scheme: dark)");
      dark.addEventListener("change", () => this.recolour());
      tw.byId("theme").addEventListener("click", () => {
        const root = document.documentElement;
        const now = root.dataset.theme || (dark.matches ? "dark" : "light");
        root.dataset.theme = now === "dark" ? "light" : "dark";
        this.recolour();
      });
      new ResizeObserver(() => this.resize()).observe(tw.byId("chart"));
      new ResizeObserver(() => this.resize()).observe(this.stage.canvas.parentElement);
    }
  }

  function header(episode) {
    const { result } = episode;
    tw.byId("title").textContent = `${episode.world} · ${episode.level}`;
    tw.byId("title").title = episode.task;
    const share = result.completion === null ? "no goals" : `${(100 * result.completion).toFixed(0)} %`;
    const measure = ({ name, value, unit, definition }) =>
      [name, value === null ? "none" : unit ? `${Number.isInteger(value) ? value : +value.toPrecision(4)} ${unit}` : `${+(100 * value).toPrecision(3)} %`, null, definition];
    const goals = result.has_success ?? true;
    const end = result.reason === "all_done" && !goals ? "nothing left to do" : (ENDS[result.reason] ?? result.reason);
    const completion = result.completion === null ? null : `${result.done} of ${result.weight} by weight`;
    const facts = [
      ["method", episode.method],
      ["reasoner", episode.reasoner],
      ["run", `seed ${episode.seed}, episode ${episode.episode}`],
      ...(episode.fork ? [["fork", episode.fork.replace(/^fork of /, "of ")]] : []),
      ...(result.headline ?? []).map(measure),
      ...(goals ? [["completion", share, completion]] : []),
      ["steps", String(result.steps), `of ${result.horizon}, ${end}`],
    ];
    for (const [name, value, aside, says] of facts) {
      tw.byId("facts").append(tw.el("div", says ? { title: says } : null, tw.el("dt", null, name), tw.el("dd", null, value, aside ? tw.el("small", null, ` ${aside}`) : null)));
    }
  }

  function legend() {
    const entry = (kind, words) => tw.el("span", null, tw.el("i", { class: kind }), words);
    tw.byId("legend").append(
      entry("of", "committed to a goal, in its colour"), entry("work", "changed the world"), entry("move", "moved"),
      entry("ready", "in place, waits for others"), entry("fail", "✕ failed"), entry("passed", "passed over"),
      tw.el("span", { class: "keys" }, "space plays, arrows step, ctrl + wheel zooms"));
  }

  const episode = new tw.Episode(JSON.parse(tw.byId("data").textContent));
  header(episode);
  legend();
  if (!tw.drawerOf(episode)) {
    tw.byId("stage").hidden = true;
    tw.byId("nodrawer").hidden = false;
    tw.byId("nodrawer").prepend(`There is no drawing for the world ${episode.world}${episode.undrawn ? ` (${episode.undrawn})` : ""}: this is what it records of the step, what has changed in bold.`);
  }
  tw.episode = episode;
  tw.player = new Player(episode);
  tw.unpack(tw.byId("packed")).then(
    (packed) => {
      tw.takeQuestions(episode, packed ?? { questions: [], lines: [] });
      episode.knowledge = packed?.knowledge ? new tw.Knowledge(packed.knowledge) : null;
      tw.player.takeRest();
    },
    (error) => ["asked", "knows"].forEach((id) => tw.byId(id).append(`This cannot be unpacked in this browser (${error.message}); newer ones can.`)));
})(window.teamworld);
