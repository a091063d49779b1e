/** The page that lists the episodes of a folder, filters and plots them, and searches what was said in them. */
import type { Overview, SearchResult, ShownTable } from "../records";
import { pairAddress, replayAddress } from "../shared/addresses";
import { byId, el, onClick } from "../shared/elements";
import { ask, whyNot } from "../shared/server";
import { plural } from "../shared/words";
import { type Episode, FILTERS, measuresOf, namedEpisode, nameOf, PageState } from "./filters";
import { type Measure, Plot } from "./plot";
import { EpisodeTable, type Hits } from "./table";

const POLL = 2000; // milliseconds between two questions whether more is finished

class Page {
  readonly #state = new PageState();
  readonly #plot = new Plot((episode) => {
    location.href = replayAddress(episode);
  });
  readonly #table = new EpisodeTable(this.#state, {
    sort: (name) => this.#sort(name),
    isTicked: (episode) => this.#isTicked(episode),
    tick: (episode) => this.#tick(episode),
  });
  #data: Overview | null = null;
  #episodes: Episode[] = [];
  /** By the key of an episode. */
  #hits = new Map<string, Hits>();
  /** Counts searches, so that an older one ends. */
  #searches = 0;
  /** The episodes that are to stand side by side, at most two. */
  #ticked: Episode[] = [];

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
      },
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

  #set(changes: Record<string, string>): void {
    this.#state.set(changes);
    this.#table.shorten();
    this.#show();
  }

  #sort(name: string): void {
    const isSorted = this.#state.get("sort") === name;
    this.#set({ sort: name, down: isSorted && !this.#state.has("down") ? "1" : "" });
  }

  #isTicked({ key }: Episode): boolean {
    return this.#ticked.some((other) => other.key === key);
  }

  /** Tick an episode or untick it; of three the oldest goes. */
  #tick(episode: Episode): void {
    this.#ticked = this.#isTicked(episode)
      ? this.#ticked.filter(({ key }) => key !== episode.key)
      : [...this.#ticked.slice(-1), episode];
    this.#table.markTicked(this.#ticked);
    this.#showTicked();
  }

  // ---- the parts of the page

  #show(): void {
    const data = this.#data;
    if (!data) return;
    document.title = `${data.name} – teamworld`;
    byId("title").textContent = data.name;
    const measures = measuresOf(data);
    const chosen = this.#episodes.filter(
      (episode) => this.#state.allows(episode) && (!this.#state.has("words") || this.#hits.has(episode.key)),
    );
    const shown = this.#state.sort(chosen, measures);
    byId("count").textContent = countInWords(data, shown.length);
    this.#showFilters();
    const methods = [...new Set(this.#episodes.map(({ method }) => method))];
    const [across, up] = this.#axes(data);
    this.#plot.show(shown, across, up, methods);
    this.#table.show(data, this.#episodes, shown, this.#hits);
  }

  #showFilters(): void {
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
  #axes(data: Overview): [across: Measure, up: Measure] {
    const measures = measuresOf(data);
    const [first] = this.#episodes;
    const differs = data.measures.findIndex((_, place) =>
      this.#episodes.some(({ values }) => values[place] !== first?.values[place]),
    );
    const usual = { across: "episode", up: data.measures[Math.max(0, differs)] ?? "seed" };
    const axis = (id: "across" | "up"): Measure => {
      const name = measures.has(this.#state.get(id)) ? this.#state.get(id) : usual[id];
      const options = [...measures.keys()].map((value) => el("option", { value, selected: value === name }, value));
      byId(id).replaceChildren(...options);
      return { name, read: measures.get(name) ?? (() => null) };
    };
    return [axis("across"), axis("up")];
  }

  #showTicked(): void {
    const [first, second] = this.#ticked;
    const isPair = first && second && first.level === second.level && first.seed === second.seed;
    byId("ticked").hidden = !first;
    byId("beside").hidden = !isPair;
    if (isPair) byId("beside", HTMLAnchorElement).href = pairAddress(first, second);
    byId("which").textContent = tickedInWords(this.#ticked, isPair ?? false);
  }

  // ---- questions to the server

  async #poll(): Promise<void> {
    try {
      const version = this.#data?.version ?? "";
      const news = await ask<Overview | null>(`episodes?${new URLSearchParams({ version })}`);
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
  async #search(): Promise<void> {
    const own = ++this.#searches;
    const words = this.#state.get("words");
    this.#hits = new Map();
    byId("words", HTMLInputElement).value = words;
    byId("progress").textContent = words ? "searching…" : "";
    this.#show();
    if (!words) return;
    try {
      for (let begin = 0; begin < this.#episodes.length; ) {
        const address = `search?${new URLSearchParams({ words, begin: String(begin) })}`;
        const { matches, next } = await ask<SearchResult>(address);
        if (own !== this.#searches) return;
        for (const [place, hits, count] of matches) {
          const episode = this.#episodes[place];
          if (episode) this.#hits.set(episode.key, { hits, count });
        }
        begin = next;
        const all = this.#episodes.length;
        byId("progress").textContent =
          begin < all ? `searched ${begin} of ${all}` : `found in ${this.#hits.size} of ${all}`;
        this.#show();
      }
    } catch (error) {
      tell(error);
    }
  }

  async #showTables(): Promise<void> {
    if (!byId("tables", HTMLDetailsElement).open) return;
    try {
      const tables = await ask<ShownTable[]>("tables");
      byId("shown").replaceChildren(...(tables.length ? tables.flatMap(tableParts) : ["nothing is finished yet"]));
    } catch (error) {
      tell(error);
    }
  }
}

function countInWords({ kind, wanted, finished, failed, episodes }: Overview, shown: number): string {
  const waiting = wanted - finished - failed;
  const some = shown === episodes.length ? "" : `${shown} of `;
  const parts = [
    `${kind}, ${some}${plural(episodes.length, "episode")}`,
    finished > episodes.length && `the first of ${finished} that are finished`,
    waiting > 0 && `${waiting} not finished yet`,
    failed && `${failed} ended in an error`,
  ];
  return parts.filter(Boolean).join(", ");
}

function tickedInWords([first, second]: readonly Episode[], isPair: boolean): string {
  if (!first) return "";
  if (!second) return `${nameOf(first)}; tick another episode of its level and seed`;
  return `${nameOf(first)} and ${nameOf(second)}${isPair ? "" : " are not of one level and seed"}`;
}

function tableParts({ title, columns, rows, caption }: ShownTable): HTMLElement[] {
  const head = columns.map((name) => el("th", null, name));
  const body = rows.map((row) =>
    el(
      "tr",
      null,
      row.map((cell) => el("td", null, cell)),
    ),
  );
  return [
    el("h2", null, title),
    el("table", null, el("thead", null, el("tr", null, head)), el("tbody", null, body)),
    el("p", null, caption),
  ];
}

function tell(error: unknown): void {
  byId("progress").textContent = whyNot(error);
}

new Page();
