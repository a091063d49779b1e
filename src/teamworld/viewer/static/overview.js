// Built from frontend/src/overview by "make pages"; change the sources and build again.
"use strict";
var teamworld = (() => {
  // src/shared/addresses.ts
  var replayAddress = (episode, step = 0) => `replay?${new URLSearchParams(namesOf(episode, ""))}${atStep(step)}`;
  var pairAddress = (first, second, step = 0) => `pair?${new URLSearchParams([...namesOf(first, ""), ...namesOf(second, "2")])}${atStep(step)}`;
  var atStep = (step) => step ? `#t=${step}` : "";
  var namesOf = ({ run, method, seed, episode }, end) => Object.entries({ run, method, seed, episode }).map(([name, value]) => [name + end, String(value)]);

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
  function expect(node, kind, name) {
    if (node instanceof kind) return node;
    throw new Error(`expected ${name} on the page as ${kind.name}`);
  }
  function onClick(calls) {
    for (const [id, call] of Object.entries(calls)) byId(id).addEventListener("click", call);
  }
  function showTip(lines, x, y) {
    const tip = byId("tip");
    tip.hidden = !lines.length;
    if (tip.hidden) return;
    tip.replaceChildren(...lines.map((line, at) => el(at ? "div" : "strong", null, line)));
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(window.innerWidth - width - 8, Math.max(4, x + 14))}px`;
    tip.style.top = `${y + 18 + height > window.innerHeight ? y - height - 12 : y + 18}px`;
  }
  function hideTip() {
    byId("tip").hidden = true;
  }

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

  // src/shared/words.ts
  var plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  // src/overview/filters.ts
  var FILTERS = ["run", "level", "method", "seed"];
  function namedEpisode(row) {
    const [run, level, method, seed, episode, reason, values] = row;
    return { run, level, method, seed, episode, reason, values, key: JSON.stringify(row.slice(0, 5)) };
  }
  var nameOf = ({ method, seed, episode }) => `${method}, seed ${seed}, episode ${episode}`;
  function measuresOf({ measures }) {
    return new Map([
      ["episode", ({ episode }) => episode],
      ["seed", ({ seed }) => seed],
      ...measures.map((name, place) => [name, ({ values }) => values[place] ?? null])
    ]);
  }
  var PageState = class {
    #values = new URLSearchParams(location.hash.slice(1));
    get(name, usual = "") {
      return this.#values.get(name) ?? usual;
    }
    has(name) {
      return this.#values.has(name);
    }
    /** Set values; an empty one is forgotten. */
    set(changes) {
      for (const [name, value] of Object.entries(changes)) {
        if (value) this.#values.set(name, value);
        else this.#values.delete(name);
      }
      history.replaceState(null, "", `#${this.#values}`);
    }
    clear() {
      this.#values = new URLSearchParams();
      this.set({});
    }
    /** Take the values from the address, which somebody changed. */
    readAddress() {
      this.#values = new URLSearchParams(location.hash.slice(1));
    }
    /** Whether an episode has the values that are chosen. */
    allows(episode) {
      return FILTERS.every((name) => !this.has(name) || String(episode[name]) === this.get(name));
    }
    /** Episodes in the order that is chosen; those without a value come last. */
    sort(episodes, measures) {
      const name = this.get("sort");
      const read = measures.get(name) ?? wordOf(name);
      if (!read) return episodes;
      const order = this.has("down") ? -1 : 1;
      return episodes.map((episode) => ({ value: read(episode), episode })).sort((one, other) => {
        if (one.value === null || other.value === null)
          return Number(one.value === null) - Number(other.value === null);
        if (one.value === other.value) return 0;
        return one.value < other.value ? -order : order;
      }).map(({ episode }) => episode);
    }
  };
  function wordOf(name) {
    if (name !== "run" && name !== "level" && name !== "method" && name !== "reason") return null;
    return (episode) => episode[name];
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

  // src/overview/plot.ts
  var [LEFT, TOP, RIGHT, BOTTOM, HEIGHT] = [92, 10, 44, 34, 260];
  var PADDING = 26;
  var NEAR = 12;
  var numberInWords = (value) => value === null || value === void 0 ? "–" : Number.isInteger(value) ? String(value) : String(+value.toPrecision(4));
  var Plot = class {
    #canvas = byId("plot", HTMLCanvasElement);
    #points = [];
    /** @param open Called with the episode of a point that is clicked. */
    constructor(open) {
      this.#canvas.addEventListener("mousemove", (event) => {
        const point = this.#pointAt(event);
        const lines = point ? [nameOf(point.episode), point.episode.level, `${numberInWords(point.up)} at ${numberInWords(point.across)}`] : [];
        showTip(lines, event.clientX, event.clientY);
      });
      this.#canvas.addEventListener("mouseleave", hideTip);
      this.#canvas.addEventListener("click", (event) => {
        const point = this.#pointAt(event);
        if (point) open(point.episode);
      });
    }
    /** Show some episodes; `methods` are those of the folder, whose places give the colours. */
    show(episodes, across, up, methods) {
      const width = Math.max(240, (this.#canvas.parentElement?.clientWidth ?? 0) - PADDING);
      const pen = fit(this.#canvas, width, HEIGHT);
      const theme = readTheme();
      const found = episodes.flatMap((episode) => {
        const [x, y] = [across.read(episode), up.read(episode)];
        return x === null || y === null ? [] : [{ across: x, up: y, episode }];
      });
      const words = `${up.name} by ${across.name} of ${plural(found.length, "episode")}; the table has the same values`;
      this.#canvas.setAttribute("aria-label", words);
      this.#points = [];
      pen.clearRect(0, 0, width, HEIGHT);
      pen.font = "12px system-ui, sans-serif";
      pen.fillStyle = theme.soft;
      if (!found.length) {
        pen.fillText("no episode to plot", LEFT, TOP + 20);
        return;
      }
      const toX = new Scale(found, (point) => point.across, LEFT, width - RIGHT);
      const toY = new Scale(found, (point) => point.up, HEIGHT - BOTTOM, TOP);
      drawAxes(pen, toX, toY, across.name, theme);
      const beside = besideEachOther(found, methods);
      this.#points = found.map((point) => ({
        ...point,
        x: toX.place(point.across) + (beside.get(point.episode.method) ?? 0),
        y: toY.place(point.up)
      }));
      this.#drawPoints(pen, methods);
      this.#writeLegend(episodes, methods);
    }
    #drawPoints(pen, methods) {
      const colours = new Map(methods.map((method, place) => [method, goalColour(place)]));
      const many = this.#points.length;
      pen.globalAlpha = many > 500 ? 0.5 : 0.85;
      for (const { x, y, episode } of this.#points) {
        pen.fillStyle = colours.get(episode.method) ?? "";
        pen.beginPath();
        pen.arc(x, y, many > 2e3 ? 2 : 4, 0, 2 * Math.PI);
        pen.fill();
      }
      pen.globalAlpha = 1;
    }
    #writeLegend(episodes, methods) {
      const shown = new Set(episodes.map(({ method }) => method));
      const entries = methods.map(
        (method, place) => el("span", { hidden: !shown.has(method) }, el("i", { css: { background: goalColour(place) } }), method)
      );
      byId("legend").replaceChildren(...entries.filter((entry) => !entry.hidden));
    }
    /** The point nearest to a place on the plot, if it is near. */
    #pointAt({ offsetX, offsetY }) {
      let [best, nearest] = [null, NEAR];
      for (const point of this.#points) {
        const far = Math.hypot(point.x - offsetX, point.y - offsetY);
        if (far < nearest) [best, nearest] = [point, far];
      }
      return best;
    }
  };
  var Scale = class {
    constructor(points, read, start, end) {
      this.start = start;
      this.end = end;
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const point of points) [low, high] = [Math.min(low, read(point)), Math.max(high, read(point))];
      [this.low, this.high] = low === high ? [low - 0.5, high + 0.5] : [low, high];
      this.isWhole = high - low > 1 && points.every((point) => Number.isInteger(read(point)));
    }
    start;
    end;
    low;
    high;
    /** All values are whole numbers, and there is one between the ends. */
    isWhole;
    place(value) {
      return this.start + (value - this.low) / (this.high - this.low) * (this.end - this.start);
    }
    /** The value at a share of the way; a whole number where all values are. */
    at(share) {
      const value = this.low + share * (this.high - this.low);
      return this.isWhole ? Math.round(value) : value;
    }
  };
  function drawAxes(pen, toX, toY, name, theme) {
    const aligned = ["left", "center", "right"];
    pen.strokeStyle = theme.line;
    for (const [at, align] of aligned.entries()) {
      const [x, y] = [toX.at(at / 2), toY.at(at / 2)];
      pen.beginPath();
      pen.moveTo(toX.start, toY.place(y));
      pen.lineTo(toX.end, toY.place(y));
      pen.stroke();
      pen.textAlign = "right";
      pen.fillText(numberInWords(y), LEFT - 8, toY.place(y) + 4);
      pen.textAlign = align;
      pen.fillText(numberInWords(x), toX.place(x), HEIGHT - BOTTOM + 16);
    }
    pen.textAlign = "center";
    pen.fillText(name, (toX.start + toX.end) / 2, HEIGHT - 4);
  }
  function besideEachOther(points, methods) {
    const isCrowded = new Set(points.map(({ across }) => across)).size > 40;
    const gap = isCrowded ? 0 : Math.min(7, 60 / methods.length);
    return new Map(methods.map((method, place) => [method, (place - (methods.length - 1) / 2) * gap]));
  }

  // src/overview/table.ts
  var PAGE = 200;
  var EpisodeTable = class {
    constructor(state, calls) {
      this.state = state;
      this.calls = calls;
      this.#more.addEventListener("click", () => {
        this.#most += PAGE;
        this.#again();
      });
    }
    state;
    calls;
    #table = byId("episodes", HTMLTableElement);
    #more = byId("more");
    #most = PAGE;
    #again = () => {
    };
    /** Show no more rows than at first. */
    shorten() {
      this.#most = PAGE;
    }
    show(data, all, episodes, hits) {
      this.#again = () => this.show(data, all, episodes, hits);
      const columns = this.#columns(data, all);
      this.#table.tHead?.replaceChildren(el("tr", null, ...columns.map((column) => this.#head(column, data))));
      const rows = episodes.slice(0, this.#most).flatMap((episode) => {
        const cells = columns.map(({ read, isNumber }) => el("td", { class: isNumber && "number" }, read(episode)));
        const found = this.state.has("words") ? hits.get(episode.key) : void 0;
        const below = found ? [el("tr", { class: "hits" }, el("td", { colspan: columns.length }, hitLines(episode, found)))] : [];
        return [el("tr", null, cells), ...below];
      });
      this.#table.tBodies[0]?.replaceChildren(...rows);
      this.#more.hidden = episodes.length <= this.#most;
      this.#more.textContent = `Show more (${this.#most} of ${episodes.length})`;
    }
    /** Bring the boxes up to date with what is ticked. */
    markTicked(ticked) {
      for (const box of this.#table.querySelectorAll("input")) box.checked = ticked.some(({ key }) => key === box.value);
    }
    #columns({ measures }, all) {
      const isShown = (name) => name === "method" || name === "seed" || new Set(all.map((episode) => episode[name])).size > 1;
      return [
        { name: "", read: (episode) => this.#box(episode) },
        ...FILTERS.filter(isShown).map((name) => ({
          name,
          read: (episode) => String(episode[name]),
          isNumber: name === "seed"
        })),
        {
          name: "episode",
          read: (episode) => el("a", { href: replayAddress(episode), title: "Play it" }, String(episode.episode)),
          isNumber: true
        },
        ...measures.map((name, place) => ({
          name,
          read: ({ values }) => numberInWords(values[place]),
          isNumber: true
        })),
        { name: "reason", read: ({ reason }) => reason }
      ];
    }
    #box(episode) {
      return el("input", {
        type: "checkbox",
        value: episode.key,
        checked: this.calls.isTicked(episode),
        "aria-label": `${nameOf(episode)}: side by side with another`,
        on: { change: () => this.calls.tick(episode) }
      });
    }
    #head({ name, isNumber }, { measures, units }) {
      if (!name) return el("th", { title: "Tick two episodes to see them side by side" });
      const order = this.state.get("sort") !== name ? null : this.state.has("down") ? "descending" : "ascending";
      const mark = order === null ? "" : order === "descending" ? " ↓" : " ↑";
      const title = units[measures.indexOf(name)] || null;
      const sort = () => this.calls.sort(name);
      const words = `${name.replaceAll("_", " ")}${mark}`;
      const button = el("button", { type: "button", title, on: { click: sort } }, words);
      return el("th", { class: isNumber && "number", "aria-sort": order }, button);
    }
  };
  function hitLines(episode, { hits, count }) {
    const lines = hits.map(
      ([step, who, text]) => el("div", null, el("a", { href: replayAddress(episode, step) }, `step ${step}, ${who}`), text)
    );
    return count > hits.length ? [...lines, el("div", null, `and ${count - hits.length} more`)] : lines;
  }

  // src/overview/main.ts
  var POLL = 2e3;
  var Page = class {
    #state = new PageState();
    #plot = new Plot((episode) => {
      location.href = replayAddress(episode);
    });
    #table = new EpisodeTable(this.#state, {
      sort: (name) => this.#sort(name),
      isTicked: (episode) => this.#isTicked(episode),
      tick: (episode) => this.#tick(episode)
    });
    #data = null;
    #episodes = [];
    /** By the key of an episode. */
    #hits = /* @__PURE__ */ new Map();
    /** Counts searches, so that an older one ends. */
    #searches = 0;
    /** The episodes that are to stand side by side, at most two. */
    #ticked = [];
    constructor() {
      for (const id of ["up", "across"]) {
        const select = byId(id, HTMLSelectElement);
        select.addEventListener("change", () => this.#set({ [id]: select.value }));
      }
      onClick({
        clear: () => {
          this.#state.clear();
          this.#set({});
          this.#search();
        }
      });
      byId("filters").addEventListener("submit", (event) => {
        event.preventDefault();
        this.#set({ words: byId("words", HTMLInputElement).value.trim() });
        this.#search();
      });
      byId("tables").addEventListener("toggle", () => this.#showTables());
      addEventListener("resize", () => this.#show());
      addEventListener("hashchange", () => {
        this.#state.readAddress();
        this.#search();
      });
      this.#poll().then(() => this.#search());
    }
    // ---- what the user chooses
    #set(changes) {
      this.#state.set(changes);
      this.#table.shorten();
      this.#show();
    }
    #sort(name) {
      const isSorted = this.#state.get("sort") === name;
      this.#set({ sort: name, down: isSorted && !this.#state.has("down") ? "1" : "" });
    }
    #isTicked({ key }) {
      return this.#ticked.some((other) => other.key === key);
    }
    /** Tick an episode or untick it; of three the oldest goes. */
    #tick(episode) {
      this.#ticked = this.#isTicked(episode) ? this.#ticked.filter(({ key }) => key !== episode.key) : [...this.#ticked.slice(-1), episode];
      this.#table.markTicked(this.#ticked);
      this.#showTicked();
    }
    // ---- the parts of the page
    #show() {
      const data = this.#data;
      if (!data) return;
      document.title = `${data.name} – teamworld`;
      byId("title").textContent = data.name;
      const measures = measuresOf(data);
      const chosen = this.#episodes.filter(
        (episode) => this.#state.allows(episode) && (!this.#state.has("words") || this.#hits.has(episode.key))
      );
      const shown = this.#state.sort(chosen, measures);
      byId("count").textContent = countInWords(data, shown.length);
      this.#showFilters();
      const methods = [...new Set(this.#episodes.map(({ method }) => method))];
      const [across, up] = this.#axes(data);
      this.#plot.show(shown, across, up, methods);
      this.#table.show(data, this.#episodes, shown, this.#hits);
    }
    #showFilters() {
      const labels = FILTERS.flatMap((name) => {
        const values = new Set(this.#episodes.map((episode) => String(episode[name])));
        const chosen = this.#state.get(name);
        if (values.size < 2 && !chosen) return [];
        if (chosen) values.add(chosen);
        const select = el("select", { id: `filter-${name}`, on: { change: () => this.#set({ [name]: select.value }) } });
        select.append(el("option", { value: "" }, "all"));
        for (const value of values) select.append(el("option", { value, selected: value === chosen }, value));
        return [el("label", null, `${name} `, select)];
      });
      byId("choices").replaceChildren(...labels);
    }
    /** What is plotted: what is chosen, or the first measure that is not the same everywhere, by episode. */
    #axes(data) {
      const measures = measuresOf(data);
      const [first] = this.#episodes;
      const differs = data.measures.findIndex(
        (_, place) => this.#episodes.some(({ values }) => values[place] !== first?.values[place])
      );
      const usual = { across: "episode", up: data.measures[Math.max(0, differs)] ?? "seed" };
      const axis = (id) => {
        const name = measures.has(this.#state.get(id)) ? this.#state.get(id) : usual[id];
        const options = [...measures.keys()].map((value) => el("option", { value, selected: value === name }, value));
        byId(id).replaceChildren(...options);
        return { name, read: measures.get(name) ?? (() => null) };
      };
      return [axis("across"), axis("up")];
    }
    #showTicked() {
      const [first, second] = this.#ticked;
      const isPair = first && second && first.level === second.level && first.seed === second.seed;
      byId("ticked").hidden = !first;
      byId("beside").hidden = !isPair;
      if (isPair) byId("beside", HTMLAnchorElement).href = pairAddress(first, second);
      byId("which").textContent = tickedInWords(this.#ticked, isPair ?? false);
    }
    // ---- questions to the server
    async #poll() {
      try {
        const version = this.#data?.version ?? "";
        const news = await ask(`episodes?${new URLSearchParams({ version })}`);
        if (news) {
          this.#data = news;
          this.#episodes = news.episodes.map(namedEpisode);
          this.#show();
        }
      } catch (error) {
        tell(error);
      }
      setTimeout(() => this.#poll(), POLL);
    }
    /** Search the logs bit by bit; what is found is shown as it comes. */
    async #search() {
      const own = ++this.#searches;
      const words = this.#state.get("words");
      this.#hits = /* @__PURE__ */ new Map();
      byId("words", HTMLInputElement).value = words;
      byId("progress").textContent = words ? "searching…" : "";
      this.#show();
      if (!words) return;
      try {
        for (let begin = 0; begin < this.#episodes.length; ) {
          const address = `search?${new URLSearchParams({ words, begin: String(begin) })}`;
          const { matches, next } = await ask(address);
          if (own !== this.#searches) return;
          for (const [place, hits, count] of matches) {
            const episode = this.#episodes[place];
            if (episode) this.#hits.set(episode.key, { hits, count });
          }
          begin = next;
          const all = this.#episodes.length;
          byId("progress").textContent = begin < all ? `searched ${begin} of ${all}` : `found in ${this.#hits.size} of ${all}`;
          this.#show();
        }
      } catch (error) {
        tell(error);
      }
    }
    async #showTables() {
      if (!byId("tables", HTMLDetailsElement).open) return;
      try {
        const tables = await ask("tables");
        byId("shown").replaceChildren(...tables.length ? tables.flatMap(tableParts) : ["nothing is finished yet"]);
      } catch (error) {
        tell(error);
      }
    }
  };
  function countInWords({ kind, wanted, finished, failed, episodes }, shown) {
    const waiting = wanted - finished - failed;
    const some = shown === episodes.length ? "" : `${shown} of `;
    const parts = [
      `${kind}, ${some}${plural(episodes.length, "episode")}`,
      finished > episodes.length && `the first of ${finished} that are finished`,
      waiting > 0 && `${waiting} not finished yet`,
      failed && `${failed} ended in an error`
    ];
    return parts.filter(Boolean).join(", ");
  }
  function tickedInWords([first, second], isPair) {
    if (!first) return "";
    if (!second) return `${nameOf(first)}; tick another episode of its level and seed`;
    return `${nameOf(first)} and ${nameOf(second)}${isPair ? "" : " are not of one level and seed"}`;
  }
  function tableParts({ title, columns, rows, caption }) {
    const head = columns.map((name) => el("th", null, name));
    const body = rows.map(
      (row) => el(
        "tr",
        null,
        row.map((cell) => el("td", null, cell))
      )
    );
    return [
      el("h2", null, title),
      el("table", null, el("thead", null, el("tr", null, head)), el("tbody", null, body)),
      el("p", null, caption)
    ];
  }
  function tell(error) {
    byId("progress").textContent = whyNot(error);
  }
  new Page();
})();
