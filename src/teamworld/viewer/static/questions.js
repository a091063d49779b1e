"use strict";
// Questions to reasoners: the list of them, and one of them whole, with its prompt. They come packed, and are unpacked
// once the page is there. All that was sent or answered becomes a text node, see tw.el.
(function (tw) {
  const BRIEF = 160; // characters of an answer in the list

  const count = (number) => number.toLocaleString("en");
  const money = (usd) => (usd === 0 ? "$0" : `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(usd < 1 ? 3 : 2)}`);
  const total = (rows, read) => rows.reduce((sum, row) => sum + (read(row) ?? 0), 0);
  const written = (value) => (typeof value === "string" ? value : Array.isArray(value) ? value.map(written).join("\n") : JSON.stringify(value));
  const isEmpty = (value) => value === null || value === "" || (Array.isArray(value) && !value.length);
  const isOdd = (row) => row.fallback === true || row.flaws.length > 0;

  /** What the tries of some questions took, in words. */
  function bill(tries) {
    if (!tries.length) return [];
    const counted = tries.filter((one) => one.prompt_tokens !== undefined);
    const words = counted.length ? [`${count(total(counted, (one) => one.prompt_tokens))} tokens in, ${count(total(counted, (one) => one.output_tokens))} out`] : ["tokens not counted"];
    const priced = tries.filter((one) => one.usd !== undefined);
    const free = tries.every((one) => one.cached);
    words.push(free ? "from the record, at no cost" : priced.length ? `${money(total(priced, (one) => one.usd))}${priced.length < tries.length ? " and more, not all prices are known" : ""}` : "price unknown");
    return words;
  }

  /** Take in what was unpacked: rows get their places, and the questions of each agent an order. */
  tw.takeQuestions = function (episode, { questions, lines }) {
    const own = new Map();
    episode.lines = lines;
    episode.questions = questions.map((row, place) => ({ flaws: [], tries: [], answer: {}, ...row, start: row.step, place }));
    for (const row of episode.questions) {
      if (!own.has(row.agent)) own.set(row.agent, []);
      own.get(row.agent).push(row);
    }
    episode.asked = own;
  };

  /** Questions that were put to an agent in a step, or in the last one before it in which any was. */
  tw.askedAt = function (episode, name, step) {
    const rows = (episode.asked?.get(name) ?? []).filter((row) => !row.skipped);
    const last = rows[tw.lastAt(rows, step, "start")];
    return last ? rows.filter((row) => row.start === last.start) : [];
  };

  /** Cumulated costs as curves: one value for each moment. */
  tw.costCurves = function (episode) {
    const tries = episode.questions.flatMap((row) => row.tries.map((one) => [row.step, one]));
    const sum = (read) => {
      const values = new Array(episode.steps + 1).fill(0);
      for (const [step, one] of tries) if (!one.cached) values[Math.min(step + 1, episode.steps)] += read(one) ?? 0;
      for (let t = 1; t < values.length; t++) values[t] += values[t - 1];
      return values;
    };
    const curves = [{ name: "tokens", values: sum((one) => (one.prompt_tokens ?? 0) + (one.output_tokens ?? 0)), colour: "ready" }, { name: "USD", values: sum((one) => one.usd), colour: "good" }];
    return curves.filter(({ values }) => values.at(-1) > 0);
  };

  const textOf = (lines, pairs) => {
    const parts = [];
    for (let at = 0; at < (pairs ?? []).length; at += 2) parts.push(...lines.slice(pairs[at], pairs[at] + pairs[at + 1]));
    return parts.join("\n");
  };

  /** All turns that a try was sent: those of the try before that it begins with, and its own. */
  function turnsOf(row, at) {
    const { kept = 0, turns = [] } = row.tries[at];
    return [...(kept ? turnsOf(row, at - 1).slice(0, kept) : []), ...turns];
  }

  const inShort = (row) => {
    if (row.skipped) return `not asked: ${row.skipped}`;
    const words = Object.entries(row.answer).filter(([, value]) => !isEmpty(value)).map(([name, value]) => `${name}: ${written(value).replaceAll("\n", ", ")}`).join(", ");
    return words.length > BRIEF ? `${words.slice(0, BRIEF)}…` : words || "nothing";
  };

  /** Marks of what went wrong with a question. */
  const marks = (row) => [
    row.flaws.length ? tw.el("span", { class: "aside bad" }, tw.plural(row.flaws.length, "unusable answer")) : null,
    row.fallback ? tw.el("span", { class: "aside bad" }, "fallback") : null,
  ];

  /** The list of questions up to the step. */
  tw.questionFeed = function (episode, jump, open) {
    const groups = [];
    for (const row of episode.questions) {
      if (groups.at(-1)?.start === row.start) groups.at(-1).rows.push(row);
      else groups.push({ start: row.start, rows: [row] });
    }
    const line = (row) =>
      tw.el("button", { type: "button", class: row.skipped ? "ask skipped" : "ask", title: "Read it whole", on: { click: () => open(row) } },
        tw.disc(episode, row.agent),
        tw.el("span", null, tw.el("span", { class: "row" }, tw.el("strong", null, row.kind), marks(row)), tw.el("span", { class: "brief" }, tw.say(inShort(row)))));
    const make = (group) => tw.el("section", { class: "group" },
      tw.el("button", { type: "button", class: "when", title: `Go to step ${group.start}`, on: { click: () => jump(group.start) } }, `step ${group.start}`), group.rows.map(line));
    const asked = episode.questions.filter((row) => !row.skipped);
    const tries = asked.flatMap((row) => row.tries);
    const again = total(asked, (row) => row.flaws.length);
    const stood = asked.filter((row) => row.fallback).length;
    const words = [tw.plural(asked.length, "question"), asked.length < episode.questions.length && `${episode.questions.length - asked.length} not asked`,
      again && tw.plural(again, "unusable answer"), stood && tw.plural(stood, "fallback"), ...bill(tries)];
    const box = tw.byId("asked");
    if (episode.questions.length) {
      box.append(tw.el("p", { class: "bill" }, words.filter(Boolean).join(" · ")));
      const who = [...new Set(asked.map((row) => row.reasoner))].slice(0, 4);
      if (who.length) box.append(tw.el("p", { class: "bill" }, `answered by ${who.join("; ")}`));
    }
    return new tw.Feed(box, groups, make, episode.questions.length ? "None up to this step." : "No reasoner was asked anything in this episode.");
  };

  /** One question whole: its prompt, its answer, and what was wrong with the answers before. */
  class QuestionView {
    constructor(episode, jump) {
      this.episode = episode;
      this.jump = jump;
      this.box = tw.byId("question");
      for (const [id, act] of [["ask-last", () => this.move(-1)], ["ask-next", () => this.move(1)], ["ask-close", () => this.box.close()]]) {
        tw.byId(id).addEventListener("click", act);
      }
      this.box.addEventListener("keydown", (event) => {
        event.stopPropagation(); // the keys of the page are not for what lies below
        const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (way === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.move(way);
      });
      this.box.addEventListener("click", (event) => event.target === this.box && this.box.close());
    }

    neighbour(way) {
      const own = this.episode.asked.get(this.row.agent);
      return own[own.indexOf(this.row) + way];
    }

    move(way) {
      const other = this.neighbour(way);
      if (other) this.open(other);
    }

    open(row) {
      this.row = row;
      this.jump(row.step);
      tw.byId("asked-what").textContent = `${tw.say(row.agent)}: ${row.kind}`;
      tw.byId("asked-where").textContent = [`step ${row.step}`, row.skipped ? "not asked" : `answered by ${row.reasoner}`, ...bill(row.tries)].join(" · ");
      tw.byId("ask-last").disabled = !this.neighbour(-1);
      tw.byId("ask-next").disabled = !this.neighbour(1);
      tw.byId("ask-answer").replaceChildren(this.answer(row));
      this.showPrompt(row, row.tries.length - 1);
      if (!this.box.open) this.box.showModal();
      tw.byId("asked-what").focus();
      for (const part of ["ask-answer", "ask-prompt"]) tw.byId(part).scrollTop = 0;
    }

    answer(row) {
      if (row.skipped) return tw.el("div", null, tw.el("h3", null, "Not asked"), tw.el("p", null, `Its protocol asks this, but it was not put: ${row.skipped}.`));
      const fields = Object.entries(row.answer).map(([name, value]) => [tw.el("dt", null, name), tw.el("dd", { class: isEmpty(value) ? "aside" : null }, isEmpty(value) ? "none" : written(value))]);
      const head = tw.el("h3", null, row.fallback ? "Fallback: no usable answer came" : "Answer");
      const tries = row.tries.length > 1 || row.flaws.length ? this.tries(row) : row.tries.map((one) => this.spent(one));
      return tw.el("div", null, head, tw.el("dl", { class: "fields" }, fields), tries);
    }

    spent(one) {
      const extra = [one.cached_tokens ? `${count(one.cached_tokens)} read from the provider's cache` : null, one.reasoning_tokens ? `${count(one.reasoning_tokens)} of reasoning` : null,
        one.seconds ? `${one.seconds} s` : null, one.served ? `served by ${one.served}` : null, one.finish && one.finish !== "stop" ? { length: "cut at the token limit", refused: "refused" }[one.finish] ?? one.finish : null];
      return [tw.el("p", { class: "aside" }, [...bill([one]), ...extra.filter(Boolean)].join(" · ")), (one.faults ?? []).map((fault) => tw.el("p", { class: "aside bad" }, fault))];
    }

    /** Each try with what came of it. */
    tries(row) {
      const many = Math.max(row.tries.length, row.flaws.length);
      return Array.from({ length: many }, (_, at) => {
        const one = row.tries[at];
        const flaw = row.flaws[at];
        const came = one ? textOf(this.episode.lines, one.text) : "";
        const pick = one?.turns ? tw.el("button", { type: "button", class: "when", on: { click: () => this.showPrompt(row, at) } }, "its prompt") : null;
        return tw.el("section", { class: flaw ? "joint failed" : "joint" },
          tw.el("div", { class: "row" }, tw.el("strong", null, `Try ${at + 1}`), tw.el("span", { class: "result" }, flaw ? "✕ not usable" : "✓ usable"), pick),
          one ? this.spent(one) : null, came ? tw.el("pre", null, came) : null,
          flaw ? tw.el("p", { class: "missing" }, tw.el("strong", null, `${flaw.flaw}: `), flaw.text) : null);
      });
    }

    showPrompt(row, at) {
      const box = tw.byId("ask-prompt");
      const turns = at >= 0 ? turnsOf(row, at) : [];
      this.box.classList.toggle("short", !turns.length);
      const head = tw.el("h3", null, row.tries.length > 1 ? `Prompt of try ${at + 1}, as sent` : "Prompt, as sent");
      if (turns.length) {
        const came = at === row.tries.length - 1 && !row.flaws.length ? textOf(this.episode.lines, row.tries[at].text) : "";
        box.replaceChildren(head, ...turns.map((turn) => this.turn(turn.role, textOf(this.episode.lines, turn.text))), ...(came ? [tw.el("h3", null, "What came back"), this.turn("assistant", came)] : []));
        return;
      }
      const why = row.skipped ? "No prompt was sent." : !row.tries.length
        ? `No prompt was sent: ${row.reasoner} answered. teamworld prompts ${row.kind} --run DIR shows what a model would be sent.`
        : "The prompts were left out of this page.";
      box.replaceChildren(tw.el("h3", null, "Prompt"), tw.el("p", { class: "aside" }, why));
    }

    turn(role, text) {
      return tw.el("section", { class: `turn ${role}` }, tw.el("h4", null, role), tw.el("pre", null, text));
    }
  }

  tw.QuestionView = QuestionView;
  tw.isOddQuestion = isOdd;
})(window.teamworld);
