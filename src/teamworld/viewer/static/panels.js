"use strict";
// Lists beside the picture. Everything that an agent or a model said becomes a text node, see tw.el.
(function (tw) {
  const WINDOW = 40; // groups that a feed keeps on the page at once

  /** Groups of rows up to a step, newest first; only those near the step are on the page. */
  class Feed {
    constructor(box, groups, make, nothing) {
      this.groups = groups; // ordered by `start`
      this.make = make;
      this.made = new Map();
      this.shown = [0, 0];
      this.room = WINDOW;
      this.note = tw.el("p", { class: "empty" }, nothing);
      this.more = tw.el("button", { type: "button", class: "more", hidden: true, on: { click: () => this.extend() } }, "show earlier ones");
      this.list = tw.el("div", { class: "feed" });
      box.append(this.note, this.list, this.more);
    }

    node(at) {
      if (!this.made.has(at)) this.made.set(at, this.make(this.groups[at]));
      return this.made.get(at);
    }

    extend() {
      this.room += WINDOW;
      this.update(this.t, true);
    }

    update(t, force) {
      this.t = t;
      const end = tw.lastAt(this.groups, t, "start") + 1;
      const start = Math.max(0, end - this.room);
      const [from, to] = this.shown;
      if (!force && start === from && end === to) return;
      // Whatever stays where it is is left alone: while playing, one group a step.
      if (!force && end >= to && end - to < 8 && start >= from && start <= to) {
        for (let at = to; at < end; at++) this.list.prepend(this.node(at));
        for (let at = from; at < start; at++) this.list.lastChild.remove();
      } else {
        const nodes = [];
        for (let at = end - 1; at >= start; at--) nodes.push(this.node(at));
        this.list.replaceChildren(...nodes);
      }
      this.list.firstChild?.classList.add("newest");
      if (this.newest && this.newest !== this.list.firstChild) this.newest.classList.remove("newest");
      this.newest = this.list.firstChild;
      this.shown = [start, end];
      this.note.hidden = end > 0;
      this.more.hidden = start === 0;
    }
  }

  tw.Feed = Feed;

  const LACK = { dependency: "way not clear", capability: "able", participation: "taking part", spatial: "in place", temporal: "at once" };

  /** Who a joint act lacked, in words; empty for a success. */
  tw.missing = function (episode, joint) {
    if (joint.success) return "";
    const doing = (name) => {
      const span = episode.team[episode.place.get(name)]?.span(joint.start);
      return `${tw.say(name)}${span ? ` (${tw.say(span.action)})` : ""}`;
    };
    const absent = joint.absent || [];
    const short = joint.short || 0;
    const words = [];
    if (short > 0) words.push(`${tw.plural(short, "more agent")} needed`);
    else if ((joint.have.dependency ?? 1) < 1) words.push("nobody; the way was not clear");
    if (absent.length) words.push(`bound to ${tw.say(joint.goal)}, but not in this act: ${absent.slice(0, 6).map(doing).join("; ")}${absent.length > 6 ? ` and ${absent.length - 6} more` : ""}`);
    else if (short > 0) words.push(`nobody else was bound to ${tw.say(joint.goal)}`);
    return words.join("; ");
  };

  tw.jointInWords = (episode, joint) =>
    `${tw.say(joint.goal)}, ${tw.steps(joint.start, joint.end)}: ${joint.success ? "success" : `failed, missing: ${tw.missing(episode, joint) || "not recorded"}`}`;

  function jumpTo(step, jump, words, kind) {
    return tw.el("button", { type: "button", class: kind || "when", title: `Go to step ${step}`, on: { click: () => jump(step) } }, words);
  }

  function talkFeed(episode, jump) {
    const groups = [];
    for (const message of episode.messages) {
      const last = groups.at(-1);
      if (last && last.start === message.step && last.room === message.room) last.rows.push(message);
      else groups.push({ start: message.step, room: message.room, rows: [message] });
    }
    const worths = new Map((episode.worths ?? []).filter((row) => row.message !== undefined).map((row) => [row.message, row]));
    const whole = episode.worths?.find((row) => row.message === undefined && row.agent === undefined);
    if (whole) tw.byId("talk").append(tw.el("p", { class: "bill", title: "with all messages, less if nobody hears any" }, `all messages: ${tw.worthInWords(whole)}`));
    const line = (message) => {
      const to = message.to === undefined || message.to === null ? null : message.to.length ? `to ${message.to.map(tw.say).join(", ")}` : message.room === undefined ? "nobody was in reach" : "alone";
      const lost = message.lost?.length ? `did not reach ${message.lost.map(tw.say).join(", ")}` : null;
      return tw.el("div", { class: "said", on: { click: () => jump(message.step) } },
        tw.disc(episode, message.agent, message.goal),
        tw.el("div", null,
          tw.el("span", { class: "act" }, message.act), message.goal ? tw.goalChip(episode, message.goal) : null,
          to ? tw.el("span", { class: "aside" }, to) : null, lost ? tw.el("span", { class: "aside bad" }, lost) : null,
          tw.el("p", { class: "text" }, message.text),
          worths.has(message.id) ? tw.el("p", { class: "worth", title: "with the message, less if nobody hears it" }, tw.worthInWords(worths.get(message.id))) : null));
    };
    const make = (group) => tw.el("section", { class: "group" },
      jumpTo(group.start, jump, `step ${group.start}${group.room === undefined || group.room === null ? "" : ` · meeting ${group.room + 1}`}`),
      group.rows.map(line));
    const nothing = episode.messages.length ? "Nothing was said up to this step." : "No message was sent in this episode.";
    return new Feed(tw.byId("talk"), groups, make, nothing);
  }

  /** A line of words with buttons to the step before and after the one that is shown. */
  function tools(words, id, steps, jump, position) {
    const go = (way) => {
      const found = way > 0 ? steps.find((step) => step > position()) : steps.findLast((step) => step < position());
      if (found !== undefined) jump(found);
    };
    return tw.el("div", { class: "tools" }, tw.el("span", { class: "aside" }, words),
      tw.el("button", { type: "button", id: `last${id}`, on: { click: () => go(-1) } }, "‹ failure"),
      tw.el("button", { type: "button", id: `next${id}`, on: { click: () => go(1) } }, "failure ›"));
  }

  /** Spans that went wrong, by the rules of teamworld.metrics.failures. */
  function failureFeed(episode, jump, position) {
    const make = (failure) => tw.el("section", { class: "joint failed" },
      tw.el("div", { class: "row" }, jumpTo(failure.start, jump, tw.steps(failure.start, failure.end)),
        tw.el("strong", { title: episode.labels[failure.label] }, failure.label), failure.goal ? tw.goalChip(episode, failure.goal) : null),
      tw.el("div", { class: "row" }, failure.agents.slice(0, 24).map((name) => tw.disc(episode, name, failure.goal)),
        failure.agents.length > 24 ? tw.el("span", { class: "aside" }, `and ${failure.agents.length - 24} more`) : null),
      tw.el("p", { class: "missing" }, tw.say(failure.text)),
      tw.el("p", { class: "rule" }, episode.labels[failure.label] ?? ""));
    const box = tw.byId("failures");
    const starts = [...new Set(episode.failures.map((failure) => failure.start))];
    if (starts.length) box.append(tools("found in the log by rule", "label", starts, jump, position));
    const nothing = starts.length ? "None began up to this step." : "No rule found a failure in this episode.";
    return new Feed(box, episode.failures, make, nothing);
  }

  function jointFeed(episode, jump, position) {
    const bars = (joint) => Object.keys(joint.need).map((name) => {
      const have = joint.have[name] ?? 0;
      const need = joint.need[name];
      const words = name === "dependency" ? (have >= need ? "way clear" : LACK.dependency) : `${LACK[name] ?? name} ${have}/${need}`;
      return tw.el("span", { class: have >= need ? "have" : "have unmet", title: name }, words);
    });
    const make = (joint) => tw.el("section", { class: joint.success ? "joint" : "joint failed" },
      tw.el("div", { class: "row" }, jumpTo(joint.start, jump, tw.steps(joint.start, joint.end)), tw.goalChip(episode, joint.goal),
        tw.el("span", { class: "aside" }, `needs ${joint.k}`), tw.el("span", { class: "result" }, joint.success ? "✓ success" : "✕ failed")),
      tw.el("div", { class: "row" }, joint.who.map((name) => tw.disc(episode, name, joint.goal)), bars(joint)),
      joint.success ? null : tw.el("p", { class: "missing" }, tw.el("strong", null, "Missing: "), tw.missing(episode, joint) || "not recorded"));
    const failed = episode.joints.filter((joint) => !joint.success).map((joint) => joint.start);
    const good = episode.joints.length - failed.length;
    const box = tw.byId("joints");
    if (episode.joints.length) box.append(tools(`${good} went well, ${failed.length} failed (equal steps are one)`, "fail", failed, jump, position));
    const nothing = episode.joints.length ? "None up to this step." : "No joint act was tried in this episode.";
    return new Feed(box, episode.joints, make, nothing);
  }

  class Goals {
    constructor(episode, jump) {
      this.episode = episode;
      this.rows = episode.goals.map((goal) => {
        const fill = tw.el("i", { css: { background: episode.colour(goal.id) } });
        const state = tw.el("span", { class: "aside" });
        const open = goal.done ?? goal.lost;
        const node = tw.el("div", { class: "goal", title: goal.label },
          tw.el("div", { class: "row" }, tw.goalChip(episode, goal.id),
            tw.el("span", { class: "aside" }, [goal.weight && `weight ${goal.weight}`, goal.quorum && `needs ${goal.quorum}`].filter(Boolean).join(", ")),
            open === undefined ? tw.el("span", { class: "when still" }, "not done") : jumpTo(open, jump, goal.done === undefined ? `lost at ${open}` : `done at ${open}`)),
          tw.el("div", { class: "progress" }, fill), state);
        tw.byId("goals").append(node);
        return { goal, fill, state };
      });
    }

    update(t) {
      const busy = new Map();
      for (const lane of this.episode.team) {
        const goal = lane.aim(t);
        if (goal) busy.set(goal, [...(busy.get(goal) || []), tw.say(lane.name)]);
      }
      for (const row of this.rows) {
        const { goal } = row;
        const share = this.episode.progress(goal, t);
        row.fill.style.width = `${(100 * share).toFixed(1)}%`;
        const over = goal.done !== undefined && t >= goal.done;
        const who = busy.get(goal.id);
        const words = over ? `done${goal.who ? ` by ${goal.who.map(tw.say).join(", ")}` : ""}` : `${Math.round(100 * share)} % of the way; ${who ? `${who.join(", ")} at it` : "nobody at it"}`;
        if (row.state.textContent !== words) row.state.textContent = words;
      }
    }
  }

  const MARK = { next: "", running: "▸", done: "✓", failed: "✕", passed: "⤼", stopped: "…" };

  /** How a plan ends whose actions are all over while its goal is not: ordinary, the agent plans again. */
  const OPEN = "goal_open";

  class Team {
    constructor(episode, choose) {
      this.episode = episode;
      this.cards = episode.team.map((lane, place) => {
        const node = tw.el("div", { class: "agent", on: { click: () => choose(place) } });
        tw.byId("team").append(node);
        return { lane, node, key: null };
      });
    }

    update(t) {
      for (const card of this.cards) {
        const { lane } = card;
        const [plan, before] = lane.planning(t);
        const span = lane.span(t);
        const hold = lane.hold(t);
        const gone = lane.gone !== undefined && t >= lane.gone;
        const key = [plan?.plan, before?.plan, span?.start, span?.action, hold?.goal, hold?.start, gone, t >= this.episode.steps].join();
        if (key === card.key) continue;
        card.key = key;
        card.node.replaceChildren(...this.card(lane, t, plan, before, span, hold, gone));
      }
    }

    card(lane, t, plan, before, span, hold, gone) {
      const { episode } = this;
      const head = tw.el("div", { class: "row" }, tw.disc(episode, lane.name, lane.aim(t)), tw.el("strong", null, tw.say(lane.name)),
        hold ? tw.goalChip(episode, hold.goal) : null, gone ? tw.el("span", { class: "aside" }, `gone: ${lane.gone_why}`) : null,
        !hold && plan?.goal ? [tw.el("span", { class: "aside" }, "plans for"), tw.goalChip(episode, plan.goal)] : null,
        plan ? tw.el("span", { class: "aside right" }, `${plan.origin} plan, since step ${plan.start}`) : null);
      const actions = plan
        ? plan.actions.map((action, place) => {
            const [state, seen] = lane.standing(plan, place, t);
            const why = seen ? episode.ending(seen) : "still to come";
            return tw.el("li", { class: state, title: `${action}: ${state === "running" ? "running" : why}` }, MARK[state] ? tw.el("span", { class: "mark" }, MARK[state]) : null, tw.say(action));
          })
        : [];
      const idle = !plan && span?.action.startsWith("wait(");
      const stray = span && !idle && (!plan || span.place === undefined) ? tw.el("li", { class: "running" }, tw.el("span", { class: "mark" }, MARK.running), tw.say(span.action)) : null;
      const isBad = before?.status === "failed" && before.ended !== OPEN;
      const last = before ? tw.el("p", { class: isBad ? "last bad" : "last" }, `last plan${before.goal ? ` for ${tw.say(before.goal)}` : ""}: ${tw.planEnd(before)} at step ${before.end}`) : null;
      const list = plan || stray ? tw.el("ol", { class: "plan" }, stray, actions) : tw.el("p", { class: "last" }, t >= episode.steps ? "the episode is over" : idle ? "no plan, waits" : "no plan");
      const worth = episode.worths?.find((row) => row.agent === lane.name);
      const worthy = worth ? tw.el("p", { class: "worth", title: "Shapley value: what it adds to those that act, against waiting" }, tw.worthInWords(worth)) : null;
      return [head, list, last, worthy].filter(Boolean);
    }

    setChosen(place) {
      this.cards.forEach((card, at) => card.node.classList.toggle("chosen", at === place));
      const box = tw.byId("team");
      const node = this.cards[place]?.node;
      if (node && (node.offsetTop < box.scrollTop || node.offsetTop + node.offsetHeight > box.scrollTop + box.clientHeight)) box.scrollTop = node.offsetTop - 8;
    }
  }

  tw.planEnd = (plan) => plan.ended === OPEN ? "carried out, goal still open" : `${plan.status}${plan.ended && plan.ended !== plan.status ? ` (${plan.ended.replaceAll("_", " ")})` : ""}`;

  /** Tabs of a panel; arrow keys move between them. */
  function tabs(panel, changed) {
    const all = [...panel.querySelectorAll("[role=tab]")];
    const show = (tab) => {
      for (const one of all) {
        one.setAttribute("aria-selected", String(one === tab));
        one.tabIndex = one === tab ? 0 : -1;
        tw.byId(one.getAttribute("aria-controls")).hidden = one !== tab;
      }
      changed();
    };
    for (const [at, tab] of all.entries()) {
      tab.addEventListener("click", () => show(tab));
      tab.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        event.preventDefault();
        event.stopPropagation();
        const other = all[(at + (event.key === "ArrowRight" ? 1 : all.length - 1)) % all.length];
        show(other);
        other.focus();
      });
    }
    return show;
  }

  class Panels {
    constructor(episode, jump, choose, position) {
      this.team = new Team(episode, choose);
      const parts = { team: this.team, goals: new Goals(episode, jump), talk: talkFeed(episode, jump), joints: jointFeed(episode, jump, position), failures: failureFeed(episode, jump, position) };
      this.parts = Object.entries(parts).map(([id, part]) => [tw.byId(id), part]);
      const count = (id, number) => tw.byId(id).append(tw.el("span", { class: "count" }, String(number)));
      count("tab-team", episode.team.length);
      count("tab-goals", episode.goals.length);
      count("tab-talk", episode.messages.length);
      count("tab-joints", episode.joints.length);
      count("tab-failures", episode.failures.length);
      const lists = [["talk", episode.messages], ["joints", episode.joints], ["failures", episode.failures]];
      const full = lists.find(([, rows]) => rows.length)?.[0];
      for (const panel of document.querySelectorAll(".panel")) {
        const show = tabs(panel, () => this.update(position()));
        if (panel.contains(tw.byId("talk"))) show(tw.byId(`tab-${full ?? "talk"}`));
      }
      document.querySelector("main").classList.toggle("silent", full !== "talk"); // the team gets the room
    }

    /** Add the list of questions, which come later than the rest. */
    takeQuestions(episode, jump, open, t) {
      tw.byId("tab-asked").append(tw.el("span", { class: "count" }, String(episode.questions.filter((row) => !row.skipped).length)));
      this.parts.push([tw.byId("asked"), tw.questionFeed(episode, jump, open)]);
      this.update(t);
    }

    /** Add what agents know, which comes later too. */
    takeKnowledge(episode, choose, t) {
      this.knows = new tw.Knows(episode, choose);
      this.parts.push([tw.byId("knows"), this.knows]);
      this.update(t);
    }

    /** Only what is on the page is brought up to date. */
    update(t) {
      for (const [box, part] of this.parts) if (!box.hidden) part.update(t);
    }
  }

  tw.Panels = Panels;
})(window.teamworld);
