// Built from frontend/src/pair by "make pages"; change the sources and build again.
"use strict";
var teamworld = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // src/pair/main.ts
  var main_exports = {};
  __export(main_exports, {
    pair: () => pair
  });

  // src/shared/elements.ts
  function el(tag, options, ...children) {
    const node = document.createElement(tag);
    const { on = {}, css = {}, ...attributes } = options ?? {};
    for (const [event, call] of Object.entries(on)) node.addEventListener(event, call);
    for (const [property, value] of Object.entries(css)) node.style.setProperty(property, value);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === void 0 || value === false) continue;
      node.setAttribute(name, value === true ? "" : String(value));
    }
    node.append(...nodesOf(children));
    return node;
  }
  function nodesOf(children) {
    return children.flatMap((child) => {
      if (child === null || child === void 0 || child === false) return [];
      return child instanceof Node || typeof child === "string" ? [child] : nodesOf(child);
    });
  }
  function byId(id, kind = HTMLElement) {
    return expect(document.getElementById(id), kind, `#${id}`);
  }
  function find(selector, root = document) {
    return expect(root.querySelector(selector), HTMLElement, selector);
  }
  function expect(node, kind, name) {
    if (node instanceof kind) return node;
    throw new Error(`expected ${name} on the page as ${kind.name}`);
  }
  function onClick(calls) {
    for (const [id, call] of Object.entries(calls)) byId(id).addEventListener("click", call);
  }

  // src/shared/packed.ts
  var LARGE = 4e6;
  function takeText(element) {
    const text = element.textContent ?? "";
    if (text.length > LARGE) element.textContent = "";
    return text;
  }
  async function unpack(element) {
    const text = takeText(element).trim();
    if (!text) return null;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  }

  // src/shared/numbers.ts
  var clamp = (value, low, high) => Math.min(high, Math.max(low, value));

  // src/shared/clock.ts
  var STEPS_PER_SECOND = 4;
  var LONGEST = 250;
  var Clock = class {
    constructor(steps) {
      this.steps = steps;
    }
    steps;
    position = 0;
    playing = false;
    speed = 1;
    #frame = 0;
    #before = null;
    #listeners = [];
    /** The moment that is shown. */
    get step() {
      return Math.floor(this.position);
    }
    listen(call) {
      this.#listeners.push(call);
    }
    /** Go to a moment and stop there. */
    go(step) {
      this.playing = false;
      this.position = clamp(Math.round(step), 0, this.steps);
      this.want();
    }
    /** Go so many steps on, or back if there are fewer than 0. */
    move(by) {
      this.go(by < 0 ? Math.ceil(this.position) + by : this.step + by);
    }
    /** Play on, from the start if the end is reached; or pause. */
    toggle() {
      this.playing = !this.playing;
      if (this.playing && this.position >= this.steps) this.position = 0;
      this.#before = null;
      this.want();
    }
    /** Call the listeners in the next frame. */
    want() {
      this.#frame ||= requestAnimationFrame((time) => this.#tick(time));
    }
    #tick(time) {
      this.#frame = 0;
      if (this.playing) {
        const passed = this.#before === null ? 0 : Math.min(time - this.#before, LONGEST);
        this.#before = time;
        this.position = Math.min(this.steps, this.position + passed / 1e3 * STEPS_PER_SECOND * this.speed);
        this.playing = this.position < this.steps;
        if (this.playing) this.want();
      }
      for (const call of this.#listeners) call();
    }
  };
  function listenToKeys(clock) {
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const focus = event.target instanceof Element ? event.target : document.body;
      const isTyping = focus.matches("select, textarea, input:not([type=range])");
      if (isTyping || event.key === " " && focus.matches("button, summary")) return;
      const far = event.shiftKey ? 10 : 1;
      const act = {
        " ": () => clock().toggle(),
        ArrowLeft: () => clock().move(-far),
        ArrowRight: () => clock().move(far),
        Home: () => clock().go(0),
        End: () => clock().go(clock().steps)
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }
  function stepOfAddress() {
    const found = /^#t=(\d{1,9})$/.exec(location.hash);
    return found ? Number(found[1]) : null;
  }
  var AddressWriter = class {
    constructor(clock) {
      this.clock = clock;
    }
    clock;
    #waiting;
    write() {
      clearTimeout(this.#waiting);
      if (!this.clock.playing) this.#waiting = setTimeout(() => this.#replace(), 200);
    }
    #replace() {
      const wanted = `#t=${this.clock.step}`;
      if (location.hash === wanted || this.clock.step === 0 && !location.hash) return;
      try {
        history.replaceState(null, "", wanted);
      } catch {
      }
    }
  };

  // src/shared/theme.ts
  var NAMES = [
    "page",
    "card",
    "ink",
    "soft",
    "faint",
    "line",
    "bar",
    "fail",
    "failbar",
    "good",
    "work",
    "move",
    "ready",
    "goalzone",
    "idle"
  ];
  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => [name, style.getPropertyValue(`--${name}`).trim()];
    return Object.fromEntries(NAMES.map(read));
  }
  function listenForTheme(changed) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", changed);
    byId("theme").addEventListener("click", () => {
      const root = document.documentElement;
      const shown = root.dataset.theme || (dark.matches ? "dark" : "light");
      root.dataset.theme = shown === "dark" ? "light" : "dark";
      changed();
    });
  }

  // src/shared/words.ts
  var plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  var say = (text) => text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

  // src/shared/canvas.ts
  function fit(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("expected a browser that draws on canvases");
    pen.setTransform(w / width, 0, 0, h / height, 0, 0);
    return pen;
  }

  // src/pair/strip.ts
  var ROW = 11;
  var [LEFT, RIGHT] = [92, 8];
  var PADDING = 24;
  var Strip = class {
    constructor({ first, actions = [], rows = [] }, steps) {
      this.steps = steps;
      const of = (kind) => [
        ...new Set(rows.filter((row) => row.kind === kind).map((row) => row.step))
      ];
      this.#first = first;
      this.#rows = [
        { name: "actions", steps: actions },
        { name: "commitments", steps: of("commitment") },
        { name: "plans", steps: of("plan") },
        { name: "messages", steps: of("message") }
      ];
      const words = this.#rows.map((row) => `${row.name} differ in ${plural(row.steps.length, "step")}`);
      this.#canvas.setAttribute("aria-label", words.join(", "));
    }
    steps;
    #canvas = byId("strip", HTMLCanvasElement);
    #rows;
    #first;
    #width = LEFT + 80;
    listen(jump) {
      this.#canvas.addEventListener("click", ({ offsetX }) => {
        jump((offsetX - LEFT) / (this.#width - LEFT - RIGHT) * this.steps);
      });
    }
    draw(position) {
      const theme = readTheme();
      this.#width = Math.max(LEFT + 80, (this.#canvas.parentElement?.clientWidth ?? 0) - PADDING);
      const [across, high] = [this.#width - LEFT - RIGHT, this.#rows.length * ROW + 6];
      const x = (step) => LEFT + step / Math.max(1, this.steps) * across;
      const pen = fit(this.#canvas, this.#width, high);
      pen.clearRect(0, 0, this.#width, high);
      pen.font = "10.5px system-ui, sans-serif";
      pen.textBaseline = "middle";
      for (const [row, { name, steps }] of this.#rows.entries()) {
        const top = 3 + row * ROW;
        pen.fillStyle = theme.soft;
        pen.fillText(name, 0, top + ROW / 2);
        pen.fillStyle = theme.faint;
        pen.fillRect(LEFT, top + 2, across, ROW - 4);
        pen.fillStyle = row ? theme.ready : theme.move;
        for (const step of steps) pen.fillRect(x(step), top + 2, Math.max(1.5, x(1) - x(0) - 0.5), ROW - 4);
      }
      if (this.#first !== void 0) {
        pen.fillStyle = theme.fail;
        pen.fillRect(x(this.#first) - 1, 0, 2, high);
      }
      pen.fillStyle = theme.ink;
      pen.fillRect(x(position) - 1, 0, 2, high);
    }
  };

  // src/pair/pair.ts
  var Pair = class {
    constructor(frames, differences) {
      this.frames = frames;
      this.#sides = frames.map(sideOf);
      this.#differences = { actions: [], rows: [], ...differences };
      this.clock = new Clock(Math.max(...this.players.map(({ episode }) => episode.steps)));
      this.#address = new AddressWriter(this.clock);
      this.#strip = new Strip(this.#differences, this.clock.steps);
      for (const [at, { player, document: document2 }] of this.#sides.entries()) {
        player.follow(this);
        find(".facts", byId(`side${at}`)).textContent = factsOf(document2);
      }
      this.clock.listen(() => this.#render());
      this.#listen();
      this.clock.go(stepOfAddress() ?? 0);
    }
    frames;
    clock;
    #sides;
    #differences;
    #strip;
    #address;
    #shown = -1;
    #busy = false;
    get players() {
      return this.#sides.map(({ player }) => player);
    }
    // ---- what the two pages ask for
    choose(from, place) {
      this.#both(({ player }) => {
        if (player !== from) player.choose(place);
      });
    }
    show(tab) {
      this.#both(({ document: document2 }) => {
        const other = document2.getElementById(tab);
        if (other?.getAttribute("aria-selected") === "false") other.click();
      });
    }
    scroll(top) {
      this.#both(({ window: window2 }) => {
        if (window2.scrollY !== top) window2.scrollTo(0, top);
      });
    }
    /** Do the same on both sides; what that leads to on a side does not come back here. */
    #both(act) {
      if (this.#busy) return;
      this.#busy = true;
      this.#sides.forEach(act);
      this.#busy = false;
    }
    // ---- what is shown
    #render() {
      const { clock } = this;
      byId("play").textContent = clock.playing ? "pause" : "play";
      this.#address.write();
      if (this.#shown === clock.step) return;
      this.#shown = clock.step;
      byId("scrub", HTMLInputElement).value = String(clock.step);
      byId("step").textContent = `step ${clock.step} / ${clock.steps}`;
      this.#strip.draw(clock.position);
      this.#writeRows();
    }
    #writeRows() {
      const here = this.#differences.rows.filter((row) => row.step === this.clock.step);
      const rows = here.map(
        ({ agent, kind, first, second }) => el("tr", null, el("th", { scope: "row" }, `${say(agent)}: ${kind}`), cell(first), cell(second))
      );
      byId("rows").replaceChildren(...rows.length ? [el("table", null, el("tbody", null, rows))] : []);
      byId("count").textContent = here.length ? `${plural(here.length, "difference")} in this step` : "commitments, plans and messages of this step are the same";
    }
    #redraw() {
      this.#shown = -1;
      this.clock.want();
    }
    // ---- what the user does
    /** Go to the difference before or after the moment that is shown. */
    #move(way) {
      const places = this.#differences.rows.map((row) => row.step);
      const { step } = this.clock;
      const found = way > 0 ? places.find((place) => place > step) : places.findLast((place) => place < step);
      if (found !== void 0) this.clock.go(found);
    }
    #listen() {
      const { clock } = this;
      const { first } = this.#differences;
      byId("first").textContent = first === void 0 ? "The two episodes are the same" : `They first differ in step ${first}`;
      byId("tofirst").hidden = first === void 0;
      onClick({
        tofirst: () => clock.go(first ?? 0),
        before: () => this.#move(-1),
        after: () => this.#move(1),
        back: () => clock.move(-1),
        next: () => clock.move(1),
        play: () => clock.toggle(),
        theme: () => {
          for (const { document: document2 } of this.#sides) document2.getElementById("theme")?.click();
        }
      });
      const scrub = byId("scrub", HTMLInputElement);
      scrub.max = String(clock.steps);
      scrub.addEventListener("input", () => clock.go(Number(scrub.value)));
      this.#strip.listen((step) => clock.go(step));
      for (const page of [window, ...this.#sides.map((side) => side.window)]) {
        page.addEventListener("keydown", (event) => this.#key(event));
      }
      listenToKeys(() => clock);
      listenForTheme(() => this.#redraw());
      addEventListener("resize", () => this.#redraw());
    }
    /** Keys that only this page has, wherever the focus is. */
    #key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n") this.#move(1);
      if (event.key === "p") this.#move(-1);
    }
  };
  function sideOf({ contentWindow, contentDocument }) {
    if (!contentWindow || !contentDocument) throw new Error("expected the page of an episode in each frame");
    const { player } = contentWindow.teamworld;
    return { player, window: contentWindow, document: contentDocument };
  }
  function factsOf(document2) {
    const facts = [...document2.querySelectorAll("#facts > div")].map(
      (fact) => [...fact.children].map((child) => child.textContent ?? "")
    );
    return facts.filter(([name]) => name !== "method" && name !== "run").map((words) => words.join(" ")).join(" · ");
  }
  function cell(texts = []) {
    if (!texts.length) return el("td", { class: "none" }, "nothing");
    return el(
      "td",
      null,
      texts.map((text) => el("p", null, say(text)))
    );
  }

  // src/pair/main.ts
  var pair;
  function begin({ pages, names, differences }) {
    const frames = pages.map((page, side) => {
      const name = names[side] ?? "";
      const box = byId(`side${side}`);
      find("h2", box).textContent = name;
      const frame = el("iframe", { title: name });
      frame.srcdoc = page;
      box.querySelector("iframe")?.replaceWith(frame);
      return frame;
    });
    const loaded = frames.map((frame) => new Promise((done) => frame.addEventListener("load", done, { once: true })));
    Promise.all(loaded).then(() => {
      pair = new Pair(frames, differences);
    });
  }
  unpack(byId("data")).then(
    (data) => data && begin(data),
    (error) => {
      byId("first").textContent = `The episodes cannot be unpacked in this browser (${error.message}); newer ones can.`;
    }
  );
  return __toCommonJS(main_exports);
})();
