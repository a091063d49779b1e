"use strict";
// Time from left to right: a ruler with messages, joint acts and goals done, and one lane of actions per agent.
// Drawn only when the view changes; what moves with time is a line and a veil above it.
(function (tw) {
  const GUTTER = 84; // pixels for the names at the left
  const RIGHT = 14;
  const MARKS = 5; // rows of the ruler under the numbers
  const ROW = 14;
  const NUMBERS = 18;
  const MARK_HIGH = 8; // pixels at the top of a lane, where its questions are marked
  const RULER = NUMBERS + MARKS * ROW + 4;

  class Lanes {
    /** @param jump called with a step, @param choose with a place in the team, @param ask with a question. */
    constructor(episode, jump, choose, ask) {
      this.episode = episode;
      this.jump = jump;
      this.choose = choose;
      this.ask = ask;
      this.box = tw.byId("lanes");
      this.sky = this.box.firstElementChild;
      this.bars = tw.byId("bars");
      this.ruler = tw.byId("ruler");
      this.cursor = tw.byId("cursor");
      this.veil = tw.byId("veil");
      const count = episode.team.length;
      this.high = count <= 4 ? 38 : count <= 8 ? 30 : 22;
      this.sky.style.height = `${count * this.high}px`;
      this.box.style.maxHeight = `max(${this.high * 4}px, 34vh)`;
      this.length = episode.steps; // of the axis: beside a longer episode it is that one's
      this.from = 0;
      this.zoom = 1;
      this.chosen = null;
      this.at = 0;
      this.marks = this.findMarks();
      this.ruler.setAttribute("aria-label", "Ruler of steps with messages, joint acts, failures, goals done and questions");
      this.listen();
    }

    findMarks() {
      const { messages, joints, goals } = this.episode;
      return {
        said: [...new Set(messages.map((message) => message.step))],
        joints,
        done: goals.filter((goal) => goal.done !== undefined),
      };
    }

    listen() {
      this.box.addEventListener("scroll", () => this.drawBars());
      for (const canvas of [this.ruler, this.bars]) {
        canvas.addEventListener("pointerdown", (event) => {
          if (event.button !== 0) return;
          if (this.open(this.questionsAt(event, canvas))) return;
          canvas.setPointerCapture(event.pointerId);
          this.dragging = true;
          this.point(event, canvas);
        });
        canvas.addEventListener("pointermove", (event) => (this.dragging ? this.point(event, canvas) : this.hover(event, canvas)));
        canvas.addEventListener("pointerup", () => (this.dragging = false));
        canvas.addEventListener("pointercancel", () => (this.dragging = false));
        canvas.addEventListener("pointerleave", () => tw.showTip([]));
      }
      tw.byId("chart").addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.box.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && this.chosen !== null) this.open(tw.askedAt(this.episode, this.episode.team[this.chosen].name, this.at));
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        event.preventDefault();
        const last = this.episode.team.length - 1;
        const next = this.chosen === null ? 0 : this.chosen + (event.key === "ArrowDown" ? 1 : -1);
        this.choose(tw.clamp(next, 0, last));
        this.speak();
      });
      this.box.addEventListener("blur", () => tw.showTip([]));
    }

    // ---- where things are

    get visible() {
      return Math.max(1, this.length) / this.zoom;
    }

    x(step) {
      return GUTTER + ((step - this.from) * (this.width - GUTTER - RIGHT)) / this.visible;
    }

    step(x) {
      return this.from + ((x - GUTTER) * this.visible) / (this.width - GUTTER - RIGHT);
    }

    setZoom(zoom, around) {
      const steps = this.length;
      const anchor = around ?? this.at;
      const share = (anchor - this.from) / this.visible;
      this.zoom = tw.clamp(zoom, 1, Math.max(1, steps / 10));
      this.from = tw.clamp(anchor - share * this.visible, 0, Math.max(0, steps - this.visible));
      this.draw();
    }

    wheel(event) {
      const step = this.step(event.clientX - this.ruler.getBoundingClientRect().left);
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.setZoom(this.zoom * Math.exp(-event.deltaY / 300), step);
      } else if (this.zoom > 1 && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
        event.preventDefault();
        const far = event.shiftKey ? event.deltaY : event.deltaX;
        this.from = tw.clamp(this.from + (far * this.visible) / this.width, 0, this.length - this.visible);
        this.draw();
      }
    }

    point(event, canvas) {
      tw.showTip([]);
      const box = canvas.getBoundingClientRect();
      const x = event.clientX - box.left;
      if (canvas === this.bars) {
        const place = this.laneAt(event.clientY - box.top);
        if (place !== null && event.type === "pointerdown") this.choose(place);
        if (x < GUTTER && event.type === "pointerdown") {
          this.dragging = false;
          return;
        }
      }
      this.jump(tw.clamp(Math.floor(this.step(x) + (canvas === this.ruler ? 0.5 : 0)), 0, this.length));
    }

    /** Open the first of some questions, if there is one. */
    open([first]) {
      if (first) this.ask(first);
      return first !== undefined;
    }

    /** The questions whose mark is under the pointer. */
    questionsAt(event, canvas) {
      const box = canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      const place = canvas === this.bars ? this.laneAt(y) : null;
      const isMark = canvas === this.bars ? place !== null && (y + this.box.scrollTop) % this.high < MARK_HIGH : Math.floor((y - NUMBERS) / ROW) === MARKS - 1;
      if (x < GUTTER || !isMark) return [];
      const rows = place === null ? this.episode.questions : this.episode.asked?.get(this.episode.team[place].name);
      const near = (rows ?? []).filter((row) => !row.skipped && Math.abs(this.x(row.step) - x) <= 5);
      near.sort((one, other) => Math.abs(this.x(one.step) - x) - Math.abs(this.x(other.step) - x));
      return near;
    }

    laneAt(y) {
      const place = Math.floor((y + this.box.scrollTop) / this.high);
      return place >= 0 && place < this.episode.team.length ? place : null;
    }

    // ---- words on what is under the pointer

    hover(event, canvas) {
      const box = canvas.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      tw.showTip(canvas === this.ruler ? this.onRuler(x, y) : this.onLane(x, y), event.clientX, event.clientY);
    }

    onLane(x, y) {
      const place = this.laneAt(y);
      if (place === null) return [];
      if (x < GUTTER) return [tw.say(this.episode.team[place].name)];
      return tw.laneInWords(this.episode, place, tw.clamp(Math.floor(this.step(x)), 0, Math.max(0, this.episode.steps - 1)));
    }

    onRuler(x, y) {
      const near = (5 * this.visible) / (this.width - GUTTER - RIGHT);
      return x < GUTTER ? [] : tw.markInWords(this.episode, Math.floor((y - NUMBERS) / ROW), this.step(x), near);
    }


    /** For those who use the keyboard: the chosen agent's action at the cursor. */
    speak() {
      if (this.chosen === null) return;
      const lines = tw.laneInWords(this.episode, this.chosen, Math.min(this.at, Math.max(0, this.episode.steps - 1)));
      tw.byId("spoken").textContent = lines.join("; ");
      const box = this.box.getBoundingClientRect();
      const y = box.top + (this.chosen + 0.5) * this.high - this.box.scrollTop;
      tw.showTip(lines, box.left + this.x(this.at + 0.5), y);
    }

    // ---- drawing

    setChosen(place) {
      this.chosen = place;
      if (place !== null) {
        const top = place * this.high;
        if (top < this.box.scrollTop || top + this.high > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top - this.high;
      }
      this.drawBars();
    }

    /** Put the cursor to a position, and page the view along if it has left it. */
    moveTo(p) {
      this.at = Math.floor(p);
      if (p < this.from || p > this.from + this.visible) {
        this.from = tw.clamp(p - this.visible * 0.1, 0, Math.max(0, this.length - this.visible));
        this.draw();
      }
      const x = this.x(p);
      this.cursor.style.transform = `translateX(${x}px)`;
      this.veil.style.transform = `translateX(${x}px)`;
    }

    draw(theme) {
      this.theme = theme || this.theme;
      this.width = Math.max(GUTTER + 120, this.box.clientWidth);
      this.veil.style.width = `${this.width}px`;
      this.drawRuler();
      this.drawBars();
      this.moveTo(this.at);
    }

    drawRuler() {
      const { theme, width, episode } = this;
      const pen = tw.fit(this.ruler, width, RULER);
      pen.clearRect(0, 0, width, RULER);
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      this.names(pen, ["messages", "joint acts", "failures", "goals done", "questions"]);
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER - 6, 0, width - GUTTER + 6, RULER);
      pen.clip();
      const gap = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((every) => this.x(every) - this.x(0) >= 46) || 20000;
      pen.textAlign = "center";
      for (let step = 0; step <= this.length; step += gap) {
        const x = this.x(step);
        pen.fillStyle = theme.soft;
        pen.fillText(String(step), tw.clamp(x, GUTTER, width - 10), NUMBERS / 2);
        pen.fillStyle = theme.line;
        pen.fillRect(x, NUMBERS - 3, 1, RULER);
      }
      this.drawMarks(pen);
      pen.restore();
    }

    names(pen, words) {
      pen.textAlign = "left";
      pen.fillStyle = this.theme.soft;
      words.forEach((word, row) => pen.fillText(word, 12, NUMBERS + (row + 0.5) * ROW));
    }

    drawMarks(pen) {
      const { theme, episode } = this;
      const middle = (row) => NUMBERS + (row + 0.5) * ROW;
      pen.fillStyle = theme.work;
      for (const step of this.marks.said) {
        pen.beginPath();
        pen.arc(this.x(step), middle(0), 3, 0, 2 * Math.PI);
        pen.fill();
      }
      // A success hangs on the upper half, a failure on the lower: told apart without colour too.
      for (const joint of this.marks.joints) {
        pen.fillStyle = joint.success ? theme.good : theme.fail;
        const x = this.x(joint.start);
        const top = middle(1) + (joint.success ? -4.5 : 0.5);
        pen.fillRect(x, top, Math.max(2, this.x(joint.end) - x), 4);
      }
      pen.fillStyle = theme.fail;
      for (const failure of episode.failures) {
        const x = this.x(failure.start);
        pen.globalAlpha = 0.3;
        pen.fillRect(x, middle(2) - 1, Math.max(1, this.x(failure.end) - x), 2);
        pen.globalAlpha = 1;
        pen.fillRect(x - 1, middle(2) - 4, 2, 8);
      }
      for (const goal of this.marks.done) {
        const x = this.x(goal.done);
        pen.fillStyle = episode.colour(goal.id);
        pen.beginPath();
        pen.moveTo(x, middle(3) - 5);
        pen.lineTo(x + 5, middle(3));
        pen.lineTo(x, middle(3) + 5);
        pen.lineTo(x - 5, middle(3));
        pen.fill();
      }
      this.drawQuestions(pen, episode.questions, middle(4) - 4, 8, theme.work);
    }

    /** A stroke for each step in which something was asked; odd ones, with unusable answers, are red and longer. */
    drawQuestions(pen, rows, top, tall, colour) {
      const until = this.from + this.visible;
      for (let at = 0; at < (rows ?? []).length; ) {
        const { step } = rows[at];
        let [odd, put] = [false, false];
        for (; at < rows.length && rows[at].step === step; at++) {
          odd ||= tw.isOddQuestion(rows[at]);
          put ||= !rows[at].skipped;
        }
        if (!put || step < this.from || step > until) continue;
        pen.fillStyle = odd ? this.theme.fail : colour;
        pen.fillRect(this.x(step) - 1, odd ? top - 1 : top, 2, odd ? tall + 2 : tall);
      }
    }

    /** Draw the lanes that are in view. */
    drawBars() {
      if (!this.theme) return;
      const { theme, width, high, episode } = this;
      const height = Math.max(1, this.box.clientHeight);
      const pen = tw.fit(this.bars, width, height);
      pen.clearRect(0, 0, width, height);
      pen.textBaseline = "middle";
      const top = this.box.scrollTop;
      const first = Math.max(0, Math.floor(top / high));
      const last = Math.min(episode.team.length - 1, Math.floor((top + height) / high));
      for (let place = first; place <= last; place++) this.drawLane(pen, place, place * high - top);
    }

    drawLane(pen, place, y) {
      const { theme, width, high, episode } = this;
      const lane = episode.team[place];
      if (place === this.chosen) {
        pen.fillStyle = theme.faint;
        pen.fillRect(0, y, width, high);
      }
      pen.fillStyle = place === this.chosen ? theme.ink : theme.soft;
      pen.font = `${place === this.chosen ? 600 : 400} ${high < 24 ? 11 : 12}px system-ui, sans-serif`;
      pen.textAlign = "left";
      pen.fillText(tw.shortened(pen, tw.say(lane.name), GUTTER - 18), 12, y + high / 2);
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER, y, width - GUTTER, high);
      pen.clip();
      const shape = { strip: y + 2, bar: y + 6, tall: high - 9, pace: high < 24 ? 2 : 4 };
      const until = this.from + this.visible;
      this.drawSpans(pen, lane, shape, until);
      this.drawPaces(pen, lane, shape, until);
      for (const hold of lane.holds) {
        if (hold.end < this.from || hold.start > until) continue;
        pen.fillStyle = episode.colour(hold.goal);
        pen.fillRect(this.x(hold.start), shape.strip, Math.max(1, this.x(hold.end) - this.x(hold.start) - 0.5), 3);
      }
      this.drawQuestions(pen, episode.asked?.get(lane.name), y + 1, 5, theme.ink);
      pen.restore();
    }

    drawSpans(pen, lane, { bar, tall, pace }, until) {
      const { theme, high } = this;
      pen.font = `${high < 24 ? 10 : 11}px system-ui, sans-serif`;
      for (let at = Math.max(0, tw.lastAt(lane.runs, this.from, "start")); at < lane.runs.length; at++) {
        const span = lane.runs[at];
        if (span.start > until) break;
        if (span.action.startsWith("wait(")) continue;
        const x = this.x(span.start);
        const wide = Math.max(1, this.x(span.end) - x - 1);
        const failed = span.status === "failed";
        pen.fillStyle = failed ? theme.failbar : theme.bar;
        pen.beginPath();
        pen.roundRect(x, bar, wide, tall, Math.min(3, wide / 2));
        pen.fill();
        if (failed) {
          pen.fillStyle = theme.fail;
          pen.fillRect(x + wide - 2, bar, 2, tall);
        }
        const left = Math.max(x, GUTTER) + 5;
        const mark = failed ? "✕ " : "";
        const label = tw.brief(pen, mark, tw.say(span.action), x + wide - left - 3);
        pen.fillStyle = theme.ink;
        if (label) pen.fillText(label, left, bar + (tall - pace) / 2 + 0.5);
      }
      pen.fillStyle = theme.fail;
      for (const passed of lane.passed) {
        const x = this.x(passed.start);
        if (passed.start < this.from || passed.start > until) continue;
        pen.beginPath();
        pen.moveTo(x - 3, bar);
        pen.lineTo(x + 3, bar);
        pen.lineTo(x, bar + 5);
        pen.fill();
      }
    }

    /** The foot of the bars: what the agent achieved step by step. Equal rows in a row are one stroke. */
    drawPaces(pen, lane, { bar, tall, pace: deep }, until) {
      const { paces } = lane;
      const foot = bar + tall - deep;
      const kind = (row) => (row.effect ? "work" : row.moved ? "move" : row.ready ? "ready" : null);
      const over = lane.runs.at(-1)?.end ?? 0;
      for (let at = Math.max(0, tw.lastAt(paces, this.from, "step")); at < paces.length && paces[at].step <= until; ) {
        const found = kind(paces[at]);
        const x = this.x(paces[at].step);
        do at++;
        while (at < paces.length && kind(paces[at]) === found);
        if (!found) continue;
        const wide = Math.max(0.5, this.x(at < paces.length ? paces[at].step : over) - x - 1);
        pen.fillStyle = this.theme[found];
        if (found !== "ready") pen.fillRect(x, foot, wide, deep);
        else for (let dot = 0; dot < wide; dot += 5) pen.fillRect(x + dot, foot, Math.min(2.5, wide - dot), deep);
      }
    }
  }

  /** As much of a label as fits: whole, its verb, or nothing. */
  tw.brief = function (pen, mark, text, room) {
    if (room < 10) return "";
    const verb = text.split("(")[0];
    for (const form of [mark + text, mark + verb, mark.trim()]) {
      if (form && pen.measureText(form).width <= room) return form;
    }
    return "";
  };

  /** A name that fits: too long a one loses its middle, since names of a team often differ at the end. */
  tw.shortened = function (pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    const letters = [...text.slice(0, 60), ...(text.length > 60 ? text.slice(-60) : "")];
    for (let kept = letters.length - 1; kept > 1; kept--) {
      const form = `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${letters.slice(-Math.floor(kept / 2)).join("")}`;
      if (pen.measureText(form).width <= room) return form;
    }
    return "…";
  };

  tw.Lanes = Lanes;
})(window.teamworld);
