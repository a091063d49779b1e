"use strict";
// The page of a person: shows what the server has, sends what is answered, and asks again when the line was cut.
(function (tw) {
  const el = tw.el;
  const AGAIN = 1500; // milliseconds until a server that does not answer is asked again
  const PHASES = { asked: "your turn", waiting: "the others play", over: "over" };

  // ---- words

  /** A prompt's part as elements: lists, code and quotations; everything is text. */
  function prose(text) {
    const box = el("div", { class: "prose" });
    let list = null;
    for (const line of text.split("\n")) {
      const [, mark, rest] = /^\s*(-|\d+\.|>|###)\s+(.*)$/.exec(line) ?? [];
      if (!line.trim()) list = null;
      else if (mark === "###") {
        list = null;
        box.append(el("h4", null, inline(rest)));
      }
      else if (mark === undefined || mark === ">") {
        list = null;
        box.append(el("p", null, inline(mark ? rest : line)));
      } else {
        const kind = mark === "-" ? "ul" : "ol";
        if (list?.localName !== kind) box.append((list = el(kind, kind === "ol" ? { start: parseInt(mark, 10) } : null)));
        list.append(el("li", null, inline(rest)));
      }
    }
    return box;
  }

  const inline = (text) => text.split(/(`[^`]*`|«[^»]*»)/).filter(Boolean).map((part) =>
    part.startsWith("`") ? el("code", null, part.slice(1, -1)) : part.startsWith("«") ? el("q", null, part.slice(1, -1)) : part);

  const card = ({ head, text }) => el("section", { class: "card", "aria-label": head }, el("h3", null, head), prose(text));
  const plainValue = (value) => (value === null ? "none" : Array.isArray(value) ? value.map(plainValue).join("; ") : typeof value === "object" ? Object.values(value).map(plainValue).join(" ") : String(value));

  // ---- the picture: one moment, drawn by the drawers of the replay

  class KnownStage extends tw.Stage {
    moment(p, theme, chosen) {
      return { ...super.moment(0, theme, chosen), t: this.t };
    }
  }

  /** The episode that a drawer reads: what the agent knows at one moment. */
  const episodeOf = (map) => new tw.Episode({
    format: 1, world: map.world, static: map.static, frames: [map.frame], style: map.style, plans: [], messages: [], joints: [], failures: [], perceived: [],
    goals: map.goals.map((id) => ({ id })),
    team: map.team.map(({ name, kind, aim, is_hidden }) => ({
      name, kind, spans: [], paces: [], holds: aim ? [{ start: 0, end: 1, goal: aim }] : [], ...(is_hidden ? { gone: 0 } : {}),
    })),
  });

  class Page {
    constructor() {
      this.version = 0;
      this.question = 0;
      this.form = null;
      this.stage = null;
      this.theme = tw.theme();
      this.busy = false;
      tw.byId("form").addEventListener("submit", (event) => {
        event.preventDefault();
        this.send();
      });
      this.keys();
      this.looks();
      this.listen();
    }

    // ---- the server

    async ask(path, body) {
      const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      const answer = await fetch(path, { ...options, cache: "no-store" });
      if (answer.ok) return answer.json();
      throw Object.assign(new Error(await answer.text()), { status: answer.status });
    }

    /** Show what is new, for as long as the run goes on. */
    async listen() {
      for (;;) {
        try {
          const state = await this.ask(`state?version=${this.version}`);
          this.version = state.version;
          this.show(state);
          if (state.phase === "over") return;
        } catch (error) {
          this.phase("lost", error.status ? error.message : "no answer: if the run was stopped, the same command goes on, with a new address");
          await new Promise((done) => setTimeout(done, AGAIN));
          this.version = 0;
        }
      }
    }

    async send() {
      if (this.busy || !this.form) return;
      let complaint = this.form.lacking();
      const { question } = this;
      if (!complaint) {
        this.setBusy(true);
        try {
          complaint = (await this.ask("answer", { question, values: this.form.values() })).complaint;
        } catch (error) {
          complaint = error.status === 409 ? "" : error.message;
        }
        this.setBusy(false);
      }
      if (this.question === question) this.complain(complaint ? [complaint] : []);
    }

    /** Ask what can be chosen after a choice, where that depends on it. */
    async changed() {
      const { form, question } = this;
      if (!form?.depends) return;
      try {
        const answered = await this.ask("form", { question, values: form.values() });
        if (this.form === form) form.renew(answered.form);
      } catch {
        // the question is over, or the line was cut: the next news says which
      }
    }

    // ---- showing

    show(state) {
      tw.byId("run").textContent = `teamworld play · ${state.run}`;
      tw.byId("title").textContent = `You are ${tw.say(state.agent)}`;
      this.phase(state.phase, PHASES[state.phase]);
      document.title = `${state.phase === "asked" ? "● " : ""}${state.agent} · teamworld play`;
      if (state.phase === "asked" && state.question !== this.question) this.showQuestion(state);
      if (state.phase !== "asked") this.rest(state);
      tw.byId("picture").classList.toggle("old", state.phase !== "asked");
      this.showMap(state.map);
      this.showPast(state.past);
    }

    phase(kind, words) {
      const pill = tw.byId("phase");
      pill.className = `phase ${kind}`;
      if (pill.textContent !== words) pill.textContent = words;
    }

    showQuestion(state) {
      const { sheet } = state;
      this.question = state.question;
      tw.byId("ask").textContent = sheet.ask || sheet.title;
      tw.byId("kind").textContent = sheet.ask ? `${sheet.title} (${sheet.kind})` : sheet.kind;
      tw.byId("form").hidden = false;
      tw.byId("idle").hidden = true;
      this.form = new tw.AnswerForm(tw.byId("fields"), sheet.form, () => this.changed());
      this.complain(sheet.complaints);
      tw.byId("where").replaceChildren(...inline(sheet.panels.filter(({ head }) => !head).map(({ text }) => text).join(" ")));
      tw.byId("panels").replaceChildren(...sheet.panels.filter(({ head }) => head).map(card));
      tw.byId("rulebook").replaceChildren(...sheet.rules.map(({ head, text }) => el("div", null, head ? el("h3", null, head) : null, prose(text))));
      document.querySelector(".turn").scrollTop = 0;
    }

    rest(state) {
      this.question = 0;
      this.form = null;
      tw.byId("form").hidden = true;
      tw.byId("fields").replaceChildren();
      tw.byId("kind").textContent = "";
      const isOver = state.phase === "over";
      tw.byId("ask").textContent = isOver ? "The run is over" : "The others play";
      tw.byId("idle").hidden = false;
      tw.byId("idle").textContent = isOver ? state.note : "You are asked when it is your turn. What is on this page is as you last knew it.";
    }

    complain(complaints) {
      const box = tw.byId("complaint");
      box.hidden = !complaints.length;
      box.replaceChildren(...complaints.map((words) => el("div", null, `This cannot be: ${words}`)));
      if (complaints.length) box.scrollIntoView({ block: "nearest" });
    }

    setBusy(busy) {
      this.busy = busy;
      tw.byId("send").disabled = busy;
    }

    showMap(map) {
      tw.byId("picture").hidden = !map;
      document.querySelector("main").classList.toggle("blind", !map);
      if (!map) return;
      const episode = episodeOf(map);
      if (!this.stage) {
        this.stage = new KnownStage(tw.byId("stage"), episode);
        this.stage.listen(() => this.draw(), () => {});
        new ResizeObserver(() => this.draw()).observe(this.stage.canvas.parentElement);
      }
      Object.assign(this.stage, { episode, t: map.t });
      this.me = map.me;
      tw.byId("moment").textContent = `after ${tw.plural(map.t, "step")}`;
      this.draw();
    }

    draw() {
      if (!this.stage) return;
      this.stage.resize();
      this.stage.draw(0, this.theme, this.me);
      this.stage.writeKey();
      const { drawer, canvas, shown, episode } = this.stage;
      if (drawer?.words && shown) canvas.setAttribute("aria-label", drawer.words(shown, episode));
    }

    showPast(past) {
      tw.byId("past").hidden = !past.length;
      tw.byId("answered").textContent = String(past.length);
      tw.byId("answers").replaceChildren(...past.map(({ ask, kind, values }) =>
        el("li", null, el("span", { class: "soft" }, `${ask || kind} `), Object.entries(values).filter(([, value]) => plainValue(value)).map(([name, value], at) => [at ? ", " : "", `${tw.say(name)}: `, el("b", null, tw.say(plainValue(value)))]).flat())));
    }

    // ---- keyboard and looks

    keys() {
      addEventListener("keydown", (event) => {
        const focus = event.target instanceof Element ? event.target : document.body;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey || focus.matches("input[type=radio]"))) {
          event.preventDefault();
          this.send();
          return;
        }
        if (event.ctrlKey || event.metaKey || event.altKey || focus.matches("textarea, input:not([type=radio]):not([type=checkbox]), select")) return;
        if (/^[1-9]$/.test(event.key) && this.form) {
          event.preventDefault();
          this.form.pick(Number(event.key) - 1);
        }
      });
    }

    looks() {
      const dark = matchMedia("(prefers-color-scheme: dark)");
      const recolour = () => {
        this.theme = tw.theme();
        this.stage?.kept.clear();
        this.draw();
      };
      dark.addEventListener("change", recolour);
      tw.byId("theme").addEventListener("click", () => {
        const root = document.documentElement;
        const now = root.dataset.theme || (dark.matches ? "dark" : "light");
        root.dataset.theme = now === "dark" ? "light" : "dark";
        recolour();
      });
    }
  }

  tw.page = new Page();
})(window.teamworld);
