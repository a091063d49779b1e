"use strict";
// Lists the episodes of a folder, filters and plots them, and searches what was said. The address holds the whole state.
(function (tw) {
  const [RUN, LEVEL, METHOD, SEED, EPISODE, REASON, VALUES] = [0, 1, 2, 3, 4, 5, 6];
  const FILTERS = { run: RUN, level: LEVEL, method: METHOD, seed: SEED };
  const PAGE = 200; // rows that are made at a time
  const POLL = 2000; // milliseconds between two questions whether more is finished
  const [LEFT, TOP, RIGHT, BOTTOM, HEIGHT] = [92, 10, 44, 34, 260];

  let data = null;
  let hits = new Map(); // by the key of an episode: what was found in it
  let searching = 0; // counts searches, so that an older one ends
  let rows = PAGE;
  let points = [];
  const state = new Map();
  let ticked = []; // the episodes that are to stand side by side, at most two

  const key = (row) => JSON.stringify(row.slice(0, 5));
  const get = (name, usual = "") => state.get(name) ?? usual;
  const number = (value) => (value === null || value === undefined ? "–" : Number.isInteger(value) ? String(value) : String(+value.toPrecision(4)));

  /** The address of an episode's replay, at a step. */
  function replay(row, step) {
    const asked = new URLSearchParams({ run: row[RUN], method: row[METHOD], seed: row[SEED], episode: row[EPISODE] });
    return `replay?${asked}${step ? `#t=${step}` : ""}`;
  }

  /** The address of two episodes side by side. */
  function pair([first, second]) {
    const names = (row, end) => Object.entries({ run: row[RUN], method: row[METHOD], seed: row[SEED], episode: row[EPISODE] }).map(([name, value]) => [name + end, value]);
    return `pair?${new URLSearchParams([...names(first, ""), ...names(second, "2")])}`;
  }

  /** Tick an episode or untick it; of three the oldest goes. */
  function tick(row) {
    const rest = ticked.filter((other) => key(other) !== key(row));
    ticked = rest.length < ticked.length ? rest : [...ticked.slice(-1), row];
    for (const box of document.querySelectorAll("#episodes input")) box.checked = ticked.some((other) => key(other) === box.value);
    showTicked();
  }

  function showTicked() {
    const [first, second] = ticked;
    const name = (row) => `${row[METHOD]}, seed ${row[SEED]}, episode ${row[EPISODE]}`;
    const alike = second && first[LEVEL] === second[LEVEL] && first[SEED] === second[SEED];
    tw.byId("ticked").hidden = !first;
    tw.byId("beside").hidden = !alike;
    if (alike) tw.byId("beside").href = pair(ticked);
    tw.byId("which").textContent = !first ? "" : !second ? `${name(first)}; tick another episode of its level and seed` : `${name(first)} and ${name(second)}${alike ? "" : " are not of one level and seed"}`;
  }

  function readAddress() {
    state.clear();
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) state.set(name, value);
  }

  function set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === "" || value === null) state.delete(name);
      else state.set(name, String(value));
    }
    history.replaceState(null, "", `#${new URLSearchParams([...state])}`);
    rows = PAGE;
    show();
  }

  /** What can be plotted or sorted by: name and how to read it. */
  function measures() {
    const own = data.measures.map((name, place) => [name, (row) => row[VALUES][place]]);
    return new Map([["episode", (row) => row[EPISODE]], ["seed", (row) => row[SEED]], ...own]);
  }

  const chosen = () =>
    data.episodes.filter(
      (row) =>
        Object.entries(FILTERS).every(([name, place]) => !state.has(name) || String(row[place]) === state.get(name)) &&
        (!state.has("words") || hits.has(key(row)))
    );

  function sorted(list) {
    const name = get("sort");
    if (!name) return list;
    const read = measures().get(name) ?? ((row) => row[{ ...FILTERS, reason: REASON }[name]] ?? null);
    const order = state.has("down") ? -1 : 1;
    const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    return list
      .map((row) => [read(row), row])
      .sort(([one], [other]) => (one === null) - (other === null) || order * compare(one, other))
      .map(([, row]) => row);
  }

  // ---- the parts of the page

  function showFilters() {
    const parts = [];
    for (const [name, place] of Object.entries(FILTERS)) {
      const values = [...new Set(data.episodes.map((row) => String(row[place])))];
      if (values.length < 2 && !state.has(name)) continue;
      if (state.has(name) && !values.includes(state.get(name))) values.push(state.get(name));
      const options = values.map((value) => tw.el("option", { value, selected: value === get(name) }, value));
      const select = tw.el("select", { id: `filter-${name}`, on: { change: (event) => set({ [name]: event.target.value }) } }, tw.el("option", { value: "" }, "all"), options);
      parts.push(tw.el("label", null, `${name} `, select));
    }
    tw.byId("choices").replaceChildren(...parts);
  }

  /** What is plotted unless something else is chosen: the first measure that is not the same everywhere. */
  function axes() {
    const differs = data.measures.findIndex((_, place) => data.episodes.some((row) => row[VALUES][place] !== data.episodes[0][VALUES][place]));
    return [["up", data.measures[Math.max(0, differs)]], ["across", "episode"]];
  }

  function showAxes() {
    for (const [id, usual] of axes()) {
      const options = [...measures().keys()].map((name) => tw.el("option", { value: name, selected: name === get(id, usual) }, name));
      tw.byId(id).replaceChildren(...options);
    }
  }

  function colours() {
    const methods = [...new Set(data.episodes.map((row) => row[METHOD]))];
    return new Map(methods.map((method, place) => [method, tw.goalColour(place)]));
  }

  function showPlot(list) {
    const canvas = tw.byId("plot");
    const width = Math.max(240, canvas.parentElement.clientWidth - 26);
    const pen = tw.fit(canvas, width, HEIGHT);
    const theme = tw.theme();
    const [up, across] = axes().map(([id, usual]) => (measures().has(get(id, usual)) ? get(id, usual) : usual));
    const [readUp, readAcross] = [measures().get(up), measures().get(across)];
    const colour = colours();
    points = list.map((row) => [readAcross(row), readUp(row), row]).filter(([x, y]) => x !== null && y !== null);
    pen.clearRect(0, 0, width, HEIGHT);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = theme.soft;
    canvas.setAttribute("aria-label", `${up} by ${across} of ${tw.plural(points.length, "episode")}; the table has the same values`);
    if (!points.length) {
      pen.fillText("no episode to plot", LEFT, TOP + 20);
      return;
    }
    const span = (place) => {
      let [low, high] = [Infinity, -Infinity];
      for (const point of points) [low, high] = [Math.min(low, point[place]), Math.max(high, point[place])];
      return low === high ? [low - 0.5, high + 0.5] : [low, high];
    };
    const [[x0, x1], [y0, y1]] = [span(0), span(1)];
    const toX = (x) => LEFT + ((x - x0) / (x1 - x0)) * (width - LEFT - RIGHT);
    const toY = (y) => HEIGHT - BOTTOM - ((y - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
    pen.strokeStyle = theme.line;
    for (const share of [0, 0.5, 1]) {
      const [x, y] = [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
      pen.beginPath();
      pen.moveTo(LEFT, toY(y));
      pen.lineTo(width - RIGHT, toY(y));
      pen.stroke();
      pen.textAlign = "right";
      pen.fillText(number(y), LEFT - 8, toY(y) + 4);
      pen.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
      pen.fillText(number(x), toX(x), HEIGHT - BOTTOM + 16);
    }
    pen.textAlign = "center";
    pen.fillText(across, (LEFT + width - RIGHT) / 2, HEIGHT - 4);
    pen.globalAlpha = points.length > 500 ? 0.5 : 0.85;
    const beside = new Set(points.map(([x]) => x)).size <= 40 ? 7 : 0; // points of methods at the same place lie side by side
    const places = new Map([...colour.keys()].map((method, place) => [method, (place - (colour.size - 1) / 2) * Math.min(beside, 60 / colour.size)]));
    for (const point of points) {
      point.push(toX(point[0]) + places.get(point[2][METHOD]), toY(point[1]));
      pen.fillStyle = colour.get(point[2][METHOD]);
      pen.beginPath();
      pen.arc(point[3], point[4], points.length > 2000 ? 2 : 4, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    const shown = new Set(list.map((row) => row[METHOD]));
    const names = [...colour].filter(([method]) => shown.has(method));
    tw.byId("legend").replaceChildren(...names.map(([method, fill]) => tw.el("span", null, tw.el("i", { css: { background: fill } }), method)));
  }

  /** The point nearest to a place on the plot, if it is near. */
  function pointAt(event) {
    const box = tw.byId("plot").getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, near] = [null, 12 ** 2];
    for (const point of points) {
      const far = (point[3] - x) ** 2 + (point[4] - y) ** 2;
      if (far < near) [best, near] = [point, far];
    }
    return best;
  }

  function showTable(list) {
    const several = (place) => new Set(data.episodes.map((row) => row[place])).size > 1;
    const words = Object.entries(FILTERS).filter(([name, place]) => ["method", "seed"].includes(name) || several(place));
    const box = (row) => tw.el("input", { type: "checkbox", value: key(row), checked: ticked.some((other) => key(other) === key(row)), "aria-label": `${row[METHOD]}, seed ${row[SEED]}, episode ${row[EPISODE]}: side by side with another`, on: { change: () => tick(row) } });
    const columns = [
      ["", box, false],
      ...words.map(([name, place]) => [name, (row) => String(row[place]), name === "seed"]),
      ["episode", (row) => tw.el("a", { href: replay(row), title: "Play it" }, String(row[EPISODE])), true],
      ...data.measures.map((name, place) => [name, (row) => number(row[VALUES][place]), true]),
      ["reason", (row) => row[REASON], false],
    ];
    const heads = columns.map(([name, , right]) => {
      const on = get("sort") === name;
      const sort = on ? (state.has("down") ? "descending" : "ascending") : null;
      const press = () => set({ sort: name, down: on && !state.has("down") ? "1" : "" });
      const unit = data.units[data.measures.indexOf(name)];
      const mark = on ? (state.has("down") ? " ↓" : " ↑") : "";
      if (!name) return tw.el("th", { title: "Tick two episodes to see them side by side" });
      return tw.el("th", { class: right ? "number" : null, "aria-sort": sort }, tw.el("button", { type: "button", title: unit || null, on: { click: press } }, `${name.replaceAll("_", " ")}${mark}`));
    });
    tw.byId("episodes").tHead.replaceChildren(tw.el("tr", null, heads));
    const body = [];
    for (const row of list.slice(0, rows)) {
      body.push(tw.el("tr", null, columns.map(([, read, right]) => tw.el("td", { class: right ? "number" : null }, read(row)))));
      const found = state.has("words") ? hits.get(key(row)) : null;
      if (!found) continue;
      const lines = found.hits.map(([step, who, text]) => tw.el("div", null, tw.el("a", { href: replay(row, step) }, `step ${step}, ${who}`), text));
      if (found.count > found.hits.length) lines.push(tw.el("div", null, `and ${found.count - found.hits.length} more`));
      body.push(tw.el("tr", { class: "hits" }, tw.el("td", { colspan: columns.length }, lines)));
    }
    tw.byId("episodes").tBodies[0].replaceChildren(...body);
    const more = tw.byId("more");
    more.hidden = list.length <= rows;
    more.textContent = `Show more (${rows} of ${list.length})`;
  }

  function show() {
    if (!data) return;
    document.title = `${data.name} – teamworld`;
    tw.byId("title").textContent = data.name;
    const list = sorted(chosen());
    const waits = data.wanted - data.finished - data.failed;
    const parts = [`${data.kind}, ${list.length === data.episodes.length ? "" : `${list.length} of `}${tw.plural(data.episodes.length, "episode")}`];
    if (data.finished > data.episodes.length) parts.push(`the first of ${data.finished} that are finished`);
    if (waits > 0) parts.push(`${waits} not finished yet`);
    if (data.failed) parts.push(`${data.failed} ended in an error`);
    tw.byId("count").textContent = parts.join(", ");
    showFilters();
    showAxes();
    showPlot(list);
    showTable(list);
  }

  // ---- questions to the server

  async function ask(address) {
    const answer = await fetch(address, { credentials: "omit" });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  function tell(error) {
    tw.byId("progress").textContent = error instanceof TypeError ? "the server has ended: start teamworld view again" : error.message;
  }

  async function poll() {
    try {
      const news = await ask(`episodes?${new URLSearchParams({ version: data?.version ?? "" })}`);
      if (news) {
        data = news;
        show();
      }
    } catch (error) {
      tell(error);
    }
    setTimeout(poll, POLL);
  }

  /** Search the logs bit by bit; what is found is shown as it comes. */
  async function search() {
    const own = ++searching;
    const words = get("words");
    hits = new Map();
    tw.byId("words").value = words;
    tw.byId("progress").textContent = words ? "searching…" : "";
    if (!words) return show();
    try {
      for (let begin = 0; begin < data.episodes.length; ) {
        const came = await ask(`search?${new URLSearchParams({ words, begin })}`);
        if (own !== searching) return undefined;
        for (const [place, told, count] of came.matches) if (data.episodes[place]) hits.set(key(data.episodes[place]), { hits: told, count });
        begin = came.next;
        tw.byId("progress").textContent = begin < data.episodes.length ? `searched ${begin} of ${data.episodes.length}` : `found in ${hits.size} of ${data.episodes.length}`;
        show();
      }
    } catch (error) {
      tell(error);
    }
    return undefined;
  }

  async function showTables() {
    const box = tw.byId("shown");
    if (!tw.byId("tables").open) return;
    try {
      const made = (await ask("tables")).map((table) => [
        tw.el("h2", null, table.title),
        tw.el("table", null, tw.el("thead", null, tw.el("tr", null, table.columns.map((name) => tw.el("th", null, name)))),
          tw.el("tbody", null, table.rows.map((row) => tw.el("tr", null, row.map((cell) => tw.el("td", null, cell)))))),
        tw.el("p", null, table.caption),
      ]);
      box.replaceChildren(...(made.length ? made.flat() : ["nothing is finished yet"]));
    } catch (error) {
      tell(error);
    }
  }

  const plot = tw.byId("plot");
  plot.addEventListener("mousemove", (event) => {
    const point = pointAt(event);
    const lines = point ? [`${point[2][METHOD]}, seed ${point[2][SEED]}, episode ${point[2][EPISODE]}`, point[2][LEVEL], `${number(point[1])} at ${number(point[0])}`] : [];
    tw.showTip(lines, event.clientX, event.clientY);
  });
  plot.addEventListener("mouseleave", () => tw.showTip([], 0, 0));
  plot.addEventListener("click", (event) => {
    const point = pointAt(event);
    if (point) location.href = replay(point[2]);
  });
  for (const id of ["up", "across"]) tw.byId(id).addEventListener("change", (event) => set({ [id]: event.target.value }));
  tw.byId("more").addEventListener("click", () => {
    rows += PAGE;
    show();
  });
  tw.byId("clear").addEventListener("click", () => {
    state.clear();
    set({});
    search();
  });
  tw.byId("filters").addEventListener("submit", (event) => {
    event.preventDefault();
    set({ words: tw.byId("words").value.trim() });
    search();
  });
  tw.byId("tables").addEventListener("toggle", showTables);
  addEventListener("resize", show);
  addEventListener("hashchange", () => {
    readAddress();
    search();
  });
  readAddress();
  poll().then(() => data && search());
})(window.teamworld);
