"use strict";
// What an agent perceives, what it perceived last and when, and what it believes, against what is true: from a log of the
// level `beliefs`. The last moment of an episode is perceived by nobody any more.
(function (tw) {
  const MOST_ROWS = 400;

  /** State of a fold over changes that are ordered by frame: it goes on from moment to moment, or begins anew. */
  class Fold {
    constructor(changes, start, take) {
      Object.assign(this, { changes, start, take, t: Infinity });
    }

    at(t) {
      if (t < this.t) Object.assign(this, { place: 0, state: this.start() });
      this.t = t;
      for (; this.changes[this.place]?.frame <= t; this.place++) this.take(this.state, this.changes[this.place]);
      return this.state;
    }
  }

  class Knowledge {
    constructor(log) {
      Object.assign(this, { truth: [], seen: [], believed: [] }, log);
      const set = (state, { on = [], off = [] }) => {
        for (const fact of off) state.delete(fact);
        for (const fact of on) state.add(fact);
      };
      this.true = new Fold(this.truth, () => new Set(), set);
      this.folds = new Map();
    }

    fold(name, make) {
      if (!this.folds.has(name)) this.folds.set(name, make());
      return this.folds.get(name);
    }

    /** Facts that an agent perceives at moment t, as a set, and the frame in which it last perceived those it does not. */
    perceived(agent, t) {
      const take = (state, { frame, on = [], off = [] }) => {
        for (const fact of off) {
          state.now.delete(fact);
          state.last.set(fact, frame - 1);
        }
        for (const fact of on) {
          state.now.add(fact);
          state.last.delete(fact);
          if (this.about[fact] < 0) continue;
          for (const other of state.last.keys()) if (this.about[other] === this.about[fact]) state.last.delete(other); // it has another value now
        }
      };
      return this.fold(`seen ${agent}`, () => new Fold(this.seen.filter((row) => row.agent === agent), () => ({ now: new Set(), last: new Map() }), take)).at(t);
    }

    /** What an agent believes at moment t, of the world or of what another knows: by fact its chance, tick and source. */
    beliefs(agent, about, t) {
      const take = (state, { held = [], dropped = [] }) => {
        for (const fact of dropped) state.delete(fact);
        for (const { fact, chance = 1, since = 0, source = "own" } of held) state.set(fact, { chance, since, source });
      };
      const own = (row) => row.agent === agent && (row.about ?? null) === about;
      return this.fold(`believed ${agent} ${about}`, () => new Fold(this.believed.filter(own), () => new Map(), take)).at(t);
    }

    /** Teammates of whom an agent believes something, ever. */
    subjects(agent) {
      return [...new Set(this.believed.filter((row) => row.agent === agent && row.about).map((row) => row.about))];
    }

    /** All facts that an agent knows or believes at moment t. */
    rows(agent, about, t) {
      const { now, last } = about === null ? this.perceived(agent, t) : { now: new Set(), last: new Map() };
      const beliefs = this.beliefs(agent, about, t);
      const truth = this.truth.length ? this.true.at(t) : null;
      const own = about === null ? null : this.perceived(about, t); // what the teammate does know
      const itself = (fact) => this.facts[fact].startsWith(`${agent} `); // of itself it perceives all that is so
      const facts = new Set([...now, ...[...last.keys()].filter((fact) => !itself(fact)), ...beliefs.keys()]);
      return [...facts].map((fact) => {
        const holds = own ? own.now.has(fact) || own.last.has(fact) : (truth?.has(fact) ?? null);
        const belief = beliefs.get(fact) ?? null;
        return { fact, text: this.facts[fact], now: now.has(fact), age: last.has(fact) ? t - last.get(fact) : null, belief, holds, wrong: belief !== null && holds !== null && !now.has(fact) && holds !== belief.chance >= 0.5 };
      });
    }
  }

  tw.Knowledge = Knowledge;

  const percent = (chance) => `${+(100 * chance).toPrecision(3)} %`;
  const source = (words) => words.replace(/^message:(\d+)$/, "a message").replace(/^own$/, "own sight");

  /** The panel: one agent's knowledge at the step. */
  class Knows {
    constructor(episode, choose) {
      this.episode = episode;
      this.box = tw.byId("knows");
      this.list = tw.el("div");
      if (!episode.knowledge) {
        this.box.append(tw.el("p", { class: "empty" }, "This log does not say what agents perceive and believe: run with --log-level beliefs."));
        return;
      }
      const options = episode.team.map(({ name }, place) => tw.el("option", { value: place }, tw.say(name)));
      this.who = tw.el("select", { id: "knower", "aria-label": "Who knows", on: { change: () => choose(Number(this.who.value)) } }, options);
      this.about = tw.el("select", { id: "known-about", "aria-label": "About what", on: { change: () => this.again() } });
      this.words = tw.el("input", { id: "known-words", type: "search", placeholder: "words", "aria-label": "Facts with these words", on: { input: () => this.again() } });
      this.box.append(tw.el("div", { class: "tools" }, this.who, this.about, this.words), this.list);
      this.setChosen(0);
    }

    again() {
      this.key = null;
      this.update(this.t);
    }

    setChosen(place) {
      if (!this.who || place === null) return;
      this.who.value = String(place);
      const { name } = this.episode.team[place];
      const subjects = this.episode.knowledge.subjects(name);
      this.about.hidden = !subjects.length;
      this.about.replaceChildren(tw.el("option", { value: "" }, "of the world"), ...subjects.map((other) => tw.el("option", { value: other }, `what ${tw.say(other)} knows`)));
      this.again();
    }

    update(t) {
      this.t = t;
      if (!this.who || t === undefined || this.box.hidden) return;
      const { episode } = this;
      const about = this.about.value || null;
      const words = this.words.value.trim().toLowerCase();
      const key = [t, this.who.value, about, words].join("|");
      if (key === this.key) return;
      this.key = key;
      const { name } = episode.team[Number(this.who.value)];
      const all = episode.knowledge.rows(name, about, t);
      const rows = words ? all.filter((row) => tw.say(row.text).toLowerCase().includes(words) || row.text.toLowerCase().includes(words)) : all;
      const groups = [
        [about ? "believed against what it knows" : "believed against the truth", rows.filter((row) => row.wrong)],
        ["perceived now", rows.filter((row) => !row.wrong && row.now)],
        ["perceived before", rows.filter((row) => !row.wrong && !row.now && row.age !== null).sort((one, other) => one.age - other.age)],
        [about ? "believed, and so" : "believed, not perceived", rows.filter((row) => !row.wrong && !row.now && row.age === null)],
      ];
      const parts = groups.filter(([, part]) => part.length).map(([head, part]) => [
        tw.el("h3", null, `${head} `, tw.el("span", { class: "count" }, String(part.length))),
        part.slice(0, MOST_ROWS).map((row) => this.row(row)), part.length > MOST_ROWS ? tw.el("p", { class: "aside" }, `and ${part.length - MOST_ROWS} more`) : null]);
      this.list.replaceChildren(...(parts.length ? parts.flat(Infinity).filter(Boolean) : [tw.el("p", { class: "empty" }, words ? "No fact with these words." : "Nothing.")]));
    }

    row({ text, now, age, belief, holds, wrong }) {
      const words = [
        now ? null : age !== null ? `perceived ${age <= 1 ? "a step" : `${age} steps`} ago${holds === false ? ", not so any more" : ""}` : null,
        belief && (belief.chance < 1 || belief.source !== "own") ? `believed to ${percent(belief.chance)}, from ${source(belief.source)} since ${this.episode.ticks ? "tick" : "step"} ${belief.since}` : null,
      ].filter(Boolean);
      const bar = belief && belief.chance < 1 ? tw.el("i", { class: "chance", css: { "--chance": `${100 * belief.chance}%` } }) : null;
      return tw.el("div", { class: wrong ? "fact wrong" : now ? "fact" : "fact old" }, tw.el("span", null, wrong ? "✕ " : "", tw.say(text)), bar, tw.el("span", { class: "aside" }, words.join("; ")));
    }
  }

  tw.Knows = Knows;

  /** Layers of the map for what each agent knows, behind the one that shows everything; for drawers that have no own. */
  tw.knowledgeLayers = (episode) => [
    { id: "", words: "everything" },
    ...(episode.knowledge ? episode.team.map(({ name }) => ({ id: name, words: `what ${tw.say(name)} perceives and did` })) : []),
  ];

  /** Where an agent perceives things, or last perceived them: rows of name, row, column and age; the age is 0 for now. */
  tw.sightings = function (episode, agent, t) {
    const { now, last } = episode.knowledge.perceived(agent, t);
    const found = [];
    const add = (fact, age) => {
      const at = /^(?:<(\w+)>\((\d+)\)|(\S+)) AT \((\d+), (\d+)\)$/.exec(episode.knowledge.facts[fact]);
      if (at) found.push({ name: at[3] ?? `${at[1]} ${at[2]}`, row: Number(at[4]), column: Number(at[5]), age });
    };
    for (const fact of now) add(fact, 0);
    for (const [fact, frame] of last) add(fact, t - frame);
    return found;
  };
})(window.teamworld);
