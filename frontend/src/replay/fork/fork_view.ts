import type { AskedFork, PlayedFork, Replay } from "../../records";
import { type EpisodeName, forkAddress, pairAddress } from "../../shared/addresses";
import { byId, el, nodesOf, onClick } from "../../shared/elements";
import { ask, whyNot } from "../../shared/server";
import { type Change, command, yaml } from "./changes";
import type { ChangeForm } from "./forms";

const BRIEF = 160; // characters of a change in the list of those that were played
const NOTE = "RUN is the folder of the run. A page that is started with teamworld view RUN --forks plays it here.";

/** The panel in which one thing of the episode is changed: as a file and a command, and played where a server may. */
export class ForkView {
  readonly #box = byId("fork", HTMLDialogElement);
  readonly #play = byId("fork-play", HTMLButtonElement);
  readonly #episode: EpisodeName;
  #form: ChangeForm | null = null;
  #asked: AskedFork | null = null;
  #isPlaying = false;
  /** Whether the server plays forks; null until it was asked. */
  #mayPlay: boolean | null = "served" in document.documentElement.dataset ? null : false;

  constructor({ method, seed, episode }: Replay) {
    const run = new URLSearchParams(location.search).get("run") ?? ".";
    this.#episode = { run, method, seed, episode };
    byId("fork-note").textContent = NOTE;
    onClick({
      "fork-close": () => this.#box.close(),
      "fork-copy-file": () => copy("fork-copy-file", "fork-file"),
      "fork-copy-command": () => copy("fork-copy-command", "fork-command"),
      "fork-play": () => this.#playFork(),
    });
    this.#box.addEventListener("keydown", (event) => event.stopPropagation()); // not for the page below
    this.#box.addEventListener("click", (event) => {
      if (event.target === this.#box) this.#box.close();
    });
    for (const kind of ["input", "change"]) byId("fork-fields").addEventListener(kind, () => this.#read());
  }

  open(form: ChangeForm): void {
    this.#form = form;
    byId("fork-what").textContent = form.title;
    byId("fork-where").textContent = `step ${form.step}; all before it stays as it was`;
    byId("fork-fields").replaceChildren(...nodesOf(form.fields));
    if (!this.#isPlaying) this.#tell("");
    this.#read();
    if (!this.#box.open) this.#box.showModal();
    byId("fork-what").focus();
    if (this.#mayPlay === null) this.#askServer();
  }

  async #askServer(): Promise<void> {
    try {
      this.#mayPlay = await ask<boolean>("forks");
      this.#show();
    } catch (error) {
      this.#tell(whyNot(error), true);
    }
  }

  /** Read the form, and show what it says. */
  #read(): void {
    let fault = "";
    this.#asked = null;
    try {
      if (this.#form) this.#asked = { step: this.#form.step, change: this.#form.read() };
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
    byId("fork-fault").hidden = !fault;
    byId("fork-fault").textContent = fault;
    this.#show();
  }

  #show(): void {
    const asked = this.#asked;
    byId("fork-told").hidden = !asked;
    byId("fork-file").textContent = asked && yaml(asked.change);
    byId("fork-command").textContent = asked && command(this.#episode, asked.step);
    byId("fork-note").hidden = this.#mayPlay === true;
    this.#play.hidden = !this.#mayPlay;
    this.#play.disabled = !asked || this.#isPlaying;
  }

  async #playFork(): Promise<void> {
    const [asked, title] = [this.#asked, this.#form?.title ?? ""];
    if (!asked || this.#isPlaying) return;
    this.#isPlaying = true;
    this.#show();
    this.#tell("playing …");
    try {
      const played = await ask<PlayedFork>(forkAddress(this.#episode), asked);
      this.#tell("");
      this.#list(title, asked, played);
    } catch (error) {
      this.#tell(whyNot(error), true);
    }
    this.#isPlaying = false;
    this.#show();
  }

  #tell(words: string, isBad = false): void {
    byId("fork-state").textContent = words;
    byId("fork-state").classList.toggle("bad", isBad);
  }

  /** Add a fork that was played, the newest first; it stays while other changes are looked at. */
  #list(title: string, { step, change }: AskedFork, played: PlayedFork): void {
    const href = pairAddress(this.#episode, played, played.first_difference ?? 0);
    byId("fork-played").hidden = false;
    byId("fork-played").prepend(
      el(
        "li",
        { title: played.folder },
        `${title}, step ${step}: ${outcome(played)} `,
        el("a", { href }, "see both side by side"),
        el("div", { class: "aside" }, inShort(change)),
      ),
    );
    byId("fork-played").scrollIntoView({ block: "nearest" });
  }
}

/** What was changed, on one line. */
function inShort(change: Change): string {
  const text = yaml(change).replace(/\n\s*/g, " ");
  return text.length > BRIEF ? `${text.slice(0, BRIEF)}…` : text;
}

/** What became of an episode and of its fork, in words. */
export function outcome({ completion, steps, first_difference }: PlayedFork): string {
  if (first_difference === null) return "nothing went otherwise.";
  const [before, after] = completion.map((share) => (share === null ? "none" : `${+(100 * share).toPrecision(3)} %`));
  return (
    `completion ${after} (${before} in the episode), ${steps[1]} steps (${steps[0]}), ` +
    `otherwise from step ${first_difference} on.`
  );
}

/** Copy a text; where the browser forbids it, select it. */
async function copy(button: string, id: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(byId(id).textContent ?? "");
    byId(button).textContent = "copied";
  } catch {
    getSelection()?.selectAllChildren(byId(id));
    byId(button).textContent = "selected";
  }
  setTimeout(() => {
    byId(button).textContent = "copy";
  }, 1500);
}
