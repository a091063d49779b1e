// Built from frontend/src/replay by "make pages"; change the sources and build again.
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

  // src/replay/main.ts
  var main_exports = {};
  __export(main_exports, {
    Knowledge: () => Knowledge,
    drawers: () => drawers,
    episode: () => episode,
    player: () => player,
    say: () => say,
    shortened: () => shortened,
    sightings: () => sightings
  });

  // src/shared/colours.ts
  var PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442"];
  var FIRST = "#0072b2";
  var channels = (hex) => [
    Number.parseInt(hex.slice(1, 3), 16),
    Number.parseInt(hex.slice(3, 5), 16),
    Number.parseInt(hex.slice(5, 7), 16)
  ];
  function mix(one, other, share) {
    const [ends, starts] = [channels(other), channels(one)];
    const mixed = starts.map((from, place) => Math.round(from + ((ends[place] ?? from) - from) * share));
    return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  }
  function inkOn(hex) {
    const linear = (value) => value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    const [red, green, blue] = channels(hex);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.22 ? "#10151a" : "#ffffff";
  }
  function goalColour(place) {
    const base = PALETTE[place % PALETTE.length] ?? FIRST;
    const round = Math.floor(place / PALETTE.length) % 3;
    if (round === 0) return base;
    return round === 1 ? mix(base, "#000000", 0.38) : mix(base, "#ffffff", 0.45);
  }

  // src/shared/numbers.ts
  var clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  function lastAt(rows, t, key) {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle2 = low + high >> 1;
      if ((rows[middle2]?.[key] ?? Number.POSITIVE_INFINITY) <= t) low = middle2 + 1;
      else high = middle2;
    }
    return low - 1;
  }
  var total = (rows, read) => rows.reduce((sum, row) => sum + (read(row) ?? 0), 0);
  function groupBy(rows, read) {
    const groups = /* @__PURE__ */ new Map();
    for (const row of rows) {
      const own = groups.get(read(row));
      if (own) own.push(row);
      else groups.set(read(row), [row]);
    }
    return groups;
  }

  // src/shared/words.ts
  var plural = (count2, word) => `${count2} ${word}${count2 === 1 ? "" : "s"}`;
  var say = (text) => text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");
  var steps = (start, end) => end - start > 1 ? `steps ${start}–${end - 1}` : `step ${start}`;

  // src/episode/lane.ts
  var Lane = class {
    constructor(actor, plans) {
      this.plans = plans;
      ({ name: this.name, kind: this.kind, spans: this.spans, paces: this.paces, holds: this.holds } = actor);
      this.gone = actor.gone;
      this.gone_why = actor.gone_why ?? "";
      this.runs = actor.spans.filter((span) => span.status !== "passed");
      this.passed = actor.spans.filter((span) => span.status === "passed");
    }
    plans;
    name;
    kind;
    spans;
    paces;
    holds;
    gone;
    gone_why;
    /** Actions that took steps, by start. */
    runs;
    /** Actions that could not start. */
    passed;
    #byPlan = null;
    span(t) {
      return covering(this.runs, t);
    }
    hold(t) {
      return covering(this.holds, t);
    }
    /** The goal that it is bound to at moment t, by commitment or by its plan; null if there is none. */
    aim(t) {
      return this.hold(t)?.goal ?? covering(this.plans, t)?.goal ?? null;
    }
    pace(t) {
      return this.paces[lastAt(this.paces, t, "step")] ?? null;
    }
    isGone(t) {
      return this.gone !== void 0 && t >= this.gone;
    }
    /** The plan at moment t and the last one that is over, either null. */
    planning(t) {
      const at = lastAt(this.plans, t, "start");
      const latest = this.plans[at] ?? null;
      return latest && t < latest.end ? [latest, this.plans[at - 1] ?? null] : [null, latest];
    }
    /** How an action of a plan stands at moment t, and its run. */
    standing(plan, place, t) {
      this.#byPlan ??= groupBy(this.spans, (span2) => span2.plan);
      const span = this.#byPlan.get(plan.plan)?.find((one) => one.place === place && one.start <= t);
      if (!span) return ["next", null];
      if (span.status === "passed") return ["passed", span];
      if (t < span.end) return ["running", span];
      return [span.status === "running" ? "stopped" : span.status, span];
    }
  };
  function covering(rows, t) {
    const row = rows[lastAt(rows, t, "start")];
    return row && t < row.end ? row : null;
  }

  // src/episode/question_log.ts
  var isOdd = (question) => question.fallback === true || question.flaws.length > 0;
  var QuestionLog = class {
    questions;
    #lines;
    #byAgent;
    constructor(rows, lines) {
      this.questions = rows.map((row) => ({ answer: {}, flaws: [], tries: [], ...row, start: row.step }));
      this.#lines = lines;
      this.#byAgent = groupBy(this.questions, (question) => question.agent);
    }
    /** All questions of an agent, in order. */
    of(agent) {
      return this.#byAgent.get(agent) ?? [];
    }
    /** Questions that were put to an agent in a step, or in the last one before it in which any was. */
    at(agent, step) {
      const put = this.of(agent).filter((question) => !question.skipped);
      const last = put[lastAt(put, step, "start")];
      return put.filter((question) => question.start === last?.start);
    }
    /** The question to the same agent before or after one. */
    neighbour(question, way) {
      const own = this.of(question.agent);
      return own[own.indexOf(question) + way];
    }
    /** A text from where its lines are: pairs of a place and a count. */
    text(pairs = []) {
      const parts = [];
      for (let at = 0; at < pairs.length; at += 2) {
        const [place = 0, count2 = 0] = pairs.slice(at, at + 2);
        parts.push(...this.#lines.slice(place, place + count2));
      }
      return parts.join("\n");
    }
  };
  function turnsOf(question, at) {
    const { kept: kept2 = 0, turns = [] } = question.tries[at] ?? {};
    return [...kept2 ? turnsOf(question, at - 1).slice(0, kept2) : [], ...turns];
  }

  // src/episode/episode.ts
  var FORMAT = 1;
  var Episode = class {
    world;
    static;
    frames;
    style;
    goals;
    messages;
    joints;
    failures;
    perceived;
    ticks;
    steps;
    team;
    /** Place in the team by name. */
    place;
    /** Empty until the page has unpacked them. */
    asked = new QuestionLog([], []);
    /** Null unless the log was recorded at the level `beliefs`, and until the page has unpacked it. */
    knowledge = null;
    goalPlace;
    tried = null;
    constructor(data) {
      if (data.format !== FORMAT) throw new Error(`expected replay data of format ${FORMAT}, got ${data.format}`);
      this.world = data.world;
      this.static = data.static;
      this.frames = data.frames;
      this.style = data.style ?? {};
      this.goals = data.goals;
      this.messages = data.messages;
      this.joints = data.joints;
      this.failures = data.failures;
      this.perceived = data.perceived ?? [];
      this.ticks = data.ticks;
      this.steps = data.frames.length - 1;
      const plans = groupBy(data.plans, (plan) => plan.agent);
      this.team = data.team.map((actor) => new Lane(actor, plans.get(actor.name) ?? []));
      this.place = new Map(data.team.map(({ name }, place) => [name, place]));
      this.goalPlace = new Map(data.goals.map(({ id }, place) => [id, place]));
    }
    frame(t) {
      const frame = this.frames[clamp(t, 0, this.steps)];
      if (frame === void 0) throw new Error("expected an episode with a frame");
      return frame;
    }
    tick(t) {
      return this.ticks?.[t] ?? t;
    }
    /** The last moment that is not after a tick. */
    stepOf(tick) {
      return this.ticks ? Math.max(
        0,
        this.ticks.findLastIndex((one) => one <= tick)
      ) : tick;
    }
    /** The lane of an agent by its name; undefined for a respondent without a body. */
    lane(name) {
      return this.team[this.place.get(name) ?? -1];
    }
    colour(goal) {
      return goalColour(this.goalPlace.get(goal) ?? 0);
    }
    /** The joint acts tried in step t. */
    jointsAt(t) {
      if (!this.tried) {
        this.tried = Array.from(this.frames, () => []);
        for (const joint of this.joints) {
          for (let step = joint.start; step < joint.end; step++) this.tried[step]?.push(joint);
        }
      }
      return this.tried[t] ?? [];
    }
    /** How much of a goal is done at moment t, from 0 to 1. */
    progress(goal, t) {
      if (goal.done !== void 0 && t >= goal.done) return 1;
      const row = goal.progress?.findLast(([from]) => from <= t);
      return clamp(row?.[1] ?? 0, 0, 1);
    }
    /** In words, how a run of an action looks when it is over. */
    ending(span) {
      if (span.status === "failed") {
        const blocker = span.blocker && `in the way: ${say(span.blocker)}`;
        const causes = [span.reason, span.constraint, blocker].filter(Boolean);
        return `${span.legal === false ? "refused" : "failed"}: ${causes.join(", ") || "no reason given"}`;
      }
      if (span.status === "passed") return `passed over at no cost: ${span.reason || "could not start"}`;
      if (span.status === "done") return "done";
      return span.end >= this.steps ? "running at the end" : "stopped before it was over";
    }
  };

  // src/episode/knowledge.ts
  var Fold = class {
    constructor(changes, start, take) {
      this.changes = changes;
      this.start = start;
      this.take = take;
      this.#state = start();
    }
    changes;
    start;
    take;
    #state;
    #place = 0;
    #t = -1;
    at(t) {
      if (t < this.#t) {
        this.#place = 0;
        this.#state = this.start();
      }
      this.#t = t;
      for (let change = this.changes[this.#place]; change && change.frame <= t; change = this.changes[this.#place]) {
        this.take(this.#state, change);
        this.#place++;
      }
      return this.#state;
    }
  };
  var Knowledge = class {
    facts;
    #about;
    #seen;
    #believed;
    #true;
    #perceived = /* @__PURE__ */ new Map();
    #beliefs = /* @__PURE__ */ new Map();
    constructor(log) {
      this.facts = log.facts;
      this.#about = log.about;
      this.#seen = log.seen;
      this.#believed = log.believed;
      this.#true = new Fold(
        log.truth,
        () => /* @__PURE__ */ new Set(),
        (state, { on = [], off = [] }) => {
          for (const fact of off) state.delete(fact);
          for (const fact of on) state.add(fact);
        }
      );
    }
    /** What an agent perceives at moment t, and what it perceived last and does not any more. */
    perceived(agent, t) {
      return kept(this.#perceived, agent, () => {
        const own = this.#seen.filter((row) => row.agent === agent);
        return new Fold(own, () => ({ now: /* @__PURE__ */ new Set(), last: /* @__PURE__ */ new Map() }), this.#takeSeen);
      }).at(t);
    }
    #takeSeen = (state, { frame, on = [], off = [] }) => {
      for (const fact of off) {
        state.now.delete(fact);
        state.last.set(fact, frame - 1);
      }
      for (const fact of on) {
        state.now.add(fact);
        state.last.delete(fact);
        const about = this.#about[fact] ?? -1;
        if (about < 0) continue;
        for (const other of state.last.keys()) if (this.#about[other] === about) state.last.delete(other);
      }
    };
    /** What an agent believes at moment t, by fact: of the world, or of what another knows. */
    beliefs(agent, about, t) {
      return kept(this.#beliefs, `${agent} ${about}`, () => {
        const own = this.#believed.filter((row) => row.agent === agent && (row.about ?? null) === about);
        return new Fold(
          own,
          () => /* @__PURE__ */ new Map(),
          (state, { held = [], dropped = [] }) => {
            for (const fact of dropped) state.delete(fact);
            for (const { fact, chance = 1, since = 0, source = "own" } of held)
              state.set(fact, { chance, since, source });
          }
        );
      }).at(t);
    }
    /** Teammates of whom an agent believes something, ever. */
    subjects(agent) {
      return [...new Set(this.#believed.flatMap((row) => row.agent === agent && row.about ? [row.about] : []))];
    }
    /** All facts that an agent knows or believes at moment t: of the world, or of what another knows. */
    rows(agent, about, t) {
      const nothing = { now: /* @__PURE__ */ new Set(), last: /* @__PURE__ */ new Map() };
      const { now, last } = about === null ? this.perceived(agent, t) : nothing;
      const beliefs = this.beliefs(agent, about, t);
      const truth = this.#true.changes.length ? this.#true.at(t) : null;
      const own = about === null ? null : this.perceived(about, t);
      const itself = (fact) => this.facts[fact]?.startsWith(`${agent} `) ?? false;
      const facts = /* @__PURE__ */ new Set([...now, ...[...last.keys()].filter((fact) => !itself(fact)), ...beliefs.keys()]);
      return [...facts].map((fact) => {
        const holds = own ? own.now.has(fact) || own.last.has(fact) : truth?.has(fact) ?? null;
        const belief = beliefs.get(fact) ?? null;
        const frame = last.get(fact);
        const wrong = belief !== null && holds !== null && !now.has(fact) && holds !== belief.chance >= 0.5;
        const age = frame === void 0 ? null : t - frame;
        return { fact, text: this.facts[fact] ?? "", now: now.has(fact), age, belief, holds, wrong };
      });
    }
  };
  function kept(values, name, make) {
    const value = values.get(name) ?? make();
    values.set(name, value);
    return value;
  }
  function sightings(episode2, agent, t) {
    if (!episode2.knowledge) return [];
    const { facts } = episode2.knowledge;
    const { now, last } = episode2.knowledge.perceived(agent, t);
    const aged = [
      ...[...now].map((fact) => [fact, 0]),
      ...[...last].map(([fact, frame]) => [fact, t - frame])
    ];
    return aged.flatMap(([fact, age]) => {
      const at = /^(?:<(\w+)>\((\d+)\)|(\S+)) AT \((\d+), (\d+)\)$/.exec(facts[fact] ?? "");
      return at ? [{ name: at[3] ?? `${at[1]} ${at[2]}`, row: Number(at[4]), column: Number(at[5]), age }] : [];
    });
  }

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
  function showTip(lines, x, y2) {
    const tip = byId("tip");
    tip.hidden = !lines.length;
    if (tip.hidden) return;
    tip.replaceChildren(...lines.map((line2, at) => el(at ? "div" : "strong", null, line2)));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(window.innerWidth - width - 8, Math.max(4, x + 14))}px`;
    tip.style.top = `${y2 + 18 + height > window.innerHeight ? y2 - height - 12 : y2 + 18}px`;
  }
  function hideTip() {
    byId("tip").hidden = true;
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

  // src/stage/drawer.ts
  var drawers = {};
  function drawerOf(episode2) {
    const name = String(episode2.static.drawer ?? episode2.world);
    return Object.hasOwn(drawers, name) ? drawers[name] ?? null : null;
  }

  // src/replay/header.ts
  var ENDS = {
    all_done: "all goals done",
    horizon: "step limit reached",
    budget: "budget spent",
    lost: "nobody left",
    quit: "the team quit",
    error: "an error"
  };
  function writeHeader(replay) {
    const { result, fork } = replay;
    byId("title").textContent = `${replay.world} · ${replay.level}`;
    byId("title").title = replay.task;
    const facts = [
      { name: "method", value: replay.method },
      { name: "reasoner", value: replay.reasoner },
      { name: "run", value: `seed ${replay.seed}, episode ${replay.episode}` },
      ...fork ? [{ name: "fork", value: fork.replace(/^fork of /, "of ") }] : [],
      ...(result.headline ?? []).map(measure),
      ...result.has_success ?? true ? [completion(result)] : [],
      { name: "steps", value: String(result.steps), aside: `of ${result.horizon}, ${endOf(result)}` }
    ];
    for (const { name, value, aside, title } of facts) {
      const small = aside && el("small", null, ` ${aside}`);
      byId("facts").append(el("div", { title }, el("dt", null, name), el("dd", null, value, small)));
    }
  }
  function measure({ name, value, unit, definition }) {
    const number = value === null ? "none" : unit ? `${+value.toPrecision(4)} ${unit}` : `${+(100 * value).toPrecision(3)} %`;
    return { name, value: number, title: definition };
  }
  function completion({ completion: share, done, weight }) {
    if (share === null) return { name: "completion", value: "no goals" };
    return { name: "completion", value: `${(100 * share).toFixed(0)} %`, aside: `${done} of ${weight} by weight` };
  }
  function endOf({ reason, has_success = true }) {
    return reason === "all_done" && !has_success ? "nothing left to do" : ENDS[reason] ?? reason;
  }
  function writeLegend() {
    const entry = (kind, words) => el("span", null, el("i", { class: kind }), words);
    byId("legend").append(
      entry("of", "committed to a goal, in its colour"),
      entry("work", "changed the world"),
      entry("move", "moved"),
      entry("ready", "in place, waits for others"),
      entry("fail", "✕ failed"),
      entry("passed", "passed over"),
      el("span", { class: "keys" }, "space plays, arrows step, ctrl + wheel zooms")
    );
  }

  // src/shared/clock.ts
  var STEPS_PER_SECOND = 4;
  var LONGEST = 250;
  var Clock = class {
    constructor(steps2) {
      this.steps = steps2;
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
  var colourIn = (theme, colour) => Object.hasOwn(theme, colour) ? theme[colour] : colour;
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
  function shortened(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    const letters = [...text.slice(0, 60), ...text.length > 60 ? text.slice(-60) : ""];
    for (let kept2 = letters.length - 1; kept2 > 1; kept2--) {
      const form = `${letters.slice(0, Math.ceil(kept2 / 2)).join("")}…${letters.slice(-Math.floor(kept2 / 2)).join("")}`;
      if (pen.measureText(form).width <= room) return form;
    }
    return "…";
  }

  // src/stage/curves.ts
  var HIGH = 74;
  var [LEFT, RIGHT, TOP, BOTTOM] = [8, 8, 16, 6];
  var inWords = (value) => (Math.round(value * 100) / 100).toLocaleString("en");
  var Curves = class {
    constructor(episode2, curves, jump) {
      this.episode = episode2;
      this.length = episode2.steps;
      this.add(curves);
      this.#canvas.addEventListener("click", (event) => {
        jump(Math.round((event.offsetX - LEFT) / (this.#width - LEFT - RIGHT) * this.length));
      });
    }
    episode;
    rows = [];
    /** Of the axis in steps: beside a longer episode it is that one's. */
    length;
    #box = byId("curves");
    #canvas = byId("curve", HTMLCanvasElement);
    #width = 0;
    #paper = null;
    /** Add those curves that have a value for each moment. */
    add(curves) {
      const whole = curves.filter(({ values }) => values.length === this.episode.steps + 1);
      this.rows.push(
        ...whole.map((row) => ({ ...row, low: Math.min(0, ...row.values), high: Math.max(0, ...row.values) }))
      );
      this.#box.hidden = !this.rows.length || !this.episode.steps;
      const names = this.rows.map((row) => row.name).join(", ");
      this.#canvas.setAttribute("aria-label", `Curves over the steps: ${names}`);
      this.#paper = null;
    }
    draw(t, theme) {
      if (this.#box.hidden) return;
      this.#width = this.#box.clientWidth;
      const pen = fit(this.#canvas, this.#width, HIGH);
      pen.clearRect(0, 0, this.#width, HIGH);
      pen.drawImage(this.#lines(theme), 0, 0, this.#width, HIGH);
      pen.font = "11px system-ui, sans-serif";
      let at = LEFT;
      for (const row of this.rows) {
        const value = row.values[t] ?? 0;
        pen.fillStyle = colourIn(theme, row.colour);
        pen.beginPath();
        pen.arc(this.#x(t), y(row, value), 3, 0, 2 * Math.PI);
        pen.fill();
        const words = `${row.name} ${inWords(value)}  (${inWords(row.low)} to ${inWords(row.high)})`;
        pen.fillText(words, at, 11);
        at += pen.measureText(words).width + 22;
      }
      pen.fillStyle = theme.ink;
      pen.fillRect(this.#x(t) - 0.5, TOP, 1, HIGH - TOP - BOTTOM);
    }
    #x(step) {
      return LEFT + step / this.length * (this.#width - LEFT - RIGHT);
    }
    /** The curves themselves, kept until the width or the theme changes. */
    #lines(theme) {
      const key = [this.#width, this.length, theme.ink, window.devicePixelRatio].join();
      if (this.#paper?.key === key) return this.#paper.canvas;
      const canvas = document.createElement("canvas");
      const pen = fit(canvas, this.#width, HIGH);
      pen.strokeStyle = theme.line;
      pen.strokeRect(LEFT + 0.5, TOP + 0.5, this.#width - LEFT - RIGHT - 1, HIGH - TOP - BOTTOM - 1);
      pen.lineWidth = 1.6;
      for (const row of this.rows) {
        pen.strokeStyle = colourIn(theme, row.colour);
        pen.beginPath();
        for (const [step, value] of row.values.entries()) pen.lineTo(this.#x(step), y(row, value));
        pen.stroke();
      }
      this.#paper = { key, canvas };
      return canvas;
    }
  };
  function y({ low, high }, value) {
    return HIGH - BOTTOM - 3 - (value - low) / (high - low || 1) * (HIGH - TOP - BOTTOM - 6);
  }

  // src/stage/stage.ts
  var CLOSEST = 16;
  var NEAR = 9;
  var MOST_ROWS = 300;
  var SAMPLE = 18;
  var Stage = class {
    constructor(episode2) {
      this.episode = episode2;
      this.drawer = drawerOf(episode2);
      this.layer = this.drawer?.layers?.(episode2)[0]?.id ?? null;
      this.#key.hidden = !this.drawer?.key;
    }
    episode;
    drawer;
    view = { zoom: 1, x: 0.5, y: 0.5 };
    canvas = byId("stage", HTMLCanvasElement);
    size = 0;
    layer;
    /** What was drawn last. */
    shown = null;
    drawn = null;
    #key = byId("key");
    #keptRows = /* @__PURE__ */ new Map();
    #written = -1;
    /** Fill the box that the page has for it. */
    resize() {
      const box = this.canvas.parentElement;
      const width = box?.clientWidth ?? 0;
      const size = Math.floor(Math.min(width, box?.clientHeight || width));
      if (size > 0) this.size = size;
    }
    /** What a drawer is told about position p. */
    moment(p, theme, chosen) {
      const { episode: episode2 } = this;
      const t = Math.min(Math.floor(p), episode2.steps);
      const isOver = t >= episode2.steps;
      return {
        t,
        share: p - t,
        theme,
        chosen,
        layer: this.layer,
        view: this.view,
        frame: episode2.frame(t),
        next: episode2.frame(t + 1),
        joints: isOver ? [] : episode2.jointsAt(t),
        team: episode2.team.map((lane) => ({
          aim: lane.aim(t),
          pace: isOver ? null : lane.pace(t),
          gone: lane.isGone(t)
        }))
      };
    }
    draw(p, theme, chosen) {
      if (!this.drawer) this.#writeState(Math.min(Math.floor(p), this.episode.steps));
      if (!this.drawer || this.size <= 0) return;
      const pen = fit(this.canvas, this.size, this.size);
      this.shown = this.moment(p, theme, chosen);
      this.drawn = this.drawer.draw(pen, this.size, this.shown, this.episode);
    }
    /** Say in words what is drawn, for those who do not see it. */
    describe() {
      const words = this.shown && this.drawer?.words?.(this.shown, this.episode);
      if (words) this.canvas.setAttribute("aria-label", words);
    }
    /** Write what a world without a drawing records of a step: a row for each part, those that have changed marked. */
    #writeState(t) {
      if (t === this.#written) return;
      this.#written = t;
      const before = new Map(partsOf(this.episode.frame(Math.max(0, t - 1))));
      const rows = partsOf(this.episode.frame(t)).slice(0, MOST_ROWS);
      byId("state").replaceChildren(
        ...rows.map(
          ([name, value]) => el(
            "tr",
            { class: before.get(name) === value ? null : "changed" },
            el("th", { scope: "row" }, name),
            el("td", null, value)
          )
        )
      );
    }
    /** Write the key: rows that say the same as before are kept, since each sample is a canvas. */
    writeKey() {
      if (!this.shown || !this.drawer?.key) return;
      const rows = /* @__PURE__ */ new Map();
      for (const row of this.drawer.key(this.shown, this.episode)) {
        let name = [row.head, row.words, row.soft, row.state].join("|");
        while (rows.has(name)) name += "+";
        rows.set(name, this.#keptRows.get(name) ?? keyRow(row));
      }
      this.#keptRows = rows;
      const nodes = [...rows.values()];
      const isSame = nodes.length === this.#key.childElementCount && nodes.every((node, k) => this.#key.children[k] === node);
      if (!isSame) this.#key.replaceChildren(...nodes);
    }
    /** Draw all rows of the key anew the next time: the theme has changed. */
    forgetKey() {
      this.#keptRows.clear();
    }
    /** Place in the team of the agent at a point of the canvas, null if there is none. */
    hit(x, y2) {
      let [best, nearest] = [null, Number.POSITIVE_INFINITY];
      for (const [place, spot] of (this.drawn?.agents ?? []).entries()) {
        const far = Math.hypot(spot.x - x, spot.y - y2);
        if (far <= Math.max(spot.radius, NEAR) && far < nearest) [best, nearest] = [place, far];
      }
      return best;
    }
    /** Words on what is at a point of the canvas. */
    wordsAt(x, y2) {
      return (this.shown && this.drawer?.label?.(this.shown, this.episode, x, y2, this.size)) ?? [];
    }
    /** Show more or less of the map; what is at a point of the canvas stays there. */
    zoomAt(factor, x, y2) {
      const { view, size } = this;
      const zoom = clamp(view.zoom * factor, 1, CLOSEST);
      const part = 1 / view.zoom - 1 / zoom;
      view.x += (x / size - 0.5) * part;
      view.y += (y2 / size - 0.5) * part;
      view.zoom = zoom;
      this.move(0, 0);
    }
    /** Move the map by pixels, as far as it goes. */
    move(right, down) {
      const { view, size } = this;
      const half = 0.5 / view.zoom;
      view.x = clamp(view.x - right / size / view.zoom, half, 1 - half);
      view.y = clamp(view.y - down / size / view.zoom, half, 1 - half);
    }
    /** Listen to the pointer; `changed` is called when the picture has to be drawn anew, `clicked` with a place or null. */
    listen(changed, clicked) {
      const { canvas } = this;
      let held = null;
      canvas.addEventListener("pointermove", (event) => {
        if (held && event.buttons && this.drawer?.zooms) {
          const [right, down] = [event.clientX - held.x, event.clientY - held.y];
          this.move(right, down);
          held = { x: event.clientX, y: event.clientY, far: held.far + Math.hypot(right, down) };
          changed();
        }
        showTip(event.buttons ? [] : this.wordsAt(event.offsetX, event.offsetY), event.clientX, event.clientY);
      });
      canvas.addEventListener("pointerdown", (event) => {
        held = { x: event.clientX, y: event.clientY, far: 0 };
      });
      canvas.addEventListener("pointerleave", hideTip);
      canvas.addEventListener("click", (event) => {
        if (!held || held.far < 5) clicked(this.hit(event.offsetX, event.offsetY));
      });
      this.#chooseLayer(changed);
      if (this.drawer?.zooms) this.#listenToZoom(changed);
    }
    #listenToZoom(changed) {
      const zoom = (factor, x = this.size / 2, y2 = this.size / 2) => {
        this.zoomAt(factor, x, y2);
        changed();
      };
      byId("closer").hidden = false;
      onClick({ near: () => zoom(1.6), far: () => zoom(1 / 1.6), whole: () => zoom(0) });
      const onWheel = (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
      };
      this.canvas.addEventListener("wheel", onWheel, { passive: false });
    }
    #chooseLayer(changed) {
      if (!this.drawer?.layers) return;
      const select = byId("layer", HTMLSelectElement);
      this.writeLayers();
      select.addEventListener("change", () => {
        this.layer = select.value;
        changed();
      });
    }
    /** Write the layers that there are; those of what agents know come when that is unpacked. */
    writeLayers() {
      const layers = this.drawer?.layers?.(this.episode) ?? [];
      byId("layers").hidden = layers.length < 2;
      byId("note").textContent = this.drawer?.note?.(this.episode) ?? "";
      const options = layers.map(({ id, words }) => el("option", { value: id, selected: id === this.layer }, words));
      byId("layer").replaceChildren(...options);
    }
  };
  function keyRow({ head, words, samples = [], soft }) {
    if (head) return el("h2", null, head);
    const drawn = samples.map((sample) => {
      if (typeof sample === "string") return el("i", { css: { background: sample } });
      const canvas = el("canvas");
      sample(fit(canvas, SAMPLE, SAMPLE), SAMPLE);
      return canvas;
    });
    return el("p", { class: soft ? "soft" : null }, el("span", { class: "samples" }, drawn), el("span", null, words));
  }
  function partsOf(state) {
    return Object.entries(state).filter(([name]) => name !== "v").flatMap(
      ([name, value]) => value !== null && typeof value === "object" ? Object.entries(value).map(([key, part]) => [`${name} ${key}`, JSON.stringify(part)]) : [[name, JSON.stringify(value)]]
    );
  }

  // src/replay/cost_curves.ts
  function costCurves({ asked, steps: steps2 }) {
    const spent = (read) => {
      const values = new Array(steps2 + 1).fill(0);
      for (const { step, tries } of asked.questions) {
        const until = Math.min(step + 1, steps2);
        for (const one of tries) if (!one.cached) values[until] = (values[until] ?? 0) + read(one);
      }
      let sum = 0;
      return values.map((value) => sum += value);
    };
    const curves = [
      { name: "tokens", values: spent((one) => (one.prompt_tokens ?? 0) + (one.output_tokens ?? 0)), colour: "ready" },
      { name: "USD", values: spent((one) => one.usd ?? 0), colour: "good" }
    ];
    return curves.filter(({ values }) => (values.at(-1) ?? 0) > 0);
  }

  // src/shared/addresses.ts
  var pairAddress = (first, second, step = 0) => `pair?${new URLSearchParams([...namesOf(first, ""), ...namesOf(second, "2")])}${atStep(step)}`;
  var forkAddress = (episode2) => `fork?${new URLSearchParams(namesOf(episode2, ""))}`;
  var atStep = (step) => step ? `#t=${step}` : "";
  var namesOf = ({ run, method, seed, episode: episode2 }, end) => Object.entries({ run, method, seed, episode: episode2 }).map(([name, value]) => [name + end, String(value)]);

  // src/shared/server.ts
  async function ask(address, sent) {
    const headers = { "Content-Type": "application/json" };
    const body = sent === void 0 ? {} : { method: "POST", headers, body: JSON.stringify(sent) };
    const answer = await fetch(address, { ...body, credentials: "omit" });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }
  function whyNot(error) {
    if (error instanceof TypeError) return "the server has ended: start teamworld view again";
    return error instanceof Error ? error.message : String(error);
  }

  // src/replay/fork/changes.ts
  var messageNumber = (episode2, message) => episode2.messages.filter(({ agent, step }) => agent === message.agent && step === message.step).indexOf(message) + 1;
  var questionNumber = (episode2, question) => episode2.asked.of(question.agent).filter(({ kind, step, skipped }) => kind === question.kind && step === question.step && !skipped).indexOf(question) + 1;
  var numbered = (agent, number) => ({
    agent,
    ...number > 1 ? { number } : {}
  });
  function planText({ goal, actions, on_failure = "default" }) {
    const target = goal ? `for ${nameInPlan(goal)} ` : "";
    const ending = on_failure === "default" ? "" : ` on failure ${on_failure}`;
    return `plan ${target}{ ${actions.join("; ")} }${ending}`;
  }
  var nameInPlan = (name) => /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
  function yaml(change) {
    return Object.entries(change).flatMap(([kind, fields]) => [`${kind}:`, ...Object.entries(fields).map(([name, it]) => `  ${name}: ${flow(it)}`)]).join("\n");
  }
  function flow(value) {
    if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
    if (value !== null && typeof value === "object") {
      return `{${Object.entries(value).map(([name, it]) => `${flow(name)}: ${flow(it)}`).join(", ")}}`;
    }
    const text = JSON.stringify(value);
    if (typeof value === "number") return text.replace(/^(-?\d+)e/, "$1.0e");
    return text.replace(UNREADABLE, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  var UNREADABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
  function command({ method, seed, episode: episode2 }, step) {
    const named = `--method ${quoted(method)} --seed ${seed} --episode ${episode2}`;
    return `teamworld fork RUN ${named} --step ${step} --change change.yaml`;
  }
  var quoted = (word) => /^[\w.:=+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

  // src/replay/fork/fork_view.ts
  var BRIEF = 160;
  var NOTE = "RUN is the folder of the run. A page that is started with teamworld view RUN --forks plays it here.";
  var ForkView = class {
    #box = byId("fork", HTMLDialogElement);
    #play = byId("fork-play", HTMLButtonElement);
    #episode;
    #form = null;
    #asked = null;
    #isPlaying = false;
    /** Whether the server plays forks; null until it was asked. */
    #mayPlay = "served" in document.documentElement.dataset ? null : false;
    constructor({ method, seed, episode: episode2 }) {
      const run = new URLSearchParams(location.search).get("run") ?? ".";
      this.#episode = { run, method, seed, episode: episode2 };
      byId("fork-note").textContent = NOTE;
      onClick({
        "fork-close": () => this.#box.close(),
        "fork-copy-file": () => copy("fork-copy-file", "fork-file"),
        "fork-copy-command": () => copy("fork-copy-command", "fork-command"),
        "fork-play": () => this.#playFork()
      });
      this.#box.addEventListener("keydown", (event) => event.stopPropagation());
      this.#box.addEventListener("click", (event) => {
        if (event.target === this.#box) this.#box.close();
      });
      for (const kind of ["input", "change"]) byId("fork-fields").addEventListener(kind, () => this.#read());
    }
    open(form) {
      this.#form = form;
      byId("fork-what").textContent = form.title;
      byId("fork-where").textContent = `step ${form.step}; all before it stays as it was`;
      byId("fork-fields").replaceChildren(...nodesOf(form.fields));
      if (!this.#isPlaying) this.#tell("");
      this.#read();
      if (!this.#box.open) this.#box.showModal();
      byId("fork-what").focus();
      if (this.#mayPlay === null) this.#askServer();
    }
    async #askServer() {
      try {
        this.#mayPlay = await ask("forks");
        this.#show();
      } catch (error) {
        this.#tell(whyNot(error), true);
      }
    }
    /** Read the form, and show what it says. */
    #read() {
      let fault = "";
      this.#asked = null;
      try {
        if (this.#form) this.#asked = { step: this.#form.step, change: this.#form.read() };
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
      }
      byId("fork-fault").hidden = !fault;
      byId("fork-fault").textContent = fault;
      this.#show();
    }
    #show() {
      const asked = this.#asked;
      byId("fork-told").hidden = !asked;
      byId("fork-file").textContent = asked && yaml(asked.change);
      byId("fork-command").textContent = asked && command(this.#episode, asked.step);
      byId("fork-note").hidden = this.#mayPlay === true;
      this.#play.hidden = !this.#mayPlay;
      this.#play.disabled = !asked || this.#isPlaying;
    }
    async #playFork() {
      const [asked, title] = [this.#asked, this.#form?.title ?? ""];
      if (!asked || this.#isPlaying) return;
      this.#isPlaying = true;
      this.#show();
      this.#tell("playing …");
      try {
        const played = await ask(forkAddress(this.#episode), asked);
        this.#tell("");
        this.#list(title, asked, played);
      } catch (error) {
        this.#tell(whyNot(error), true);
      }
      this.#isPlaying = false;
      this.#show();
    }
    #tell(words, isBad = false) {
      byId("fork-state").textContent = words;
      byId("fork-state").classList.toggle("bad", isBad);
    }
    /** Add a fork that was played, the newest first; it stays while other changes are looked at. */
    #list(title, { step, change }, played) {
      const href = pairAddress(this.#episode, played, played.first_difference ?? 0);
      byId("fork-played").hidden = false;
      byId("fork-played").prepend(
        el(
          "li",
          { title: played.folder },
          `${title}, step ${step}: ${outcome(played)} `,
          el("a", { href }, "see both side by side"),
          el("div", { class: "aside" }, inShort(change))
        )
      );
      byId("fork-played").scrollIntoView({ block: "nearest" });
    }
  };
  function inShort(change) {
    const text = yaml(change).replace(/\n\s*/g, " ");
    return text.length > BRIEF ? `${text.slice(0, BRIEF)}…` : text;
  }
  function outcome({ completion: completion2, steps: steps2, first_difference }) {
    if (first_difference === null) return "nothing went otherwise.";
    const [before, after] = completion2.map((share) => share === null ? "none" : `${+(100 * share).toPrecision(3)} %`);
    return `completion ${after} (${before} in the episode), ${steps2[1]} steps (${steps2[0]}), otherwise from step ${first_difference} on.`;
  }
  async function copy(button, id) {
    try {
      await navigator.clipboard.writeText(byId(id).textContent ?? "");
      byId(button).textContent = "copied";
    } catch {
      getSelection()?.selectAllChildren(byId(id));
      byId(button).textContent = "selected";
    }
    setTimeout(() => {
      byId(button).textContent = "copy";
    }, 1500);
  }

  // src/replay/lanes/axis.ts
  var GUTTER = 84;
  var RIGHT2 = 14;
  var CLOSEST2 = 10;
  var Axis = class {
    /** @param length In steps; beside a longer episode it is that one's. */
    constructor(length) {
      this.length = length;
    }
    length;
    width = GUTTER + 120;
    /** The first step in view. */
    from = 0;
    zoom = 1;
    /** How many steps are in view. */
    get visible() {
      return Math.max(1, this.length) / this.zoom;
    }
    /** The end of the view, in steps. */
    get until() {
      return this.from + this.visible;
    }
    x(step) {
      return GUTTER + (step - this.from) * (this.width - GUTTER - RIGHT2) / this.visible;
    }
    step(x) {
      return this.from + this.stepsIn(x - GUTTER);
    }
    /** How many steps some pixels show. */
    stepsIn(pixels) {
      return pixels * this.visible / (this.width - GUTTER - RIGHT2);
    }
    /** Zoom so that a step stays where it is. */
    setZoom(zoom, around) {
      const share = (around - this.from) / this.visible;
      this.zoom = clamp(zoom, 1, Math.max(1, this.length / CLOSEST2));
      this.moveTo(around - share * this.visible);
    }
    /** Let the view begin at a step, as far as it goes. */
    moveTo(from) {
      this.from = clamp(from, 0, Math.max(0, this.length - this.visible));
    }
  };

  // src/replay/lanes/rows.ts
  var GROUPED = 24;
  var OPENED = 48;
  var LARGEST = 32;
  var PACES = ["work", "move", "ready"];
  function paceOf(row) {
    if (row.effect) return "work";
    if (row.moved) return "move";
    return row.ready ? "ready" : null;
  }
  function groupsOf(team) {
    if (team.length <= GROUPED) return [];
    return [...groupBy(team.keys(), (place) => team[place]?.kind)].flatMap(([kind, places]) => {
      const many = Math.ceil(places.length / LARGEST);
      const each = Math.ceil(places.length / many);
      return Array.from({ length: many }, (_, at) => {
        const part = places.slice(at * each, (at + 1) * each);
        return { name: many === 1 && kind ? say(kind) : rangeOf(team, part), places: part };
      });
    });
  }
  function rangeOf(team, places) {
    const [first = "", last = ""] = [places[0], places.at(-1)].map((place) => say(team[place ?? -1]?.name ?? ""));
    return first === last ? first : `${first}–${/\d+$/.exec(last)?.[0] ?? last}`;
  }
  var LaneRows = class {
    constructor(team) {
      this.team = team;
      this.#groups = groupsOf(team);
      this.#open = new Set(team.length <= OPENED ? this.#groups : []);
      this.#list();
    }
    team;
    rows = [];
    #groups;
    #open;
    isOpen(group) {
      return this.#open.has(group);
    }
    toggle(group) {
      if (!this.#open.delete(group)) this.#open.add(group);
      this.#list();
    }
    /** The row of an agent, whose group is opened; -1 for a place that the team does not have. */
    reveal(place) {
      const group = this.#groups.find(({ places }) => places.includes(place));
      if (group && !this.isOpen(group)) this.toggle(group);
      return this.rows.findIndex((row) => "place" in row && row.place === place);
    }
    #list() {
      const agents = (places) => [...places].map((place) => ({ place }));
      this.rows = this.#groups.length ? this.#groups.flatMap((group) => [{ group }, ...this.isOpen(group) ? agents(group.places) : []]) : agents(this.team.keys());
    }
  };
  var GroupPaces = class {
    constructor(lanes, steps2) {
      this.steps = steps2;
      this.#sums = {
        work: new Float64Array(steps2 + 2),
        move: new Float64Array(steps2 + 2),
        ready: new Float64Array(steps2 + 2)
      };
      for (const lane of lanes) this.#add(lane);
      for (const sums of Object.values(this.#sums)) toSums(sums);
    }
    steps;
    /** Sums over the steps before each. */
    #sums;
    failed = /* @__PURE__ */ new Set();
    #add({ paces, runs }) {
      const over = runs.at(-1)?.end ?? 0;
      for (const [at, row] of paces.entries()) {
        const pace = paceOf(row);
        const end = paces[at + 1]?.step ?? over;
        if (!pace || end <= row.step) continue;
        const changes = this.#sums[pace];
        changes[row.step] = (changes[row.step] ?? 0) + 1;
        changes[end] = (changes[end] ?? 0) - 1;
      }
      for (const run of runs) if (run.status === "failed") this.failed.add(run.end - 1);
    }
    /** The mean number of agents that achieved something in the steps from one to another, which is not counted. */
    mean(pace, start, end) {
      const sums = this.#sums[pace];
      return ((sums[end] ?? 0) - (sums[start] ?? 0)) / Math.max(1, end - start);
    }
    /** What the group did in a step, in words. */
    inWords(step) {
      const [work, move, ready] = PACES.map((pace) => this.mean(pace, step, step + 1));
      return `step ${step}: ${work} changed the world, ${move} moved, ${ready} in place and waiting`;
    }
  };
  function toSums(changes) {
    let [count2, sum] = [0, 0];
    for (const [step, change] of changes.entries()) {
      changes[step] = sum;
      count2 += change;
      sum += count2;
    }
  }
  var groupInWords = (group, paces, step, isOpen) => [
    group.name,
    `${plural(group.places.length, "agent")}; enter ${isOpen ? "closes" : "opens"} the group`,
    paces.inWords(step)
  ];

  // src/replay/joint_words.ts
  var NAMED = 6;
  function missing(episode2, joint) {
    if (joint.success) return "";
    const doing = (name) => {
      const span = episode2.lane(name)?.span(joint.start);
      return `${say(name)}${span ? ` (${say(span.action)})` : ""}`;
    };
    const { absent = [], short = 0 } = joint;
    const goal = say(joint.goal);
    const words = [];
    if (short > 0) words.push(`${plural(short, "more agent")} needed`);
    else if ((joint.have.dependency ?? 1) < 1) words.push("nobody; the way was not clear");
    if (absent.length) {
      const more = absent.length > NAMED ? ` and ${absent.length - NAMED} more` : "";
      words.push(`bound to ${goal}, but not in this act: ${absent.slice(0, NAMED).map(doing).join("; ")}${more}`);
    } else if (short > 0) words.push(`nobody else was bound to ${goal}`);
    return words.join("; ");
  }
  function jointInWords(episode2, joint) {
    const result = joint.success ? "success" : `failed, missing: ${missing(episode2, joint) || "not recorded"}`;
    return `${say(joint.goal)}, ${steps(joint.start, joint.end)}: ${result}`;
  }

  // src/replay/lanes/lane_words.ts
  function laneInWords(episode2, place, step) {
    const lane = episode2.team[place];
    if (!lane) return [];
    const lines = [say(lane.name)];
    if (lane.isGone(step)) lines.push(`gone: ${lane.gone_why}`);
    const span = lane.span(step);
    if (span) {
      lines.push(say(span.action), `${steps(span.start, span.end)}, ${episode2.ending(span)}`);
      const pace = lane.pace(step);
      if (pace?.ready) lines.push(`in place, waiting for others at ${say(pace.ready)}`);
      else if (pace?.blocker) lines.push(`in the way at step ${step}: ${say(pace.blocker)}`);
    }
    for (const passed of lane.passed) {
      if (passed.start === step) lines.push(`${say(passed.action)} ${episode2.ending(passed)}`);
    }
    const asked = episode2.asked.at(lane.name, step).filter((question) => question.step === step);
    if (asked.length) lines.push(`asked: ${asked.map(({ kind }) => kind).join(", ")}; enter on the lanes reads it`);
    const hold = lane.hold(step);
    if (hold) {
      lines.push(`committed to ${say(hold.goal)} (${say(hold.cause) || "no cause given"}), let go: ${hold.released}`);
    }
    return lines;
  }
  var MARKS = [
    {
      name: "messages",
      words: ({ messages }, step, near) => {
        const said = messages.filter((message) => isNear(message.step, step, near));
        return said[0] ? [`${plural(said.length, "message")} at step ${said[0].step}`] : [];
      }
    },
    {
      name: "joint acts",
      words: (episode2, step, near) => spanning(episode2.joints, step, near).map((joint) => jointInWords(episode2, joint))
    },
    {
      name: "failures",
      words: ({ failures }, step, near) => spanning(failures, step, near).map(
        ({ label, start, end, text }) => `${label}, ${steps(start, end)}: ${say(text)}`
      )
    },
    {
      name: "goals done",
      words: ({ goals }, step, near) => goals.flatMap(
        ({ id, done }) => done !== void 0 && isNear(done, step, near) ? [`${say(id)} done at step ${done}`] : []
      )
    },
    {
      name: "questions",
      words: ({ asked }, step, near) => {
        const put = asked.questions.filter((question) => !question.skipped && isNear(question.step, step, near));
        if (!put[0]) return [];
        const odd = put.filter(isOdd).length;
        const flawed = odd ? [`${odd} with unusable answers`] : [];
        return [`${plural(put.length, "question")} at step ${put[0].step}`, ...flawed, "click to read"];
      }
    }
  ];
  var isNear = (one, step, near) => Math.abs(one - step) <= near;
  var spanning = (rows, step, near) => rows.filter((row) => row.start - near <= step && step <= row.end + near).slice(0, 4);

  // src/replay/lanes/ruler.ts
  var ROW = 14;
  var NUMBERS = 18;
  var HIGH2 = NUMBERS + MARKS.length * ROW + 4;
  var GAPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4];
  var NEAR2 = 5;
  var middle = (row) => NUMBERS + (row + 0.5) * ROW;
  var Ruler = class {
    constructor(episode2, axis) {
      this.episode = episode2;
      this.axis = axis;
      this.#said = [...new Set(episode2.messages.map((message) => message.step))];
      this.canvas.setAttribute("aria-label", `Ruler of steps with ${MARKS.map(({ name }) => name).join(", ")}`);
    }
    episode;
    axis;
    canvas = byId("ruler", HTMLCanvasElement);
    #said;
    /** Whether the row of questions is at a height. */
    static isQuestions(y2) {
      return rowAt(y2) === MARKS.length - 1;
    }
    /** Words on what is marked at a point. */
    wordsAt(x, y2) {
      if (x < GUTTER) return [];
      return MARKS[rowAt(y2)]?.words(this.episode, this.axis.step(x), this.axis.stepsIn(NEAR2)) ?? [];
    }
    draw(theme) {
      const { axis } = this;
      const pen = fit(this.canvas, axis.width, HIGH2);
      pen.clearRect(0, 0, axis.width, HIGH2);
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      pen.fillStyle = theme.soft;
      for (const [row, { name }] of MARKS.entries()) pen.fillText(name, 12, middle(row));
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER - 6, 0, axis.width - GUTTER + 6, HIGH2);
      pen.clip();
      this.#drawNumbers(pen, theme);
      this.#drawMessages(pen, theme);
      this.#drawJoints(pen, theme);
      this.#drawFailures(pen, theme);
      this.#drawGoals(pen);
      drawQuestions(pen, axis, this.episode.asked.questions, { top: middle(4) - 4, tall: 8, colour: theme.work, theme });
      pen.restore();
    }
    #drawNumbers(pen, theme) {
      const { axis } = this;
      const gap = GAPS.find((every) => axis.x(every) - axis.x(0) >= 46) ?? 2e4;
      pen.textAlign = "center";
      for (let step = Math.ceil(axis.from / gap) * gap; step <= Math.min(axis.length, axis.until); step += gap) {
        const x = axis.x(step);
        pen.fillStyle = theme.soft;
        pen.fillText(String(step), clamp(x, GUTTER, axis.width - 10), NUMBERS / 2);
        pen.fillStyle = theme.line;
        pen.fillRect(x, NUMBERS - 3, 1, HIGH2);
      }
    }
    #drawMessages(pen, theme) {
      pen.fillStyle = theme.work;
      for (const step of this.#said) {
        if (!this.#isInView(step, step)) continue;
        pen.beginPath();
        pen.arc(this.axis.x(step), middle(0), 3, 0, 2 * Math.PI);
        pen.fill();
      }
    }
    /** A success hangs on the upper half, a failure on the lower: told apart without colour too. */
    #drawJoints(pen, theme) {
      for (const { start, end, success } of this.episode.joints) {
        if (!this.#isInView(start, end)) continue;
        pen.fillStyle = success ? theme.good : theme.fail;
        const x = this.axis.x(start);
        pen.fillRect(x, middle(1) + (success ? -4.5 : 0.5), Math.max(2, this.axis.x(end) - x), 4);
      }
    }
    #drawFailures(pen, theme) {
      pen.fillStyle = theme.fail;
      for (const { start, end } of this.episode.failures) {
        if (!this.#isInView(start, end)) continue;
        const x = this.axis.x(start);
        pen.globalAlpha = 0.3;
        pen.fillRect(x, middle(2) - 1, Math.max(1, this.axis.x(end) - x), 2);
        pen.globalAlpha = 1;
        pen.fillRect(x - 1, middle(2) - 4, 2, 8);
      }
    }
    #drawGoals(pen) {
      for (const { id, done } of this.episode.goals) {
        if (done === void 0 || !this.#isInView(done, done)) continue;
        const [x, y2] = [this.axis.x(done), middle(3)];
        pen.fillStyle = this.episode.colour(id);
        pen.beginPath();
        pen.moveTo(x, y2 - 5);
        pen.lineTo(x + 5, y2);
        pen.lineTo(x, y2 + 5);
        pen.lineTo(x - 5, y2);
        pen.fill();
      }
    }
    #isInView(start, end) {
      return end >= this.axis.from && start <= this.axis.until;
    }
  };
  var rowAt = (y2) => Math.floor((y2 - NUMBERS) / ROW);
  function drawQuestions(pen, axis, questions, { top, tall, colour, theme }) {
    const odd = /* @__PURE__ */ new Map();
    for (const question of questions) {
      if (question.step < axis.from || question.step > axis.until) continue;
      if (!question.skipped || odd.has(question.step)) {
        odd.set(question.step, (odd.get(question.step) ?? false) || isOdd(question));
      }
    }
    for (const [step, isOne] of odd) {
      pen.fillStyle = isOne ? theme.fail : colour;
      pen.fillRect(axis.x(step) - 1, isOne ? top - 1 : top, 2, isOne ? tall + 2 : tall);
    }
  }

  // src/replay/lanes/lane_drawing.ts
  var LOW = 24;
  var LanePen = class {
    constructor(pen, axis, episode2, theme) {
      this.pen = pen;
      this.axis = axis;
      this.episode = episode2;
      this.theme = theme;
      pen.textBaseline = "middle";
    }
    pen;
    axis;
    episode;
    theme;
    /** Draw the row of an agent: questions, commitments, actions, and at their foot what they achieved step by step. */
    drawLane(lane, place) {
      const { pen, axis, theme } = this;
      this.#drawName(say(lane.name), place);
      this.#clipped(place, () => {
        const bar = {
          top: place.y + 6,
          tall: place.high - 9,
          foot: place.high < LOW ? 2 : 4,
          letters: place.high < LOW ? 10 : 11
        };
        this.#drawRuns(lane, bar);
        this.#drawPassed(lane, bar.top);
        this.#drawPaces(lane, bar.top + bar.tall - bar.foot, bar.foot);
        for (const { start, end, goal } of lane.holds) {
          if (end < axis.from || start > axis.until) continue;
          pen.fillStyle = this.episode.colour(goal);
          pen.fillRect(axis.x(start), place.y + 2, Math.max(1, axis.x(end) - axis.x(start) - 0.5), 3);
        }
        const questions = this.episode.asked.of(lane.name);
        drawQuestions(pen, axis, questions, { top: place.y + 1, tall: 5, colour: theme.ink, theme });
      });
    }
    /** Draw the row of a group: how many of its agents achieved what, as heights over one another. */
    drawGroup(group, paces, isOpen, place) {
      const { pen, axis, theme } = this;
      const label = group.name.replace(/^\D+(?=\d)/, "");
      this.#drawName(`${isOpen ? "▾" : "▸"} ${label}`, place);
      this.#clipped(place, () => {
        const [foot, tall] = [place.y + place.high - 2, place.high - 4];
        pen.fillStyle = theme.faint;
        pen.fillRect(axis.x(0), place.y + 2, axis.x(paces.steps) - axis.x(0), tall);
        for (let x = Math.max(GUTTER, axis.x(0)); x < Math.min(axis.width, axis.x(paces.steps)); x++) {
          const start = Math.floor(axis.step(x));
          const end = Math.min(paces.steps, Math.max(start + 1, Math.floor(axis.step(x + 1))));
          let top = foot;
          for (const pace of PACES) {
            const high = paces.mean(pace, start, end) / group.places.length * tall;
            pen.fillStyle = theme[pace];
            pen.fillRect(x, top - high, 1, high);
            top -= high;
          }
        }
        pen.fillStyle = theme.fail;
        for (const step of paces.failed) {
          if (step >= axis.from && step <= axis.until) pen.fillRect(axis.x(step + 1) - 2, place.y + 1, 2, 3);
        }
      });
    }
    #drawName(name, { y: y2, high, isChosen }) {
      const { pen, theme } = this;
      if (isChosen) {
        pen.fillStyle = theme.faint;
        pen.fillRect(0, y2, this.axis.width, high);
      }
      pen.fillStyle = isChosen ? theme.ink : theme.soft;
      pen.font = `${isChosen ? 600 : 400} ${high < LOW ? 11 : 12}px system-ui, sans-serif`;
      pen.textAlign = "left";
      pen.fillText(shortened(pen, name, GUTTER - 18), 12, y2 + high / 2);
    }
    #clipped({ y: y2, high }, draw) {
      this.pen.save();
      this.pen.beginPath();
      this.pen.rect(GUTTER, y2, this.axis.width - GUTTER, high);
      this.pen.clip();
      draw();
      this.pen.restore();
    }
    #drawRuns({ runs }, { top, tall, foot, letters }) {
      const { pen, axis, theme } = this;
      pen.font = `${letters}px system-ui, sans-serif`;
      for (const span of runs.slice(Math.max(0, lastAt(runs, axis.from, "start")))) {
        if (span.start > axis.until) break;
        if (span.action.startsWith("wait(")) continue;
        const x = axis.x(span.start);
        const wide = Math.max(1, axis.x(span.end) - x - 1);
        const failed = span.status === "failed";
        pen.fillStyle = failed ? theme.failbar : theme.bar;
        pen.beginPath();
        pen.roundRect(x, top, wide, tall, Math.min(3, wide / 2));
        pen.fill();
        if (failed) {
          pen.fillStyle = theme.fail;
          pen.fillRect(x + wide - 2, top, 2, tall);
        }
        const left = Math.max(x, GUTTER) + 5;
        const label = brief(pen, failed ? "✕ " : "", say(span.action), x + wide - left - 3);
        pen.fillStyle = theme.ink;
        if (label) pen.fillText(label, left, top + (tall - foot) / 2 + 0.5);
      }
    }
    #drawPassed({ passed }, top) {
      const { pen, axis } = this;
      pen.fillStyle = this.theme.fail;
      for (const { start } of passed) {
        if (start < axis.from || start > axis.until) continue;
        const x = axis.x(start);
        pen.beginPath();
        pen.moveTo(x - 3, top);
        pen.lineTo(x + 3, top);
        pen.lineTo(x, top + 5);
        pen.fill();
      }
    }
    /** The foot of the bars: what the agent achieved step by step. Equal rows in a row are one stroke. */
    #drawPaces({ paces, runs }, top, deep) {
      const { pen, axis } = this;
      const over = runs.at(-1)?.end ?? 0;
      for (let at = Math.max(0, lastAt(paces, axis.from, "step")); ; ) {
        const row = paces[at];
        if (!row || row.step > axis.until) return;
        const pace = paceOf(row);
        let next = paces[++at];
        while (next && paceOf(next) === pace) next = paces[++at];
        if (!pace) continue;
        const x = axis.x(row.step);
        const wide = Math.max(0.5, axis.x(next?.step ?? over) - x - 1);
        pen.fillStyle = this.theme[pace];
        if (pace !== "ready") pen.fillRect(x, top, wide, deep);
        else for (let dot = 0; dot < wide; dot += 5) pen.fillRect(x + dot, top, Math.min(2.5, wide - dot), deep);
      }
    }
  };
  function brief(pen, mark, text, room) {
    if (room < 10) return "";
    const verb = text.split("(")[0] ?? "";
    const forms = [mark + text, mark + verb, mark.trim()];
    return forms.find((form) => form && pen.measureText(form).width <= room) ?? "";
  }

  // src/replay/lanes/lanes.ts
  var MARK_HIGH = 8;
  var NEAR3 = 5;
  var Lanes = class {
    constructor(episode2, theme, calls) {
      this.episode = episode2;
      this.calls = calls;
      this.#theme = theme;
      this.axis = new Axis(episode2.steps);
      this.#ruler = new Ruler(episode2, this.axis);
      this.list = new LaneRows(episode2.team);
      const count2 = episode2.team.length;
      this.high = count2 <= 4 ? 38 : count2 <= 8 ? 30 : 22;
      this.#box.style.maxHeight = `max(${this.high * 4}px, 34vh)`;
      this.#stretch();
      this.#listen();
    }
    episode;
    calls;
    axis;
    /** Pixels of a row. */
    high;
    list;
    chosen = null;
    #box = byId("lanes");
    #sky = find(".sky", this.#box);
    #bars = byId("bars", HTMLCanvasElement);
    #cursor = byId("cursor");
    #veil = byId("veil");
    #ruler;
    #groupPaces = /* @__PURE__ */ new Map();
    #theme;
    #at = 0;
    /** The row that the keyboard is on. */
    #focus = -1;
    #dragging = false;
    setZoom(zoom, around = this.#at) {
      this.axis.setZoom(zoom, around);
      this.draw();
    }
    setChosen(place) {
      this.chosen = place;
      if (place !== null) {
        this.#focus = this.list.reveal(place);
        this.#stretch();
        this.#scrollToFocus();
      }
      this.#drawBars();
    }
    /** Put the cursor to a position, and page the view along if it has left it. */
    moveTo(p) {
      this.#at = Math.floor(p);
      if (p < this.axis.from || p > this.axis.until) {
        this.axis.moveTo(p - this.axis.visible * 0.1);
        this.draw();
      }
      const place = `translateX(${this.axis.x(p)}px)`;
      this.#cursor.style.transform = place;
      this.#veil.style.transform = place;
    }
    draw(theme = this.#theme) {
      this.#theme = theme;
      this.axis.width = Math.max(GUTTER + 120, this.#box.clientWidth);
      this.#veil.style.width = `${this.axis.width}px`;
      this.#ruler.draw(theme);
      this.#drawBars();
      this.moveTo(this.#at);
    }
    /** Draw the lanes that are in view. */
    #drawBars() {
      const height = Math.max(1, this.#box.clientHeight);
      const pen = fit(this.#bars, this.axis.width, height);
      pen.clearRect(0, 0, this.axis.width, height);
      const lanes = new LanePen(pen, this.axis, this.episode, this.#theme);
      const top = this.#box.scrollTop;
      const first = Math.max(0, Math.floor(top / this.high));
      for (const [at, row] of this.list.rows.slice(first, Math.ceil((top + height) / this.high)).entries()) {
        const y2 = (first + at) * this.high - top;
        if ("group" in row) {
          const place = { y: y2, high: this.high, isChosen: first + at === this.#focus };
          lanes.drawGroup(row.group, this.#pacesOf(row.group), this.list.isOpen(row.group), place);
        } else {
          const lane = this.episode.team[row.place];
          if (lane) lanes.drawLane(lane, { y: y2, high: this.high, isChosen: row.place === this.chosen });
        }
      }
    }
    #pacesOf(group) {
      const lanes = group.places.flatMap((place) => this.episode.team[place] ?? []);
      const paces = this.#groupPaces.get(group) ?? new GroupPaces(lanes, this.episode.steps);
      this.#groupPaces.set(group, paces);
      return paces;
    }
    /** Give the rows their height. */
    #stretch() {
      this.#sky.style.height = `${this.list.rows.length * this.high}px`;
    }
    #toggle(group) {
      this.list.toggle(group);
      this.#focus = this.list.rows.findIndex((row) => "group" in row && row.group === group);
      this.#stretch();
      this.#drawBars();
    }
    #scrollToFocus() {
      const top = this.#focus * this.high;
      const { scrollTop, clientHeight } = this.#box;
      if (top < scrollTop || top + this.high > scrollTop + clientHeight) this.#box.scrollTop = top - this.high;
    }
    // ---- the pointer
    #listen() {
      this.#box.addEventListener("scroll", () => this.#drawBars());
      for (const canvas of [this.#ruler.canvas, this.#bars]) {
        canvas.addEventListener("pointerdown", (event) => this.#press(event, canvas));
        canvas.addEventListener("pointermove", (event) => {
          if (this.#dragging) this.#jumpTo(event, canvas);
          else showTip(this.#wordsAt(event, canvas), event.clientX, event.clientY);
        });
        const end = () => {
          this.#dragging = false;
        };
        canvas.addEventListener("pointerup", end);
        canvas.addEventListener("pointercancel", end);
        canvas.addEventListener("pointerleave", hideTip);
      }
      byId("chart").addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
      this.#box.addEventListener("keydown", (event) => this.#key(event));
      this.#box.addEventListener("blur", hideTip);
    }
    #press(event, canvas) {
      if (event.button !== 0) return;
      hideTip();
      const [question] = this.#questionsAt(event, canvas);
      const isLane = canvas === this.#bars;
      const row = isLane ? this.list.rows[this.#rowAt(event.offsetY)] : void 0;
      const isName = isLane && event.offsetX < GUTTER;
      if (question) {
        this.calls.ask(question);
        return;
      }
      if (row && "group" in row && isName) this.#toggle(row.group);
      if (row && "place" in row) this.calls.choose(row.place);
      if (isName) return;
      canvas.setPointerCapture(event.pointerId);
      this.#dragging = true;
      this.#jumpTo(event, canvas);
    }
    #jumpTo(event, canvas) {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      const nearest = canvas === this.#ruler.canvas ? 0.5 : 0;
      this.calls.jump(clamp(Math.floor(this.axis.step(x) + nearest), 0, this.axis.length));
    }
    /** The questions whose mark is under the pointer, the nearest first. */
    #questionsAt({ offsetX: x, offsetY: y2 }, canvas) {
      if (x < GUTTER) return [];
      const far = (question) => Math.abs(this.axis.x(question.step) - x);
      return this.#markedAt(y2, canvas).filter((question) => !question.skipped && far(question) <= NEAR3).sort((one, other) => far(one) - far(other));
    }
    #markedAt(y2, canvas) {
      const { asked, team } = this.episode;
      if (canvas === this.#ruler.canvas) return Ruler.isQuestions(y2) ? asked.questions : [];
      const row = this.list.rows[this.#rowAt(y2)];
      if (!row || "group" in row || (y2 + this.#box.scrollTop) % this.high >= MARK_HIGH) return [];
      return asked.of(team[row.place]?.name ?? "");
    }
    #rowAt(y2) {
      return Math.floor((y2 + this.#box.scrollTop) / this.high);
    }
    #wordsAt({ offsetX: x, offsetY: y2 }, canvas) {
      if (canvas === this.#ruler.canvas) return this.#ruler.wordsAt(x, y2);
      const words = this.#rowInWords(this.#rowAt(y2), Math.floor(this.axis.step(Math.max(x, GUTTER))));
      return x < GUTTER ? words.slice(0, 1) : words;
    }
    #rowInWords(at, step) {
      const row = this.list.rows[at];
      const shown = clamp(step, 0, Math.max(0, this.episode.steps - 1));
      if (!row) return [];
      if ("place" in row) return laneInWords(this.episode, row.place, shown);
      return groupInWords(row.group, this.#pacesOf(row.group), shown, this.list.isOpen(row.group));
    }
    #wheel(event) {
      const { axis } = this;
      const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const x = event.clientX - this.#ruler.canvas.getBoundingClientRect().left;
        this.setZoom(axis.zoom * Math.exp(-event.deltaY / 300), axis.step(x));
      } else if (axis.zoom > 1 && isAcross) {
        event.preventDefault();
        axis.moveTo(axis.from + (event.shiftKey ? event.deltaY : event.deltaX) * axis.visible / axis.width);
        this.draw();
      }
    }
    // ---- the keyboard
    #key(event) {
      const row = this.list.rows[this.#focus];
      if (event.key === "Enter" && row) {
        if ("group" in row) this.#toggle(row.group);
        else this.#askAt(row.place);
      }
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      const way = event.key === "ArrowDown" ? 1 : -1;
      this.#focus = clamp(this.#focus + way, 0, this.list.rows.length - 1);
      const next = this.list.rows[this.#focus];
      if (next && "place" in next) this.calls.choose(next.place);
      else this.#drawBars();
      this.#scrollToFocus();
      this.#speak();
    }
    #askAt(place) {
      const [question] = this.episode.asked.at(this.episode.team[place]?.name ?? "", this.#at);
      if (question) this.calls.ask(question);
    }
    /** For those who use the keyboard: what the row that it is on does at the cursor. */
    #speak() {
      const lines = this.#rowInWords(this.#focus, this.#at);
      byId("spoken").textContent = lines.join("; ");
      const box = this.#box.getBoundingClientRect();
      const y2 = box.top + (this.#focus + 0.5) * this.high - this.#box.scrollTop;
      showTip(lines, box.left + this.axis.x(this.#at + 0.5), y2);
    }
  };

  // src/replay/panels/feed.ts
  var WINDOW = 40;
  var Feed = class {
    /**
     * @param groups Ordered by `start`.
     * @param make Makes what a group is shown as.
     * @param nothing What is said where none has begun.
     */
    constructor(box, groups, make, nothing) {
      this.groups = groups;
      this.make = make;
      this.#note = el("p", { class: "empty" }, nothing);
      this.#more.addEventListener("click", () => {
        this.#room += WINDOW;
        this.update(this.#t);
      });
      box.append(this.#note, this.#list, this.#more);
    }
    groups;
    make;
    #list = el("div", { class: "feed" });
    #note;
    #more = el("button", { type: "button", class: "more", hidden: true }, "show earlier ones");
    #shown = [0, 0];
    #newest = null;
    #room = WINDOW;
    #t = 0;
    update(t) {
      this.#t = t;
      const end = lastAt(this.groups, t, "start") + 1;
      const start = Math.max(0, end - this.#room);
      const [from, to] = this.#shown;
      if (start === from && end === to) return;
      if (Math.max(start, from) < Math.min(end, to)) {
        for (let at = end; at < to; at++) this.#list.firstChild?.remove();
        for (let at = from; at < start; at++) this.#list.lastChild?.remove();
        if (end > to) this.#list.prepend(...this.#made(to, end));
        if (start < from) this.#list.append(...this.#made(start, from));
      } else {
        this.#list.replaceChildren(...this.#made(start, end));
      }
      this.#newest?.classList.remove("newest");
      this.#newest = this.#list.firstElementChild;
      this.#newest?.classList.add("newest");
      this.#shown = [start, end];
      this.#note.hidden = end > 0;
      this.#more.hidden = start === 0;
    }
    /** Groups from one place to another as elements, the last one first. */
    #made(start, end) {
      return this.groups.slice(start, end).map(this.make).reverse();
    }
  };

  // src/replay/panels/parts.ts
  function goalChip(episode2, goal) {
    return el("span", { class: "chip" }, el("i", { css: { background: episode2.colour(goal) } }), say(goal));
  }
  function disc(episode2, name, goal) {
    const place = episode2.place.get(name);
    const colour = goal ? episode2.colour(goal) : null;
    const css = colour ? { background: colour, color: inkOn(colour) } : {};
    return el("b", { class: "disc", title: name, css }, String(place ?? (name.slice(0, 1).toUpperCase() || "?")));
  }
  function jumpTo(step, jump, words) {
    return el(
      "button",
      { type: "button", class: "when", title: `Go to step ${step}`, on: { click: () => jump(step) } },
      words
    );
  }
  function changeButton(what, open, words = "change") {
    const click = (event) => {
      event.stopPropagation();
      open();
    };
    return el("button", { type: "button", class: "change", "aria-label": `Change ${what}`, on: { click } }, words);
  }
  function failureTools(words, id, steps2, jump, moment) {
    const go = (step) => {
      if (step !== void 0) jump(step);
    };
    const last = () => go(steps2.findLast((step) => step < moment()));
    const next = () => go(steps2.find((step) => step > moment()));
    return el(
      "div",
      { class: "tools" },
      el("span", { class: "aside" }, words),
      el("button", { type: "button", id: `last${id}`, on: { click: last } }, "‹ failure"),
      el("button", { type: "button", id: `next${id}`, on: { click: next } }, "failure ›")
    );
  }
  function worthInWords({ values = {} }) {
    const signed = (value, digits) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
    const words = Object.entries(values).map(([name, [mean, low, high]]) => {
      const digits = name === "completion" ? 2 : 1;
      const bounds = low === high ? "" : ` [${signed(low, digits)}, ${signed(high, digits)}]`;
      return `${name} ${signed(mean, digits)}${bounds}`;
    });
    return `worth: ${words.join(", ")}`;
  }

  // src/replay/panels/failures.ts
  var NAMED2 = 24;
  function failureFeed(episode2, labels, jump, moment) {
    const box = byId("failures");
    const make = ({ start, end, label, agents, goal, text }) => el(
      "section",
      { class: "joint failed" },
      el(
        "div",
        { class: "row" },
        jumpTo(start, jump, steps(start, end)),
        el("strong", { title: labels[label] }, label),
        goal && goalChip(episode2, goal)
      ),
      el(
        "div",
        { class: "row" },
        agents.slice(0, NAMED2).map((name) => disc(episode2, name, goal)),
        agents.length > NAMED2 && el("span", { class: "aside" }, `and ${agents.length - NAMED2} more`)
      ),
      el("p", { class: "missing" }, say(text)),
      el("p", { class: "rule" }, labels[label])
    );
    const starts = [...new Set(episode2.failures.map(({ start }) => start))];
    if (starts.length) box.append(failureTools("found in the log by rule", "label", starts, jump, moment));
    const nothing = starts.length ? "None began up to this step." : "No rule found a failure in this episode.";
    return new Feed(box, episode2.failures, make, nothing);
  }

  // src/replay/panels/goals.ts
  var Goals = class {
    constructor(episode2, jump) {
      this.episode = episode2;
      this.jump = jump;
      this.#rows = episode2.goals.map((goal) => this.#row(goal));
    }
    episode;
    jump;
    #rows;
    #row(goal) {
      const fill = el("i", { css: { background: this.episode.colour(goal.id) } });
      const state = el("span", { class: "aside" });
      const facts = [goal.weight && `weight ${goal.weight}`, goal.quorum && `needs ${goal.quorum}`];
      const head = el(
        "div",
        { class: "row" },
        goalChip(this.episode, goal.id),
        el("span", { class: "aside" }, facts.filter(Boolean).join(", ")),
        this.#end(goal)
      );
      const progress = el("div", { class: "progress" }, fill);
      byId("goals").append(el("div", { class: "goal", title: goal.label }, head, progress, state));
      return { goal, fill, state };
    }
    #end({ done, lost }) {
      if (done !== void 0) return jumpTo(done, this.jump, `done at ${done}`);
      if (lost !== void 0) return jumpTo(lost, this.jump, `lost at ${lost}`);
      return el("span", { class: "when still" }, "not done");
    }
    update(t) {
      const busy = groupBy(this.episode.team, (lane) => lane.aim(t));
      for (const { goal, fill, state } of this.#rows) {
        const share = this.episode.progress(goal, t);
        fill.style.width = `${(100 * share).toFixed(1)}%`;
        const who = busy.get(goal.id)?.map((lane) => say(lane.name)).join(", ") ?? "nobody";
        const isOver = goal.done !== void 0 && t >= goal.done;
        const by = goal.who ? ` by ${goal.who.map(say).join(", ")}` : "";
        const words = isOver ? `done${by}` : `${Math.round(100 * share)} % of the way; ${who} at it`;
        if (state.textContent !== words) state.textContent = words;
      }
    }
  };

  // src/replay/panels/joints.ts
  var CONSTRAINTS = {
    capability: "able",
    participation: "taking part",
    spatial: "in place",
    temporal: "at once"
  };
  function jointFeed(episode2, jump, moment) {
    const box = byId("joints");
    const make = (joint) => el(
      "section",
      { class: joint.success ? "joint" : "joint failed" },
      el(
        "div",
        { class: "row" },
        jumpTo(joint.start, jump, steps(joint.start, joint.end)),
        goalChip(episode2, joint.goal),
        el("span", { class: "aside" }, `needs ${joint.k}`),
        el("span", { class: "result" }, joint.success ? "✓ success" : "✕ failed")
      ),
      el(
        "div",
        { class: "row" },
        joint.who.map((name) => disc(episode2, name, joint.goal)),
        constraints(joint)
      ),
      !joint.success && el("p", { class: "missing" }, el("strong", null, "Missing: "), missing(episode2, joint) || "not recorded")
    );
    const failed = episode2.joints.filter((joint) => !joint.success).map((joint) => joint.start);
    const good = episode2.joints.length - failed.length;
    if (episode2.joints.length) {
      const words = `${good} went well, ${failed.length} failed (equal steps are one)`;
      box.append(failureTools(words, "fail", failed, jump, moment));
    }
    const nothing = episode2.joints.length ? "None up to this step." : "No joint act was tried in this episode.";
    return new Feed(box, episode2.joints, make, nothing);
  }
  function constraints({ have, need }) {
    return Object.entries(need).map(([name, needed]) => {
      const met = have[name] ?? 0;
      const way = met >= needed ? "way clear" : "way not clear";
      const words = name === "dependency" ? way : `${CONSTRAINTS[name] ?? name} ${met}/${needed}`;
      return el("span", { class: met >= needed ? "have" : "have unmet", title: name }, words);
    });
  }

  // src/replay/panels/knows.ts
  var MOST_ROWS2 = 400;
  var Knows = class {
    constructor(episode2, choose) {
      this.episode = episode2;
      const again = () => this.#again();
      const options = episode2.team.map(({ name }, place) => el("option", { value: place }, say(name)));
      this.#who = el(
        "select",
        { id: "knower", "aria-label": "Who knows", on: { change: () => choose(Number(this.#who.value)) } },
        options
      );
      this.#about = el("select", { id: "known-about", "aria-label": "About what", on: { change: again } });
      this.#words = el("input", {
        id: "known-words",
        type: "search",
        placeholder: "words",
        "aria-label": "Facts with these words",
        on: { input: again }
      });
      if (!episode2.knowledge) {
        const words = "This log does not say what agents perceive and believe: run with --log-level beliefs.";
        this.#box.append(el("p", { class: "empty" }, words));
        return;
      }
      this.#box.append(el("div", { class: "tools" }, this.#who, this.#about, this.#words), this.#list);
      this.setChosen(0);
    }
    episode;
    #box = byId("knows");
    #list = el("div");
    #who;
    #about;
    #words;
    #t = 0;
    #key = "";
    setChosen(place) {
      const name = this.episode.team[place ?? -1]?.name;
      if (!this.episode.knowledge || name === void 0) return;
      this.#who.value = String(place);
      const subjects = this.episode.knowledge.subjects(name);
      this.#about.hidden = !subjects.length;
      this.#about.replaceChildren(
        el("option", { value: "" }, "of the world"),
        ...subjects.map((other) => el("option", { value: other }, `what ${say(other)} knows`))
      );
      this.#again();
    }
    #again() {
      this.#key = "";
      this.update(this.#t);
    }
    update(t) {
      this.#t = t;
      const name = this.episode.team[Number(this.#who.value)]?.name;
      if (!this.episode.knowledge || name === void 0 || this.#box.hidden) return;
      const about = this.#about.value || null;
      const words = this.#words.value.trim().toLowerCase();
      const key = [t, name, about, words].join("|");
      if (key === this.#key) return;
      this.#key = key;
      const rows = this.episode.knowledge.rows(name, about, t).filter(({ text }) => {
        return [text, say(text)].some((form) => form.toLowerCase().includes(words));
      });
      const parts = groupsOf2(rows, about !== null).flatMap(([head, part]) => [
        el("h3", null, `${head} `, el("span", { class: "count" }, String(part.length))),
        ...part.slice(0, MOST_ROWS2).map((row) => this.#row(row)),
        ...part.length > MOST_ROWS2 ? [el("p", { class: "aside" }, `and ${part.length - MOST_ROWS2} more`)] : []
      ]);
      const nothing = el("p", { class: "empty" }, words ? "No fact with these words." : "Nothing.");
      this.#list.replaceChildren(...parts.length ? parts : [nothing]);
    }
    #row({ text, now, age, belief, holds, wrong }) {
      const words = [];
      if (!now && age !== null) {
        words.push(`perceived ${age <= 1 ? "a step" : `${age} steps`} ago${holds === false ? ", not so any more" : ""}`);
      }
      if (belief && (belief.chance < 1 || belief.source !== "own")) {
        const unit = this.episode.ticks ? "tick" : "step";
        words.push(
          `believed to ${percent(belief.chance)}, from ${sourceInWords(belief.source)} since ${unit} ${belief.since}`
        );
      }
      const isUnsure = belief && belief.chance < 1;
      return el(
        "div",
        { class: wrong ? "fact wrong" : now ? "fact" : "fact old" },
        el("span", null, wrong ? "✕ " : "", say(text)),
        isUnsure && el("i", { class: "chance", css: { "--chance": `${100 * belief.chance}%` } }),
        el("span", { class: "aside" }, words.join("; "))
      );
    }
  };
  function groupsOf2(rows, isOfTeammate) {
    const others = rows.filter((row) => !row.wrong && !row.now);
    const groups = [
      [isOfTeammate ? "believed against what it knows" : "believed against the truth", rows.filter((row) => row.wrong)],
      ["perceived now", rows.filter((row) => !row.wrong && row.now)],
      [
        "perceived before",
        others.filter((row) => row.age !== null).sort((one, other) => (one.age ?? 0) - (other.age ?? 0))
      ],
      [isOfTeammate ? "believed, and so" : "believed, not perceived", others.filter((row) => row.age === null)]
    ];
    return groups.filter(([, part]) => part.length);
  }
  var percent = (chance) => `${+(100 * chance).toPrecision(3)} %`;
  var sourceInWords = (source) => source.replace(/^message:(\d+)$/, "a message").replace(/^own$/, "own sight");

  // src/replay/panels/memory.ts
  var NONE = "The method of this episode keeps no world model, or this page was made without its run.";
  var GUIDE = [
    ["done in", ({ attempts, successes }) => `${successes} of ${attempts} attempts`],
    ["work each", ({ progress }) => percent2(progress)],
    ["steps each", ({ steps: steps2 }) => rounded(steps2)],
    ["team", ({ team }) => team === void 0 ? "–" : String(team)],
    ["verdict", ({ verdict }) => verdict]
  ];
  function writeMemory(episode2, memory, jump) {
    const box = byId("memory");
    if (!memory) {
      box.append(el("p", { class: "empty" }, NONE));
      return;
    }
    const { tasks = [], notes = [], added = [], episodes } = memory;
    const plans = tasks.flatMap((task) => task.added ?? []);
    const changed = tasks.toSorted((one, other) => Number(!one.added) - Number(!other.added));
    const words = `learned from ${plural(episodes, "earlier episode")} of the run; this one added ${plural(plans.length, "plan")}`;
    box.append(
      el("p", { class: "bill" }, words),
      ...changed.map((task) => taskPart(episode2, task, jump)),
      ...listPart(
        "notes of earlier episodes",
        notes.map((note) => el("p", { class: "text" }, note))
      ),
      ...listPart(
        "notes that this one added",
        added.map(
          ({ agent, text }) => el("div", { class: "said" }, disc(episode2, agent), el("p", { class: "text" }, text))
        )
      )
    );
  }
  function taskPart(episode2, task, jump) {
    const rows = GUIDE.map(([head, read]) => comparedRow(head, read(task.before), read(task.after)));
    return el(
      "section",
      { class: "task" },
      el("strong", null, say(task.task)),
      comparedTable(rows),
      listPart("plan library", planRows(task)),
      listPart(
        "plans of this episode",
        (task.added ?? []).map((plan) => addedPlan(episode2, plan, jump))
      )
    );
  }
  function planRows({ plans_before = [], plans_after = [] }) {
    const before = new Map(plans_before.map((plan) => [plan.text, plan]));
    return plans_after.map(
      (plan) => el(
        "div",
        null,
        el("code", null, say(plan.text)),
        comparedTable([comparedRow("done in", planInWords(before.get(plan.text)), planInWords(plan))])
      )
    );
  }
  var planInWords = (plan) => plan ? `${plan.successes} of ${plan.attempts}; ${percent2(plan.progress)} of the work in ${rounded(plan.steps)} steps` : "–";
  function addedPlan(episode2, plan, jump) {
    const step = episode2.stepOf(plan.start);
    const cause = plan.cause ? `: ${say(plan.cause.replaceAll("_", " "))}` : "";
    return el(
      "div",
      { class: "row" },
      jumpTo(step, jump, `step ${step}`),
      disc(episode2, plan.agent, plan.goal),
      el("code", null, say(plan.plan)),
      el("span", { class: "aside" }, plan.origin),
      el("span", { class: plan.success ? "aside" : "aside bad" }, plan.success ? "✓ did the goal" : `✕ did not${cause}`)
    );
  }
  function listPart(head, parts) {
    return parts.length ? [el("h3", null, head), ...parts] : [];
  }
  function comparedTable(rows) {
    const heads = ["", "before", "after"].map((head) => el("th", { scope: "col" }, head));
    return el("table", null, el("thead", null, el("tr", null, heads)), el("tbody", null, rows));
  }
  function comparedRow(head, before, after) {
    const cells = [before, after].map((words) => el("td", null, words));
    return el("tr", { class: before === after ? null : "changed" }, el("th", { scope: "row" }, head), cells);
  }
  var percent2 = (share) => share === void 0 ? "–" : `${Math.round(100 * share)} %`;
  var rounded = (value) => value === void 0 ? "–" : String(+value.toFixed(1));

  // src/replay/fork/forms.ts
  function messageForm(episode2, message) {
    const { agent, step, goal } = message;
    const same = numbered(agent, messageNumber(episode2, message));
    const text = area("it says", message.text);
    const task = line("about the task", goal ?? "");
    const words = el("div", { hidden: true, class: "words" }, text.label, task.label);
    const ways = [
      ["drop it: it is not sent, and nobody pays for it", () => ({ drop: true })],
      ["nobody hears it: it is sent and paid for", () => ({ recipients: [] })],
      [
        "another text: facts told beside the old one are gone",
        () => ({
          text: given(text.box, "write what it says instead"),
          ...task.box.value.trim() ? { goal: task.box.value.trim() } : {}
        })
      ]
    ];
    const picks = ways.map(([label], at) => {
      const box = el("input", { type: "radio", name: "way", value: at, checked: at === 0 });
      return { box, label: el("label", { class: "pick" }, box, label) };
    });
    const picked = () => picks.findIndex(({ box }) => box.checked);
    for (const { box } of picks) {
      box.addEventListener("change", () => {
        words.hidden = picked() !== ways.length - 1;
      });
    }
    return {
      title: `Change a message of ${say(agent)}`,
      step,
      fields: [picks.map(({ label }) => label), words],
      read: () => ({ message: { ...same, ...ways[picked()]?.[1]() } })
    };
  }
  function answerForm(episode2, question) {
    const { agent, kind, step } = question;
    const { agent: name, ...number } = numbered(agent, questionNumber(episode2, question));
    const answer = area("the answer, as JSON", JSON.stringify(question.answer, null, 2));
    return {
      title: `Change an answer of ${say(agent)}: ${kind}`,
      step,
      fields: [answer.label],
      read: () => ({ answer: { agent: name, question: kind, ...number, answer: objectOf(answer.box.value) } })
    };
  }
  function planForm(plan) {
    const { agent, start } = plan;
    const text = area("the plan", planText(plan));
    return {
      title: `Change a plan of ${say(agent)}`,
      step: start,
      fields: [text.label],
      read: () => ({ plan: { agent, plan: given(text.box, "write a plan") } })
    };
  }
  function agentForm(agent, step) {
    const method = line("another method plays it, such as do_nothing or greedy", "");
    const reasoner = line("another reasoner answers it, such as rules:noise=0.3, human or a model", "");
    return {
      title: `Hand ${say(agent)} over, from this step on`,
      step,
      fields: [method.label, reasoner.label],
      read: () => {
        const heirs = Object.entries({ method, reasoner }).map(([name, { box }]) => [name, box.value.trim()]);
        const named = heirs.filter(([, value]) => value);
        if (!named.length) throw new Error("name a method, a reasoner, or both");
        return { hand_over: { agents: [agent], ...Object.fromEntries(named) } };
      }
    };
  }
  function area(words, value) {
    const box = el("textarea", { rows: Math.min(12, value.split("\n").length + 2), spellcheck: "false" });
    box.value = value;
    return { box, label: el("label", null, words, box) };
  }
  function line(words, value) {
    const box = el("input", { type: "text", spellcheck: "false" });
    box.value = value;
    return { box, label: el("label", null, words, box) };
  }
  function given(box, otherwise) {
    if (box.value.trim()) return box.value;
    throw new Error(otherwise);
  }
  function objectOf(text) {
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new Error(`this is no JSON: ${error instanceof Error ? error.message : error}`);
    }
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return { ...value };
    throw new Error('expected an object such as {"goal": "block_0"}');
  }

  // src/replay/question_words.ts
  var count = (number) => number.toLocaleString("en");
  var dollars = (usd) => {
    if (usd === 0) return "$0";
    return `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(usd < 1 ? 3 : 2)}`;
  };
  function written(value) {
    if (typeof value === "string") return value;
    return Array.isArray(value) ? value.map(written).join("\n") : JSON.stringify(value);
  }
  var isEmpty = (value) => value === null || value === "" || Array.isArray(value) && !value.length;
  function billOf(tries) {
    if (!tries.length) return [];
    const counted = tries.filter((one) => one.prompt_tokens !== void 0);
    const [sent, came] = [total(counted, (one) => one.prompt_tokens), total(counted, (one) => one.output_tokens)];
    const tokens = counted.length ? `${count(sent)} tokens in, ${count(came)} out` : "tokens not counted";
    return [tokens, price(tries)];
  }
  function price(tries) {
    if (tries.every((one) => one.cached)) return "from the record, at no cost";
    const priced = tries.filter((one) => one.usd !== void 0);
    if (!priced.length) return "price unknown";
    const more = priced.length < tries.length ? " and more, not all prices are known" : "";
    return dollars(total(priced, (one) => one.usd)) + more;
  }
  var FINISHES = { length: "cut at the token limit", refused: "refused" };
  function tryInWords(one) {
    const words = [
      ...billOf([one]),
      one.cached_tokens && `${count(one.cached_tokens)} read from the provider's cache`,
      one.reasoning_tokens && `${count(one.reasoning_tokens)} of reasoning`,
      one.seconds && `${one.seconds} s`,
      one.served && `served by ${one.served}`,
      one.finish && one.finish !== "stop" && (FINISHES[one.finish] ?? one.finish)
    ];
    return words.filter(Boolean).join(" · ");
  }

  // src/replay/panels/questions.ts
  var BRIEF2 = 160;
  var REASONERS = 4;
  function questionFeed(episode2, calls) {
    const box = byId("asked");
    const { questions } = episode2.asked;
    const groups = [...groupBy(questions, ({ start }) => start)].map(([start, rows]) => ({ start, rows }));
    if (questions.length) box.append(...summary(questions));
    const make = ({ start, rows }) => el(
      "section",
      { class: "group" },
      jumpTo(start, calls.jump, `step ${start}`),
      rows.map((question) => questionLine(episode2, question, calls))
    );
    const nothing = questions.length ? "None up to this step." : "No reasoner was asked anything in this episode.";
    return new Feed(box, groups, make, nothing);
  }
  function summary(questions) {
    const put = questions.filter((question) => !question.skipped);
    const flaws = total(put, (question) => question.flaws.length);
    const fallbacks = put.filter((question) => question.fallback).length;
    const words = [
      plural(put.length, "question"),
      put.length < questions.length && `${questions.length - put.length} not asked`,
      flaws && plural(flaws, "unusable answer"),
      fallbacks && plural(fallbacks, "fallback"),
      ...billOf(put.flatMap((question) => question.tries))
    ];
    const who = [...new Set(put.map((question) => question.reasoner))].slice(0, REASONERS);
    return [words.filter(Boolean).join(" · "), who.length ? `answered by ${who.join("; ")}` : ""].filter(Boolean).map((line2) => el("p", { class: "bill" }, line2));
  }
  function questionLine(episode2, question, { ask: ask2, change }) {
    const { agent, flaws, fallback, skipped } = question;
    const row = el(
      "button",
      {
        type: "button",
        class: skipped ? "ask skipped" : "ask",
        title: "Read it whole",
        on: { click: () => ask2(question) }
      },
      disc(episode2, agent),
      el(
        "span",
        null,
        el(
          "span",
          { class: "row" },
          el("strong", null, question.kind),
          flaws.length > 0 && el("span", { class: "aside bad" }, plural(flaws.length, "unusable answer")),
          fallback && el("span", { class: "aside bad" }, "fallback")
        ),
        el("span", { class: "brief" }, say(inShort2(question)))
      )
    );
    if (skipped) return row;
    const open = () => change(answerForm(episode2, question));
    return el("div", { class: "answered" }, row, changeButton(`the answer of ${say(agent)}`, open));
  }
  function inShort2({ skipped, answer }) {
    if (skipped) return `not asked: ${skipped}`;
    const fields = Object.entries(answer).filter(([, value]) => !isEmpty(value));
    const words = fields.map(([name, value]) => `${name}: ${written(value).replaceAll("\n", ", ")}`).join(", ");
    return words.length > BRIEF2 ? `${words.slice(0, BRIEF2)}…` : words || "nothing";
  }

  // src/replay/panels/talk.ts
  function talkFeed(episode2, worths, calls) {
    const box = byId("talk");
    const groups = [];
    for (const message of episode2.messages) {
      const last = groups.at(-1);
      if (last?.start === message.step && last.room === message.room) last.rows.push(message);
      else groups.push({ start: message.step, room: message.room, rows: [message] });
    }
    const whole = worths.find((row) => row.message === void 0 && row.agent === void 0);
    if (whole) {
      const title = "with all messages, less if nobody hears any";
      box.append(el("p", { class: "bill", title }, `all messages: ${worthInWords(whole)}`));
    }
    const worthOf = new Map(worths.map((row) => [row.message, row]));
    const make = ({ start, room, rows }) => el(
      "section",
      { class: "group" },
      jumpTo(start, calls.jump, `step ${start}${room === void 0 ? "" : ` · meeting ${room + 1}`}`),
      rows.map((message) => messageLine(episode2, message, worthOf.get(message.id), calls))
    );
    const nothing = groups.length ? "Nothing was said up to this step." : "No message was sent in this episode.";
    return new Feed(box, groups, make, nothing);
  }
  function messageLine(episode2, message, worth, { jump, change }) {
    const { act, goal, lost = [] } = message;
    const to = recipients(message);
    return el(
      "div",
      { class: "said", on: { click: () => jump(message.step) } },
      disc(episode2, message.agent, goal),
      el(
        "div",
        null,
        el("span", { class: "act" }, act),
        goal && goalChip(episode2, goal),
        to && el("span", { class: "aside" }, to),
        lost.length > 0 && el("span", { class: "aside bad" }, `did not reach ${lost.map(say).join(", ")}`),
        changeButton(`the message of ${say(message.agent)}`, () => change(messageForm(episode2, message))),
        el("p", { class: "text" }, message.text),
        worth && el("p", { class: "worth", title: "with the message, less if nobody hears it" }, worthInWords(worth))
      )
    );
  }
  function recipients({ to, room }) {
    if (!to) return "";
    if (to.length) return `to ${to.map(say).join(", ")}`;
    return room === void 0 ? "nobody was in reach" : "alone";
  }

  // src/replay/panels/team.ts
  var MARKS2 = { next: "", running: "▸", done: "✓", failed: "✕", passed: "⤼", stopped: "…" };
  var GOAL_OPEN = "goal_open";
  var Team = class {
    constructor(episode2, worths, calls) {
      this.episode = episode2;
      this.calls = calls;
      this.#worths = new Map(worths.map((row) => [row.agent, row]));
      this.#cards = episode2.team.map((lane, place) => {
        const node = el("div", { class: "agent", on: { click: () => calls.choose(place) } }, say(lane.name));
        return { lane, node, key: "" };
      });
      this.#box.append(...this.#cards.map(({ node }) => node));
      this.#watch();
    }
    episode;
    calls;
    #box = byId("team");
    #cards;
    #inView = /* @__PURE__ */ new Set();
    #worths;
    /** A card that was chosen and may not be in view yet. */
    #wanted = null;
    #t = 0;
    #watch() {
      const cards = new Map(this.#cards.map((card) => [card.node, card]));
      const observer = new IntersectionObserver(
        (entries) => {
          for (const { target, isIntersecting } of entries) {
            const card = cards.get(target);
            if (!card) continue;
            if (isIntersecting) this.#inView.add(card);
            else this.#inView.delete(card);
          }
          this.update(this.#t);
          this.#scrollTo(this.#wanted);
          this.#wanted = null;
        },
        { root: this.#box, rootMargin: "200px" }
      );
      for (const { node } of this.#cards) observer.observe(node);
    }
    update(t) {
      this.#t = t;
      for (const card of this.#inView) this.#show(card);
    }
    #show(card) {
      const { lane } = card;
      const t = this.#t;
      const [plan, before] = lane.planning(t);
      const [span, hold] = [lane.span(t), lane.hold(t)];
      const isOver = t >= this.episode.steps;
      const key = [
        plan?.plan,
        before?.plan,
        span?.start,
        span?.action,
        hold?.goal,
        hold?.start,
        lane.isGone(t),
        isOver
      ].join();
      if (key === card.key) return;
      card.key = key;
      card.node.replaceChildren(...this.#card(lane, { plan, before, span, hold }));
    }
    #card(lane, state) {
      const { before } = state;
      const worth = this.#worths.get(lane.name);
      const parts = [
        this.#head(lane, state),
        this.#plan(lane, state),
        before && lastPlan(before),
        worth && el(
          "p",
          { class: "worth", title: "Shapley value: what it adds to those that act, against waiting" },
          worthInWords(worth)
        )
      ];
      return parts.filter((part) => part instanceof HTMLElement);
    }
    #head(lane, { plan, hold }) {
      const { episode: episode2 } = this;
      const goal = hold ? [goalChip(episode2, hold.goal)] : plansFor(episode2, plan);
      return el(
        "div",
        { class: "row" },
        disc(episode2, lane.name, lane.aim(this.#t)),
        el("strong", null, say(lane.name)),
        !lane.isGone(this.#t) && changeButton(`who plays ${say(lane.name)}`, () => this.#handOver(lane), "hand over"),
        goal,
        lane.isGone(this.#t) && el("span", { class: "aside" }, `gone: ${lane.gone_why}`),
        plan && el("span", { class: "aside right" }, `${plan.origin} plan, since step ${plan.start}`),
        plan && changeButton(`the plan of ${say(lane.name)}`, () => this.calls.change(planForm(plan)))
      );
    }
    #handOver(lane) {
      this.calls.change(agentForm(lane.name, Math.min(this.#t, this.episode.steps - 1)));
    }
    #plan(lane, { plan, span }) {
      const isWaiting = !plan && (span?.action.startsWith("wait(") ?? false);
      const isStray = span && !isWaiting && (!plan || span.place === void 0);
      if (!plan && !isStray) {
        const isOver = this.#t >= this.episode.steps;
        return el("p", { class: "last" }, isOver ? "the episode is over" : isWaiting ? "no plan, waits" : "no plan");
      }
      const stray = isStray && el("li", { class: "running" }, el("span", { class: "mark" }, MARKS2.running), say(span.action));
      return el(
        "ol",
        { class: "plan" },
        stray,
        plan?.actions.map((action, place) => this.#action(lane, plan, action, place))
      );
    }
    #action(lane, plan, action, place) {
      const [standing, span] = lane.standing(plan, place, this.#t);
      const words = span ? this.episode.ending(span) : "still to come";
      const title = `${action}: ${standing === "running" ? "running" : words}`;
      const mark = MARKS2[standing] && el("span", { class: "mark" }, MARKS2[standing]);
      return el("li", { class: standing, title }, mark || null, say(action));
    }
    setChosen(place) {
      for (const [at, { node }] of this.#cards.entries()) node.classList.toggle("chosen", at === place);
      this.#wanted = this.#cards[place ?? -1] ?? null;
      this.#scrollTo(this.#wanted);
    }
    #scrollTo(card) {
      if (!card) return;
      const { scrollTop, clientHeight } = this.#box;
      const { offsetTop, offsetHeight } = card.node;
      const isInView = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
      if (!isInView) this.#box.scrollTop = offsetTop - 8;
    }
  };
  var plansFor = (episode2, plan) => plan?.goal && [el("span", { class: "aside" }, "plans for"), goalChip(episode2, plan.goal)];
  function lastPlan(plan) {
    const isBad = plan.status === "failed" && plan.ended !== GOAL_OPEN;
    const goal = plan.goal ? ` for ${say(plan.goal)}` : "";
    const words = `last plan${goal}: ${planEnd(plan)} at step ${plan.end}`;
    return el("p", { class: isBad ? "last bad" : "last" }, words);
  }
  function planEnd({ status, ended }) {
    if (ended === GOAL_OPEN) return "carried out, goal still open";
    return `${status}${ended && ended !== status ? ` (${ended.replaceAll("_", " ")})` : ""}`;
  }

  // src/replay/panels/panels.ts
  var Panels = class {
    constructor(episode2, { labels, worths = [] }, calls) {
      this.episode = episode2;
      this.calls = calls;
      const { jump, moment } = calls;
      this.#team = new Team(episode2, worths, calls);
      this.#parts = /* @__PURE__ */ new Map([
        ["team", this.#team],
        ["goals", new Goals(episode2, jump)],
        ["talk", talkFeed(episode2, worths, calls)],
        ["joints", jointFeed(episode2, jump, moment)],
        ["failures", failureFeed(episode2, labels, jump, moment)]
      ]);
      const lists = { talk: episode2.messages, joints: episode2.joints, failures: episode2.failures };
      const counted = { team: episode2.team, goals: episode2.goals, ...lists };
      for (const [id, rows] of Object.entries(counted)) writeCount(id, rows.length);
      const full = Object.entries(lists).find(([, rows]) => rows.length)?.[0] ?? "talk";
      for (const panel of document.querySelectorAll(".panel")) {
        const show = listenToTabs(panel, () => this.update(moment()));
        const tab = panel.querySelector(`#tab-${full}`);
        if (tab instanceof HTMLElement) show(tab);
      }
      find("main").classList.toggle("silent", episode2.messages.length === 0);
    }
    episode;
    calls;
    #team;
    /** Null until knowledge is unpacked. */
    knows = null;
    /** By the id of the tab's panel; only what is on the page is brought up to date. */
    #parts;
    /** Show questions, knowledge and memory, which are unpacked when the page is there already. */
    takeRest(memory) {
      const { questions } = this.episode.asked;
      writeCount("asked", questions.filter((question) => !question.skipped).length);
      this.#parts.set("asked", questionFeed(this.episode, this.calls));
      this.knows = new Knows(this.episode, this.calls.choose);
      this.#parts.set("knows", this.knows);
      writeMemory(this.episode, memory, this.calls.jump);
      this.update(this.calls.moment());
    }
    setChosen(place) {
      this.#team.setChosen(place);
      this.knows?.setChosen(place);
    }
    update(t) {
      for (const [id, part] of this.#parts) if (!byId(id).hidden) part.update(t);
    }
  };
  function writeCount(id, count2) {
    byId(`tab-${id}`).append(el("span", { class: "count" }, String(count2)));
  }
  function listenToTabs(panel, changed) {
    const tabs = [...panel.querySelectorAll("[role=tab]")];
    const show = (shown) => {
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", String(tab === shown));
        tab.tabIndex = tab === shown ? 0 : -1;
        byId(tab.getAttribute("aria-controls") ?? "").hidden = tab !== shown;
      }
      changed();
    };
    for (const [at, tab] of tabs.entries()) {
      tab.addEventListener("click", () => show(tab));
      tab.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        event.preventDefault();
        event.stopPropagation();
        const other = tabs[(at + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length] ?? tab;
        show(other);
        other.focus();
      });
    }
    return show;
  }

  // src/replay/question_view.ts
  var QuestionView = class {
    constructor(episode2, jump) {
      this.episode = episode2;
      this.jump = jump;
      onClick({
        "ask-last": () => this.#move(-1),
        "ask-next": () => this.#move(1),
        "ask-close": () => this.#box.close()
      });
      this.#box.addEventListener("keydown", (event) => {
        event.stopPropagation();
        const isArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
        if (!isArrow || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.#move(event.key === "ArrowLeft" ? -1 : 1);
      });
      this.#box.addEventListener("click", (event) => {
        if (event.target === this.#box) this.#box.close();
      });
    }
    episode;
    jump;
    question = null;
    #box = byId("question", HTMLDialogElement);
    open(question) {
      this.question = question;
      this.jump(question.step);
      const by = question.skipped ? "not asked" : `answered by ${question.reasoner}`;
      byId("asked-what").textContent = `${say(question.agent)}: ${question.kind}`;
      byId("asked-where").textContent = [`step ${question.step}`, by, ...billOf(question.tries)].join(" · ");
      byId("ask-last", HTMLButtonElement).disabled = !this.episode.asked.neighbour(question, -1);
      byId("ask-next", HTMLButtonElement).disabled = !this.episode.asked.neighbour(question, 1);
      byId("ask-answer").replaceChildren(this.#answer(question));
      this.#showPrompt(question, question.tries.length - 1);
      if (!this.#box.open) this.#box.showModal();
      byId("asked-what").focus();
      for (const part of ["ask-answer", "ask-prompt"]) byId(part).scrollTop = 0;
    }
    #move(way) {
      const other = this.question && this.episode.asked.neighbour(this.question, way);
      if (other) this.open(other);
    }
    #answer(question) {
      const { skipped, answer, fallback, tries, flaws } = question;
      if (skipped) {
        const words = `Its protocol asks this, but it was not put: ${skipped}.`;
        return el("div", null, el("h3", null, "Not asked"), el("p", null, words));
      }
      const fields = Object.entries(answer).map(([name, value]) => [
        el("dt", null, name),
        isEmpty(value) ? el("dd", { class: "aside" }, "none") : el("dd", null, written(value))
      ]);
      return el(
        "div",
        null,
        el("h3", null, fallback ? "Fallback: no usable answer came" : "Answer"),
        el("dl", { class: "fields" }, fields),
        tries.length > 1 || flaws.length ? this.#tries(question) : tries.map(tryParts)
      );
    }
    /** Each try with what came of it. */
    #tries(question) {
      return Array.from({ length: Math.max(question.tries.length, question.flaws.length) }, (_, at) => {
        const [one, flaw] = [question.tries[at], question.flaws[at]];
        const came = this.episode.asked.text(one?.text);
        const showPrompt = () => this.#showPrompt(question, at);
        return el(
          "section",
          { class: flaw ? "joint failed" : "joint" },
          el(
            "div",
            { class: "row" },
            el("strong", null, `Try ${at + 1}`),
            el("span", { class: "result" }, flaw ? "✕ not usable" : "✓ usable"),
            one?.turns && el("button", { type: "button", class: "when", on: { click: showPrompt } }, "its prompt")
          ),
          one && tryParts(one),
          came ? el("pre", null, came) : null,
          flaw && el("p", { class: "missing" }, el("strong", null, `${flaw.flaw}: `), flaw.text)
        );
      });
    }
    #showPrompt(question, at) {
      const { asked } = this.episode;
      const { tries, flaws } = question;
      const turns = at < 0 ? [] : turnsOf(question, at);
      this.#box.classList.toggle("short", !turns.length);
      if (!turns.length) {
        byId("ask-prompt").replaceChildren(el("h3", null, "Prompt"), el("p", { class: "aside" }, whyNoPrompt(question)));
        return;
      }
      const came = at === tries.length - 1 && !flaws.length ? asked.text(tries[at]?.text) : "";
      byId("ask-prompt").replaceChildren(
        el("h3", null, tries.length > 1 ? `Prompt of try ${at + 1}, as sent` : "Prompt, as sent"),
        ...turns.map(({ role, text }) => turnOf(role, asked.text(text))),
        ...came ? [el("h3", null, "What came back"), turnOf("assistant", came)] : []
      );
    }
  };
  function tryParts(one) {
    const faults = (one.faults ?? []).map((fault) => el("p", { class: "aside bad" }, fault));
    return [el("p", { class: "aside" }, tryInWords(one)), ...faults];
  }
  var turnOf = (role, text) => el("section", { class: `turn ${role}` }, el("h4", null, role), el("pre", null, text));
  function whyNoPrompt({ skipped, tries, reasoner, kind }) {
    if (skipped) return "No prompt was sent.";
    if (tries.length) return "The prompts were left out of this page.";
    return `No prompt was sent: ${reasoner} answered. teamworld prompts ${kind} --run DIR shows what a model would be sent.`;
  }

  // src/replay/player.ts
  var SPEEDS = [0.5, 1, 2, 4, 8, 16];
  var MARGINS = 84;
  var Player = class {
    constructor(episode2, replay) {
      this.episode = episode2;
      this.clock = new Clock(episode2.steps);
      this.#address = new AddressWriter(this.clock);
      const jump = (step) => this.go(step);
      const choose = (place) => this.choose(place);
      const ask2 = (question) => this.ask?.open(question);
      const forks = new ForkView(replay);
      this.stage = new Stage(episode2);
      const score = { name: "score", values: replay.reward ?? [], colour: "ink" };
      this.curves = new Curves(episode2, [...this.stage.drawer?.curves?.(episode2) ?? [], score], jump);
      this.lanes = new Lanes(episode2, this.theme, { jump, choose, ask: ask2 });
      this.panels = new Panels(episode2, replay, {
        jump,
        choose,
        ask: ask2,
        change: (form) => forks.open(form),
        moment: () => this.step
      });
      this.clock.listen(() => this.render());
      this.#listen();
      this.go(stepOfAddress() ?? 0);
      this.resize();
    }
    episode;
    stage;
    curves;
    lanes;
    panels;
    /** Null until the questions are unpacked. */
    ask = null;
    chosen = null;
    /** The moment that all parts show; -1 if they have to be drawn anew. */
    shown = -1;
    theme = readTheme();
    /** Where it is in the episode; beside another one, the clock of both. */
    clock;
    #address;
    #leader = null;
    get position() {
      return Math.min(this.clock.position, this.episode.steps);
    }
    /** The moment that is shown. */
    get step() {
      return Math.floor(this.position);
    }
    get playing() {
      return this.clock.playing;
    }
    /** Go to a moment and stop there. */
    go(step) {
      this.clock.go(step);
    }
    choose(place) {
      this.#leader?.choose(this, place);
      this.chosen = place;
      this.lanes.setChosen(place);
      this.panels.setChosen(place);
      this.clock.want();
    }
    /** Show questions, knowledge and memory, which are unpacked when the page is there already. */
    takeRest(memory) {
      this.ask = new QuestionView(this.episode, (step) => this.go(step));
      this.panels.takeRest(memory);
      this.stage.writeLayers();
      this.curves.add(costCurves(this.episode));
      this.resize();
    }
    /** Show the episode beside another: the page that holds both leads, and its clock is the clock of this one. */
    follow(leader) {
      this.#leader = leader;
      this.clock = leader.clock;
      this.clock.listen(() => this.render());
      this.#address = null;
      document.body.classList.add("beside");
      this.lanes.axis.length = this.curves.length = leader.clock.steps;
      for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => leader.show(tab.id));
      addEventListener("scroll", () => leader.scroll(scrollY));
      this.resize();
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
        this.#writeStep();
      }
      this.#address?.write();
    }
    #writeStep() {
      const { episode: episode2, step } = this;
      const tick = episode2.ticks ? `, tick ${episode2.tick(step)}` : "";
      byId("step").textContent = `step ${step} / ${episode2.steps}${tick}`;
      const scrub = byId("scrub", HTMLInputElement);
      scrub.value = String(step);
      scrub.style.setProperty("--gone", `${episode2.steps ? 100 * step / episode2.steps : 0}%`);
      if (!this.playing) this.stage.describe();
    }
    resize() {
      const parts = ["header", ".bar", ".curves", ".transport", "#ruler"];
      const rest = MARGINS + total(parts, (part) => find(part).offsetHeight);
      document.documentElement.style.setProperty("--rest", `${rest}px`);
      this.stage.resize();
      this.#redraw();
    }
    /** Draw everything anew at the same moment. */
    #redraw() {
      this.lanes.draw(this.theme);
      this.shown = -1;
      this.clock.want();
    }
    // ---- what the user does
    #listen() {
      onClick({
        first: () => this.go(0),
        last: () => this.go(this.episode.steps),
        back: () => this.clock.move(-1),
        next: () => this.clock.move(1),
        play: () => this.clock.toggle(),
        in: () => this.lanes.setZoom(this.lanes.axis.zoom * 1.6),
        out: () => this.lanes.setZoom(this.lanes.axis.zoom / 1.6),
        fit: () => this.lanes.setZoom(1)
      });
      const scrub = byId("scrub", HTMLInputElement);
      scrub.max = String(this.episode.steps);
      scrub.addEventListener("input", () => this.go(Number(scrub.value)));
      const speed = byId("speed", HTMLSelectElement);
      speed.append(...SPEEDS.map((factor) => el("option", { value: factor, selected: factor === 1 }, `${factor}×`)));
      speed.addEventListener("change", () => {
        this.clock.speed = Number(speed.value);
      });
      this.stage.listen(
        () => this.#redraw(),
        (place) => this.choose(place === this.chosen ? null : place)
      );
      listenToKeys(() => this.clock);
      listenForTheme(() => {
        this.theme = readTheme();
        this.stage.forgetKey();
        this.#redraw();
      });
      addEventListener("hashchange", () => this.go(stepOfAddress() ?? this.step));
      for (const box of [byId("chart"), this.stage.canvas.parentElement]) {
        if (box) new ResizeObserver(() => this.resize()).observe(box);
      }
    }
  };

  // src/replay/main.ts
  var episode;
  var player;
  function begin() {
    const replay = JSON.parse(takeText(byId("data")));
    episode = new Episode(replay);
    writeHeader(replay);
    writeLegend();
    if (!drawerOf(episode)) tellUndrawn(replay);
    player = new Player(episode, replay);
    unpack(byId("packed")).then(takeRest, tellPacked);
  }
  function takeRest(packed) {
    episode.asked = new QuestionLog(packed?.questions ?? [], packed?.lines ?? []);
    episode.knowledge = packed?.knowledge ? new Knowledge(packed.knowledge) : null;
    player.takeRest(packed?.memory ?? null);
  }
  function tellPacked(error) {
    for (const id of ["asked", "knows"]) {
      byId(id).append(`This cannot be unpacked in this browser (${error.message}); newer ones can.`);
    }
  }
  function tellUndrawn({ world, undrawn }) {
    const why = undrawn ? ` (${undrawn})` : "";
    byId("stage").hidden = true;
    byId("nodrawer").hidden = false;
    byId("nodrawer").prepend(
      `There is no drawing for the world ${world}${why}: this is what it records of the step, what has changed in bold.`
    );
  }
  document.addEventListener("DOMContentLoaded", begin);
  return __toCommonJS(main_exports);
})();
