import type { Episode } from "../../episode/episode";
import type { KnownFact } from "../../episode/knowledge";
import { byId, el } from "../../shared/elements";
import { say } from "../../shared/words";
import type { Panel } from "./parts";

const MOST_ROWS = 400; // of a group

/** What the chosen agent knows at the step: perceived, perceived before, believed, and against what is so. */
export class Knows implements Panel {
  readonly #box = byId("knows");
  readonly #list = el("div");
  readonly #who: HTMLSelectElement;
  readonly #about: HTMLSelectElement;
  readonly #words: HTMLInputElement;
  #t = 0;
  #key = "";

  constructor(
    readonly episode: Episode,
    choose: (place: number) => void,
  ) {
    const again = () => this.#again();
    const options = episode.team.map(({ name }, place) => el("option", { value: place }, say(name)));
    this.#who = el(
      "select",
      { id: "knower", "aria-label": "Who knows", on: { change: () => choose(Number(this.#who.value)) } },
      options,
    );
    this.#about = el("select", { id: "known-about", "aria-label": "About what", on: { change: again } });
    this.#words = el("input", {
      id: "known-words",
      type: "search",
      placeholder: "words",
      "aria-label": "Facts with these words",
      on: { input: again },
    });
    if (!episode.knowledge) {
      const words = "This log does not say what agents perceive and believe: run with --log-level beliefs.";
      this.#box.append(el("p", { class: "empty" }, words));
      return;
    }
    this.#box.append(el("div", { class: "tools" }, this.#who, this.#about, this.#words), this.#list);
    this.setChosen(0);
  }

  setChosen(place: number | null): void {
    const name = this.episode.team[place ?? -1]?.name;
    if (!this.episode.knowledge || name === undefined) return;
    this.#who.value = String(place);
    const subjects = this.episode.knowledge.subjects(name);
    this.#about.hidden = !subjects.length;
    this.#about.replaceChildren(
      el("option", { value: "" }, "of the world"),
      ...subjects.map((other) => el("option", { value: other }, `what ${say(other)} knows`)),
    );
    this.#again();
  }

  #again(): void {
    this.#key = "";
    this.update(this.#t);
  }

  update(t: number): void {
    this.#t = t;
    const name = this.episode.team[Number(this.#who.value)]?.name;
    if (!this.episode.knowledge || name === undefined || this.#box.hidden) return;
    const about = this.#about.value || null;
    const words = this.#words.value.trim().toLowerCase();
    const key = [t, name, about, words].join("|");
    if (key === this.#key) return;
    this.#key = key;
    const rows = this.episode.knowledge.rows(name, about, t).filter(({ text }) => {
      return [text, say(text)].some((form) => form.toLowerCase().includes(words));
    });
    const parts = groupsOf(rows, about !== null).flatMap(([head, part]) => [
      el("h3", null, `${head} `, el("span", { class: "count" }, String(part.length))),
      ...part.slice(0, MOST_ROWS).map((row) => this.#row(row)),
      ...(part.length > MOST_ROWS ? [el("p", { class: "aside" }, `and ${part.length - MOST_ROWS} more`)] : []),
    ]);
    const nothing = el("p", { class: "empty" }, words ? "No fact with these words." : "Nothing.");
    this.#list.replaceChildren(...(parts.length ? parts : [nothing]));
  }

  #row({ text, now, age, belief, holds, wrong }: KnownFact): HTMLElement {
    const words: string[] = [];
    if (!now && age !== null) {
      words.push(`perceived ${age <= 1 ? "a step" : `${age} steps`} ago${holds === false ? ", not so any more" : ""}`);
    }
    if (belief && (belief.chance < 1 || belief.source !== "own")) {
      const unit = this.episode.ticks ? "tick" : "step";
      words.push(
        `believed to ${percent(belief.chance)}, from ${sourceInWords(belief.source)} since ${unit} ${belief.since}`,
      );
    }
    const isUnsure = belief && belief.chance < 1;
    return el(
      "div",
      { class: wrong ? "fact wrong" : now ? "fact" : "fact old" },
      el("span", null, wrong ? "✕ " : "", say(text)),
      isUnsure && el("i", { class: "chance", css: { "--chance": `${100 * belief.chance}%` } }),
      el("span", { class: "aside" }, words.join("; ")),
    );
  }
}

/** Facts under the heads that they are listed below; heads without facts are left out. */
function groupsOf(rows: readonly KnownFact[], isOfTeammate: boolean): [string, KnownFact[]][] {
  const others = rows.filter((row) => !row.wrong && !row.now);
  const groups: [string, KnownFact[]][] = [
    [isOfTeammate ? "believed against what it knows" : "believed against the truth", rows.filter((row) => row.wrong)],
    ["perceived now", rows.filter((row) => !row.wrong && row.now)],
    [
      "perceived before",
      others.filter((row) => row.age !== null).sort((one, other) => (one.age ?? 0) - (other.age ?? 0)),
    ],
    [isOfTeammate ? "believed, and so" : "believed, not perceived", others.filter((row) => row.age === null)],
  ];
  return groups.filter(([, part]) => part.length);
}

const percent = (chance: number): string => `${+(100 * chance).toPrecision(3)} %`;
const sourceInWords = (source: string): string =>
  source.replace(/^message:(\d+)$/, "a message").replace(/^own$/, "own sight");
