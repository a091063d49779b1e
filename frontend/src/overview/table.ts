import type { Overview } from "../records";
import { replayAddress } from "../shared/addresses";
import { byId, type Child, el } from "../shared/elements";
import { type Episode, FILTERS, nameOf, type PageState } from "./filters";
import { numberInWords } from "./plot";

const PAGE = 200; // rows that are made at a time

/** What was found in an episode, with the number of all hits. */
export interface Hits {
  hits: [step: number, who: string, text: string][];
  count: number;
}

export interface TableCalls {
  /** Sort by a column, the other way round if it is sorted by it already. */
  sort(name: string): void;
  isTicked(episode: Episode): boolean;
  tick(episode: Episode): void;
}

interface Column {
  /** Empty of the boxes. */
  name: string;
  read: (episode: Episode) => Child;
  isNumber?: boolean;
}

/** The episodes as a table, with what was found in each below it. */
export class EpisodeTable {
  readonly #table = byId("episodes", HTMLTableElement);
  readonly #more = byId("more");
  #most = PAGE;
  #again: () => void = () => {};

  constructor(
    readonly state: PageState,
    readonly calls: TableCalls,
  ) {
    this.#more.addEventListener("click", () => {
      this.#most += PAGE;
      this.#again();
    });
  }

  /** Show no more rows than at first. */
  shorten(): void {
    this.#most = PAGE;
  }

  show(data: Overview, all: readonly Episode[], episodes: readonly Episode[], hits: ReadonlyMap<string, Hits>): void {
    this.#again = () => this.show(data, all, episodes, hits);
    const columns = this.#columns(data, all);
    this.#table.tHead?.replaceChildren(el("tr", null, ...columns.map((column) => this.#head(column, data))));
    const rows = episodes.slice(0, this.#most).flatMap((episode) => {
      const cells = columns.map(({ read, isNumber }) => el("td", { class: isNumber && "number" }, read(episode)));
      const found = this.state.has("words") ? hits.get(episode.key) : undefined;
      const below = found
        ? [el("tr", { class: "hits" }, el("td", { colspan: columns.length }, hitLines(episode, found)))]
        : [];
      return [el("tr", null, cells), ...below];
    });
    this.#table.tBodies[0]?.replaceChildren(...rows);
    this.#more.hidden = episodes.length <= this.#most;
    this.#more.textContent = `Show more (${this.#most} of ${episodes.length})`;
  }

  /** Bring the boxes up to date with what is ticked. */
  markTicked(ticked: readonly Episode[]): void {
    for (const box of this.#table.querySelectorAll("input")) box.checked = ticked.some(({ key }) => key === box.value);
  }

  #columns({ measures }: Overview, all: readonly Episode[]): Column[] {
    const isShown = (name: (typeof FILTERS)[number]) =>
      name === "method" || name === "seed" || new Set(all.map((episode) => episode[name])).size > 1;
    return [
      { name: "", read: (episode) => this.#box(episode) },
      ...FILTERS.filter(isShown).map((name) => ({
        name,
        read: (episode: Episode) => String(episode[name]),
        isNumber: name === "seed",
      })),
      {
        name: "episode",
        read: (episode) => el("a", { href: replayAddress(episode), title: "Play it" }, String(episode.episode)),
        isNumber: true,
      },
      ...measures.map((name, place) => ({
        name,
        read: ({ values }: Episode) => numberInWords(values[place]),
        isNumber: true,
      })),
      { name: "reason", read: ({ reason }) => reason },
    ];
  }

  #box(episode: Episode): HTMLElement {
    return el("input", {
      type: "checkbox",
      value: episode.key,
      checked: this.calls.isTicked(episode),
      "aria-label": `${nameOf(episode)}: side by side with another`,
      on: { change: () => this.calls.tick(episode) },
    });
  }

  #head({ name, isNumber }: Column, { measures, units }: Overview): HTMLElement {
    if (!name) return el("th", { title: "Tick two episodes to see them side by side" });
    const order = this.state.get("sort") !== name ? null : this.state.has("down") ? "descending" : "ascending";
    const mark = order === null ? "" : order === "descending" ? " ↓" : " ↑";
    const title = units[measures.indexOf(name)] || null;
    const sort = () => this.calls.sort(name);
    const words = `${name.replaceAll("_", " ")}${mark}`;
    const button = el("button", { type: "button", title, on: { click: sort } }, words);
    return el("th", { class: isNumber && "number", "aria-sort": order }, button);
  }
}

function hitLines(episode: Episode, { hits, count }: Hits): HTMLElement[] {
  const lines = hits.map(([step, who, text]) =>
    el("div", null, el("a", { href: replayAddress(episode, step) }, `step ${step}, ${who}`), text),
  );
  return count > hits.length ? [...lines, el("div", null, `and ${count - hits.length} more`)] : lines;
}
