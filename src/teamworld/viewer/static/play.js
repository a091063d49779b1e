// Built from frontend/src/play by "make pages"; change the sources and build again.
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
      for (let key2 of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key2) && key2 !== except)
          __defProp(to, key2, { get: () => from[key2], enumerable: !(desc = __getOwnPropDesc(from, key2)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // src/play/main.ts
  var main_exports = {};
  __export(main_exports, {
    drawers: () => drawers,
    page: () => page
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
  function showTip(lines2, x, y) {
    const tip = byId("tip");
    tip.hidden = !lines2.length;
    if (tip.hidden) return;
    tip.replaceChildren(...lines2.map((line, at) => el(at ? "div" : "strong", null, line)));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(window.innerWidth - width - 8, Math.max(4, x + 14))}px`;
    tip.style.top = `${y + 18 + height > window.innerHeight ? y - height - 12 : y + 18}px`;
  }
  function hideTip() {
    byId("tip").hidden = true;
  }

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
  var say = (text2) => text2.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

  // src/play/fields.ts
  var KEYS = 9;
  var made = 0;
  function nameOf(kind) {
    made += 1;
    return `${kind}${made}`;
  }
  var legend = (field, counter) => el("legend", null, say(field.name), field.words && el("span", { class: "soft" }, field.words), counter);
  var fieldset = (...children) => el("fieldset", { class: "field" }, children);
  var isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  var cleanLines = (text2) => text2.split("\n").map((line) => line.trim()).filter(Boolean);
  function area({ name, longest }, rows2, value) {
    const box = el("textarea", { rows: rows2, "aria-label": say(name), maxlength: longest });
    box.value = value;
    if (longest === null) return { box, counter: null };
    const counter = el("span", { class: "count counter", "aria-hidden": true });
    box.addEventListener("input", () => {
      counter.textContent = box.value.length > longest * 0.6 ? `${box.value.length} of ${longest}` : "";
    });
    return { box, counter };
  }
  var key = (place) => place < KEYS && el("kbd", null, String(place + 1));
  var note = (offer) => offer.note && el("small", null, offer.note);
  var choice = (field, changed) => {
    const name = nameOf("field");
    const box = el("div", { class: "offers", role: "radiogroup", "aria-label": say(field.name) });
    const ownBox = el("input", { type: "radio", name, value: "own", "aria-label": "your own", on: { change: changed } });
    const own = el("input", {
      type: "text",
      placeholder: "your own, in written form",
      "aria-label": `${say(field.name)}: your own`,
      on: {
        input: () => {
          ownBox.checked = true;
        }
      }
    });
    const other = el("label", { class: "offer" }, ownBox, el("span", { class: "words" }, own));
    let offers = [];
    const fill = (fresh, chosen) => {
      offers = fresh;
      const labels = offers.map((offer, place) => {
        const checked = chosen !== void 0 && isSame(offer.value, chosen);
        const radio = el("input", { type: "radio", name, value: place, checked, on: { change: changed } });
        return el(
          "label",
          { class: "offer" },
          radio,
          key(place),
          el("span", { class: "words" }, say(offer.words)),
          note(offer)
        );
      });
      box.replaceChildren(...labels, ...field.is_open ? [other] : []);
    };
    const value = () => {
      const radio = box.querySelector("input:checked");
      if (!radio) return void 0;
      return radio.value === "own" ? own.value.trim() : offers[Number(radio.value)]?.value;
    };
    fill(field.offers, field.is_required ? void 0 : field.default);
    return {
      node: fieldset(legend(field), box),
      value,
      pick: (place) => {
        const radio = box.querySelectorAll("input")[place];
        if (!radio) return;
        radio.checked = true;
        radio.focus();
        changed();
      },
      renew: (fresh) => {
        if (!isSame(fresh.offers, offers)) fill(fresh.offers, value());
      }
    };
  };
  var lines = (field) => {
    const { box, counter } = area(field, 4, Array.isArray(field.default) ? field.default.join("\n") : "");
    box.setAttribute("placeholder", "one on each line");
    const list = el("div", { class: "offers" });
    let offers = [];
    const fill = (fresh) => {
      offers = fresh;
      list.hidden = !offers.length;
      list.replaceChildren(...offers.map((offer, place) => lineOffer(offer, place, box)));
    };
    fill(field.offers);
    return {
      node: el("fieldset", { class: "field lines" }, legend(field, counter), list, box),
      value: () => cleanLines(box.value),
      pick: (place) => list.querySelectorAll("button")[place]?.click(),
      renew: (fresh) => {
        if (!isSame(fresh.offers, offers)) fill(fresh.offers);
      }
    };
  };
  function lineOffer(offer, place, box) {
    const parts = Array.isArray(offer.value) ? offer.value.map(String) : null;
    const take = () => {
      box.value = (parts ?? [...cleanLines(box.value), String(offer.value)]).join("\n");
      box.focus();
    };
    const items = parts?.map((part) => el("li", null, say(part)));
    const words = el("span", { class: "words" }, items ? el("ol", { class: "plan" }, items) : say(offer.words));
    return el("button", { type: "button", class: "offer", on: { click: take } }, key(place), words, note(offer));
  }
  var text = (field) => {
    const isShort = field.longest !== null && field.longest < 100;
    const { box, counter } = area(field, isShort ? 1 : 2, String(field.default ?? ""));
    const value = () => {
      if (box.value.trim() || field.is_required || field.default !== null) return box.value;
      return field.is_nullable ? null : void 0;
    };
    return { node: fieldset(legend(field, counter), box), value };
  };
  var flag = (field) => {
    const box = el("input", { type: "checkbox", checked: field.default === true });
    const words = el("span", null, say(field.name), " ", el("span", { class: "soft" }, field.words));
    return {
      node: el("div", { class: "field" }, el("label", { class: "check" }, box, words)),
      value: () => box.checked
    };
  };
  var number = (field) => {
    const box = el("input", { type: "number", step: "any", "aria-label": say(field.name) });
    box.value = String(field.default ?? "");
    return { node: fieldset(legend(field), box), value: () => box.value === "" ? void 0 : Number(box.value) };
  };
  var rows = (field) => {
    const all = [];
    const list = el("div", { class: "rows" });
    const lists = new Map(field.fields.filter(({ offers }) => offers.length).map((part) => [part, offerList(part)]));
    const add = () => {
      const cells = field.fields.map((part) => cellOf(part, lists.get(part)?.id));
      const row = {
        value: () => {
          const values = cells.map(({ part, value }) => [part.name, value()]);
          return Object.fromEntries(values.filter(([, value]) => value !== void 0));
        }
      };
      const remove = () => {
        all.splice(all.indexOf(row), 1);
        node.remove();
      };
      const button = el("button", { type: "button", "aria-label": "Remove this row", on: { click: remove } }, "−");
      const node = el(
        "div",
        { class: "line" },
        cells.map(({ label }) => label),
        button
      );
      all.push(row);
      list.append(node);
    };
    if (field.is_required) add();
    const more = el("button", { type: "button", on: { click: add } }, "+ row");
    return {
      node: fieldset(legend(field), ...lists.values(), list, more),
      value: () => all.map((row) => row.value())
    };
  };
  var offerList = ({ offers }) => el(
    "datalist",
    { id: nameOf("list") },
    offers.map(({ words }) => el("option", { value: words }))
  );
  function cellOf(part, list) {
    const box = el("input", { type: "text", "aria-label": say(part.name), list });
    const words = `${say(part.name)}${part.kind === "lines" ? ", with ; between" : ""}`;
    const value = () => {
      if (part.kind === "lines") return cleanLines(box.value.replaceAll(";", "\n"));
      if (part.kind === "number") return box.value === "" ? void 0 : Number(box.value);
      return box.value.trim() || !part.is_nullable ? box.value : null;
    };
    return { part, value, label: el("label", { title: part.words }, words, box) };
  }
  var json = (field) => {
    const { box } = area(field, 3, field.default === null ? "" : JSON.stringify(field.default));
    const value = () => {
      if (!box.value.trim()) return void 0;
      try {
        return JSON.parse(box.value);
      } catch {
        throw new Error(`${say(field.name)}: expected JSON`);
      }
    };
    return { node: fieldset(legend(field), box), value };
  };
  var KINDS = { choice, lines, text, flag, number, rows, json };
  var makeField = (field, changed) => KINDS[field.kind](field, changed);

  // src/play/answer_form.ts
  var AnswerForm = class {
    /** Whether what one field offers may depend on another. */
    depends;
    #fields;
    /** Show fields in a box; `changed` is called when a choice is made. */
    constructor(box, fields, changed) {
      this.#fields = fields.map((asked) => ({ asked, field: makeField(asked, changed) }));
      this.depends = fields.filter(({ offers }) => offers.length).length > 1;
      box.replaceChildren(...this.#fields.map(({ field }) => field.node));
    }
    /** The values so far, by name; throws an Error in words where a field cannot be read. */
    values() {
      const values = this.#fields.map(({ asked, field }) => [asked.name, field.value()]);
      return Object.fromEntries(values.filter(([, value]) => value !== void 0));
    }
    /** Words on the first required choice that is not made; empty if all are. */
    lacking() {
      const open = this.#fields.find(({ asked, field }) => asked.is_required && isOpenChoice(asked, field));
      return open ? `choose: ${say(open.asked.name)}` : "";
    }
    /** Take in fields with other offers, after a choice. */
    renew(fields) {
      for (const [at, fresh] of fields.entries()) this.#fields[at]?.field.renew?.(fresh);
    }
    /** Choose an offer of the first field that has some and is not filled in, else of the first. */
    pick(place) {
      const able = this.#fields.filter(({ asked, field }) => field.pick && asked.offers.length);
      const chosen = able.find(({ asked, field }) => isOpenChoice(asked, field)) ?? able.find(({ asked }) => asked.kind === "lines") ?? able[0];
      chosen?.field.pick?.(place);
    }
  };
  var isOpenChoice = (asked, field) => asked.kind === "choice" && field.value() === void 0;

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
  function goalColour(place) {
    const base = PALETTE[place % PALETTE.length] ?? FIRST;
    const round = Math.floor(place / PALETTE.length) % 3;
    if (round === 0) return base;
    return round === 1 ? mix(base, "#000000", 0.38) : mix(base, "#ffffff", 0.45);
  }

  // src/shared/numbers.ts
  var clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  function lastAt(rows2, t, key2) {
    let low = 0;
    let high = rows2.length;
    while (low < high) {
      const middle = low + high >> 1;
      if ((rows2[middle]?.[key2] ?? Number.POSITIVE_INFINITY) <= t) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
  function groupBy(rows2, read) {
    const groups = /* @__PURE__ */ new Map();
    for (const row of rows2) {
      const own = groups.get(read(row));
      if (own) own.push(row);
      else groups.set(read(row), [row]);
    }
    return groups;
  }

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
  function covering(rows2, t) {
    const row = rows2[lastAt(rows2, t, "start")];
    return row && t < row.end ? row : null;
  }

  // src/episode/question_log.ts
  var QuestionLog = class {
    questions;
    #lines;
    #byAgent;
    constructor(rows2, lines2) {
      this.questions = rows2.map((row) => ({ answer: {}, flaws: [], tries: [], ...row, start: row.step }));
      this.#lines = lines2;
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
        const [place = 0, count = 0] = pairs.slice(at, at + 2);
        parts.push(...this.#lines.slice(place, place + count));
      }
      return parts.join("\n");
    }
  };

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

  // src/stage/drawer.ts
  var drawers = {};
  function drawerOf(episode) {
    const name = String(episode.static.drawer ?? episode.world);
    return Object.hasOwn(drawers, name) ? drawers[name] ?? null : null;
  }

  // src/stage/stage.ts
  var CLOSEST = 16;
  var NEAR = 9;
  var MOST_ROWS = 300;
  var SAMPLE = 18;
  var Stage = class {
    constructor(episode) {
      this.episode = episode;
      this.drawer = drawerOf(episode);
      this.layer = this.drawer?.layers?.(episode)[0]?.id ?? null;
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
      const { episode } = this;
      const t = Math.min(Math.floor(p), episode.steps);
      const isOver = t >= episode.steps;
      return {
        t,
        share: p - t,
        theme,
        chosen,
        layer: this.layer,
        view: this.view,
        frame: episode.frame(t),
        next: episode.frame(t + 1),
        joints: isOver ? [] : episode.jointsAt(t),
        team: episode.team.map((lane) => ({
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
      const rows2 = partsOf(this.episode.frame(t)).slice(0, MOST_ROWS);
      byId("state").replaceChildren(
        ...rows2.map(
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
      const rows2 = /* @__PURE__ */ new Map();
      for (const row of this.drawer.key(this.shown, this.episode)) {
        let name = [row.head, row.words, row.soft, row.state].join("|");
        while (rows2.has(name)) name += "+";
        rows2.set(name, this.#keptRows.get(name) ?? keyRow(row));
      }
      this.#keptRows = rows2;
      const nodes = [...rows2.values()];
      const isSame2 = nodes.length === this.#key.childElementCount && nodes.every((node, k) => this.#key.children[k] === node);
      if (!isSame2) this.#key.replaceChildren(...nodes);
    }
    /** Draw all rows of the key anew the next time: the theme has changed. */
    forgetKey() {
      this.#keptRows.clear();
    }
    /** Place in the team of the agent at a point of the canvas, null if there is none. */
    hit(x, y) {
      let [best, nearest] = [null, Number.POSITIVE_INFINITY];
      for (const [place, spot] of (this.drawn?.agents ?? []).entries()) {
        const far = Math.hypot(spot.x - x, spot.y - y);
        if (far <= Math.max(spot.radius, NEAR) && far < nearest) [best, nearest] = [place, far];
      }
      return best;
    }
    /** Words on what is at a point of the canvas. */
    wordsAt(x, y) {
      return (this.shown && this.drawer?.label?.(this.shown, this.episode, x, y, this.size)) ?? [];
    }
    /** Show more or less of the map; what is at a point of the canvas stays there. */
    zoomAt(factor, x, y) {
      const { view, size } = this;
      const zoom = clamp(view.zoom * factor, 1, CLOSEST);
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
      const zoom = (factor, x = this.size / 2, y = this.size / 2) => {
        this.zoomAt(factor, x, y);
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
      ([name, value]) => value !== null && typeof value === "object" ? Object.entries(value).map(([key2, part]) => [`${name} ${key2}`, JSON.stringify(part)]) : [[name, JSON.stringify(value)]]
    );
  }

  // src/play/known_stage.ts
  var KnownStage = class extends Stage {
    #t = 0;
    #me = 0;
    constructor(map, theme) {
      super(episodeOf(map));
      this.listen(
        () => this.redraw(theme()),
        () => {
        }
      );
      if (this.canvas.parentElement) new ResizeObserver(() => this.redraw(theme())).observe(this.canvas.parentElement);
      this.show(map, theme());
    }
    show(map, theme) {
      this.episode = episodeOf(map);
      this.forgetKey();
      this.#t = map.t;
      this.#me = map.me;
      byId("moment").textContent = `after ${plural(map.t, "step")}`;
      this.redraw(theme);
    }
    redraw(theme) {
      this.resize();
      this.draw(0, theme, this.#me);
      this.writeKey();
      this.describe();
    }
    moment(_, theme, chosen) {
      return { ...super.moment(0, theme, chosen), t: this.#t };
    }
  };
  var episodeOf = (map) => new Episode({
    format: 1,
    world: map.world,
    static: map.static,
    frames: [map.frame],
    style: map.style,
    plans: [],
    messages: [],
    joints: [],
    failures: [],
    goals: map.goals.map((id) => ({ id })),
    team: map.team.map(({ name, kind, aim, is_hidden }) => ({
      name,
      kind,
      spans: [],
      paces: [],
      holds: aim ? [{ start: 0, end: 1, goal: aim, role: "", cause: "", released: "" }] : [],
      ...is_hidden ? { gone: 0 } : {}
    }))
  });

  // src/play/prose.ts
  function prose(text2) {
    const box = el("div", { class: "prose" });
    let list = null;
    for (const line of text2.split("\n")) {
      const [, mark, rest = ""] = /^\s*(-|\d+\.|>|###)\s+(.*)$/.exec(line) ?? [];
      const kind = mark === void 0 || mark === ">" || mark === "###" ? null : mark === "-" ? "ul" : "ol";
      if (kind) {
        if (list?.localName !== kind) {
          list = el(kind, { start: kind === "ol" ? Number.parseInt(mark ?? "1", 10) : null });
          box.append(list);
        }
        list.append(el("li", null, inline(rest)));
        continue;
      }
      list = null;
      if (line.trim()) box.append(el(mark === "###" ? "h4" : "p", null, inline(mark ? rest : line)));
    }
    return box;
  }
  function inline(text2) {
    const parts = text2.split(/(`[^`]*`|«[^»]*»)/).filter(Boolean);
    return parts.map((part) => {
      if (part.startsWith("`")) return el("code", null, part.slice(1, -1));
      return part.startsWith("«") ? el("q", null, part.slice(1, -1)) : part;
    });
  }
  function valueInWords(value) {
    if (value === null) return "none";
    if (Array.isArray(value)) return value.map(valueInWords).join("; ");
    return typeof value === "object" ? Object.values(value).map(valueInWords).join(" ") : String(value);
  }

  // src/play/main.ts
  var AGAIN = 1500;
  var PHASES = { asked: "your turn", waiting: "the others play", over: "over" };
  var CONFLICT = 409;
  var Refusal = class extends Error {
    constructor(message, status) {
      super(message);
      this.status = status;
    }
    status;
  };
  var Page = class {
    /** The number of the question that is open; 0 if none is. */
    question = 0;
    #version = 0;
    #form = null;
    #stage = null;
    #theme = readTheme();
    #busy = false;
    constructor() {
      byId("form").addEventListener("submit", (event) => {
        event.preventDefault();
        this.#send();
      });
      addEventListener("keydown", (event) => this.#key(event));
      listenForTheme(() => {
        this.#theme = readTheme();
        this.#stage?.forgetKey();
        this.#stage?.redraw(this.#theme);
      });
      this.#listen();
    }
    // ---- the server
    /** Show what is new, for as long as the run goes on. */
    async #listen() {
      for (; ; ) {
        try {
          const state = await ask(`state?version=${this.#version}`);
          this.#version = state.version;
          this.#show(state);
          if (state.phase === "over") return;
        } catch (error) {
          const lost = "no answer: if the run was stopped, the same command goes on, with a new address";
          showPhase("lost", error instanceof Refusal ? error.message : lost);
          await new Promise((done) => setTimeout(done, AGAIN));
          this.#version = 0;
        }
      }
    }
    async #send() {
      if (this.#busy || !this.#form) return;
      const { question } = this;
      let complaint = this.#form.lacking();
      if (!complaint) {
        this.#setBusy(true);
        complaint = await this.#answer(question, this.#form);
        this.#setBusy(false);
      }
      if (this.question === question) complain(complaint ? [complaint] : []);
    }
    /** Send an answer; returns what is wrong with it, empty if nothing is. */
    async #answer(question, form) {
      try {
        const values = form.values();
        return (await ask("answer", { question, values })).complaint ?? "";
      } catch (error) {
        if (error instanceof Refusal && error.status === CONFLICT) return "";
        return error instanceof Error ? error.message : String(error);
      }
    }
    /** Ask what can be chosen after a choice, where that depends on it. */
    async #changed() {
      const form = this.#form;
      if (!form?.depends) return;
      try {
        const answered = await ask("form", { question: this.question, values: form.values() });
        if (this.#form === form) form.renew(answered.form);
      } catch {
      }
    }
    // ---- showing
    #show(state) {
      const isAsked = state.phase === "asked";
      byId("run").textContent = `teamworld play · ${state.run}`;
      byId("title").textContent = `You are ${say(state.agent)}`;
      showPhase(state.phase, PHASES[state.phase]);
      document.title = `${isAsked ? "● " : ""}${state.agent} · teamworld play`;
      if (isAsked && state.sheet && state.question !== this.question) this.#showQuestion(state.question, state.sheet);
      if (!isAsked) this.#rest(state);
      byId("picture").classList.toggle("old", !isAsked);
      this.#showMap(state.map);
      showPast(state.past);
    }
    #showQuestion(question, sheet) {
      this.question = question;
      byId("ask").textContent = sheet.ask || sheet.title;
      byId("kind").textContent = sheet.ask ? `${sheet.title} (${sheet.kind})` : sheet.kind;
      byId("form").hidden = false;
      byId("idle").hidden = true;
      this.#form = new AnswerForm(byId("fields"), sheet.form, () => this.#changed());
      complain(sheet.complaints);
      const [headed, headless] = [sheet.panels.filter(({ head }) => head), sheet.panels.filter(({ head }) => !head)];
      byId("where").replaceChildren(...nodesOf(inline(headless.map(({ text: text2 }) => text2).join(" "))));
      byId("panels").replaceChildren(...headed.map(card));
      byId("rulebook").replaceChildren(...sheet.rules.map(rule));
      find(".turn").scrollTop = 0;
    }
    #rest({ phase, note: note2 }) {
      const isOver = phase === "over";
      const waiting = "You are asked when it is your turn. What is on this page is as you last knew it.";
      this.question = 0;
      this.#form = null;
      byId("form").hidden = true;
      byId("fields").replaceChildren();
      byId("kind").textContent = "";
      byId("ask").textContent = isOver ? "The run is over" : "The others play";
      byId("idle").hidden = false;
      byId("idle").textContent = isOver ? note2 : waiting;
    }
    #showMap(map) {
      byId("picture").hidden = !map;
      find("main").classList.toggle("blind", !map);
      if (!map) return;
      if (this.#stage) this.#stage.show(map, this.#theme);
      else this.#stage = new KnownStage(map, () => this.#theme);
    }
    #setBusy(busy) {
      this.#busy = busy;
      byId("send", HTMLButtonElement).disabled = busy;
    }
    // ---- the keyboard
    #key(event) {
      const focus = event.target instanceof Element ? event.target : document.body;
      const isWithKey = event.ctrlKey || event.metaKey;
      if (event.key === "Enter" && (isWithKey || focus.matches("input[type=radio]"))) {
        event.preventDefault();
        this.#send();
        return;
      }
      const isTyping = focus.matches("textarea, input:not([type=radio]):not([type=checkbox]), select");
      if (isWithKey || event.altKey || isTyping || !/^[1-9]$/.test(event.key) || !this.#form) return;
      event.preventDefault();
      this.#form.pick(Number(event.key) - 1);
    }
  };
  async function ask(path, body) {
    const headers = { "Content-Type": "application/json" };
    const sent = body === void 0 ? {} : { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(path, { ...sent, cache: "no-store" });
    if (!answer.ok) throw new Refusal(await answer.text(), answer.status);
    return answer.json();
  }
  function showPhase(kind, words) {
    const pill = byId("phase");
    pill.className = `phase ${kind}`;
    if (pill.textContent !== words) pill.textContent = words;
  }
  function complain(complaints) {
    const box = byId("complaint");
    box.hidden = !complaints.length;
    box.replaceChildren(...complaints.map((words) => el("div", null, `This cannot be: ${words}`)));
    if (complaints.length) box.scrollIntoView({ block: "nearest" });
  }
  var card = ({ head, text: text2 }) => el("section", { class: "card", "aria-label": head }, el("h3", null, head), prose(text2));
  var rule = ({ head, text: text2 }) => el("div", null, head ? el("h3", null, head) : null, prose(text2));
  function showPast(past) {
    byId("past").hidden = !past.length;
    byId("answered").textContent = String(past.length);
    byId("answers").replaceChildren(...past.map(answerLine));
  }
  function answerLine({ ask: asked, kind, values }) {
    const parts = Object.entries(values).filter(([, value]) => valueInWords(value)).map(([name, value], at) => [at ? ", " : "", `${say(name)}: `, el("b", null, say(valueInWords(value)))]);
    return el("li", null, el("span", { class: "soft" }, `${asked || kind} `), parts);
  }
  var page;
  document.addEventListener("DOMContentLoaded", () => {
    page = new Page();
  });
  return __toCommonJS(main_exports);
})();
