import type { Episode } from "../../episode/episode";
import type { Question } from "../../episode/question_log";
import type { EpisodeMemory, Replay } from "../../records";
import { byId, el, find } from "../../shared/elements";
import type { ChangeForm } from "../fork/forms";
import { failureFeed } from "./failures";
import { Goals } from "./goals";
import { jointFeed } from "./joints";
import { Knows } from "./knows";
import { writeMemory } from "./memory";
import type { Jump, Panel } from "./parts";
import { questionFeed } from "./questions";
import { talkFeed } from "./talk";
import { Team } from "./team";

/** What the panels ask of the page. */
export interface PanelCalls {
  jump: Jump;
  choose(place: number): void;
  ask(question: Question): void;
  /** Open the panel in which something is changed. */
  change(form: ChangeForm): void;
  /** The moment that is shown. */
  moment(): number;
}

/** Lists beside the picture, in tabs. */
export class Panels {
  readonly #team: Team;
  /** Null until knowledge is unpacked. */
  knows: Knows | null = null;
  /** By the id of the tab's panel; only what is on the page is brought up to date. */
  readonly #parts: Map<string, Panel>;

  constructor(
    readonly episode: Episode,
    { labels, worths = [] }: Replay,
    readonly calls: PanelCalls,
  ) {
    const { jump, moment } = calls;
    this.#team = new Team(episode, worths, calls);
    this.#parts = new Map<string, Panel>([
      ["team", this.#team],
      ["goals", new Goals(episode, jump)],
      ["talk", talkFeed(episode, worths, calls)],
      ["joints", jointFeed(episode, jump, moment)],
      ["failures", failureFeed(episode, labels, jump, moment)],
    ]);
    const lists = { talk: episode.messages, joints: episode.joints, failures: episode.failures };
    const counted = { team: episode.team, goals: episode.goals, ...lists };
    for (const [id, rows] of Object.entries(counted)) writeCount(id, rows.length);
    const full = Object.entries(lists).find(([, rows]) => rows.length)?.[0] ?? "talk";
    for (const panel of document.querySelectorAll(".panel")) {
      const show = listenToTabs(panel, () => this.update(moment()));
      const tab = panel.querySelector(`#tab-${full}`);
      if (tab instanceof HTMLElement) show(tab);
    }
    find("main").classList.toggle("silent", episode.messages.length === 0); // the team gets the room
  }

  /** Show questions, knowledge and memory, which are unpacked when the page is there already. */
  takeRest(memory: EpisodeMemory | null): void {
    const { questions } = this.episode.asked;
    writeCount("asked", questions.filter((question) => !question.skipped).length);
    this.#parts.set("asked", questionFeed(this.episode, this.calls));
    this.knows = new Knows(this.episode, this.calls.choose);
    this.#parts.set("knows", this.knows);
    writeMemory(this.episode, memory, this.calls.jump);
    this.update(this.calls.moment());
  }

  setChosen(place: number | null): void {
    this.#team.setChosen(place);
    this.knows?.setChosen(place);
  }

  update(t: number): void {
    for (const [id, part] of this.#parts) if (!byId(id).hidden) part.update(t);
  }
}

function writeCount(id: string, count: number): void {
  byId(`tab-${id}`).append(el("span", { class: "count" }, String(count)));
}

/** Tabs of a panel; arrow keys move between them. Returns what shows one of them. */
function listenToTabs(panel: Element, changed: () => void): (tab: HTMLElement) => void {
  const tabs = [...panel.querySelectorAll<HTMLElement>("[role=tab]")];
  const show = (shown: HTMLElement) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === shown));
      tab.tabIndex = tab === shown ? 0 : -1;
      byId(tab.getAttribute("aria-controls") ?? "").hidden = tab !== shown;
    }
    changed();
  };
  for (const [at, tab] of tabs.entries()) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      event.stopPropagation();
      const other = tabs[(at + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length] ?? tab;
      show(other);
      other.focus();
    });
  }
  return show;
}
