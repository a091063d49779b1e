import type { Differences } from "../records";
import type { Leader, Player } from "../replay/player";
import { AddressWriter, Clock, listenToKeys, stepOfAddress } from "../shared/clock";
import { byId, el, find, onClick } from "../shared/elements";
import { listenForTheme } from "../shared/theme";
import { plural, say } from "../shared/words";
import { Strip } from "./strip";

/** One of the two episodes, with its page in a frame. */
interface Side {
  player: Player;
  window: Window;
  document: Document;
}

/** What the script of a replay's page gives. */
interface ReplayWindow {
  teamworld: { player: Player };
}

/** Two pages, which follow this one's clock, and what differs between their episodes. */
export class Pair implements Leader {
  readonly clock: Clock;
  readonly #sides: readonly Side[];
  readonly #differences: Required<Pick<Differences, "actions" | "rows">> & Differences;
  readonly #strip: Strip;
  readonly #address: AddressWriter;
  #shown = -1;
  #busy = false;

  constructor(
    readonly frames: readonly HTMLIFrameElement[],
    differences: Differences,
  ) {
    this.#sides = frames.map(sideOf);
    this.#differences = { actions: [], rows: [], ...differences };
    this.clock = new Clock(Math.max(...this.players.map(({ episode }) => episode.steps)));
    this.#address = new AddressWriter(this.clock);
    this.#strip = new Strip(this.#differences, this.clock.steps);
    for (const [at, { player, document }] of this.#sides.entries()) {
      player.follow(this);
      find(".facts", byId(`side${at}`)).textContent = factsOf(document);
    }
    this.clock.listen(() => this.#render());
    this.#listen();
    this.clock.go(stepOfAddress() ?? 0);
  }

  get players(): Player[] {
    return this.#sides.map(({ player }) => player);
  }

  // ---- what the two pages ask for

  choose(from: Player, place: number | null): void {
    this.#both(({ player }) => {
      if (player !== from) player.choose(place);
    });
  }

  show(tab: string): void {
    this.#both(({ document }) => {
      const other = document.getElementById(tab);
      if (other?.getAttribute("aria-selected") === "false") other.click();
    });
  }

  scroll(top: number): void {
    this.#both(({ window }) => {
      if (window.scrollY !== top) window.scrollTo(0, top);
    });
  }

  /** Do the same on both sides; what that leads to on a side does not come back here. */
  #both(act: (side: Side) => void): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#sides.forEach(act);
    this.#busy = false;
  }

  // ---- what is shown

  #render(): void {
    const { clock } = this;
    byId("play").textContent = clock.playing ? "pause" : "play";
    this.#address.write();
    if (this.#shown === clock.step) return;
    this.#shown = clock.step;
    byId("scrub", HTMLInputElement).value = String(clock.step);
    byId("step").textContent = `step ${clock.step} / ${clock.steps}`;
    this.#strip.draw(clock.position);
    this.#writeRows();
  }

  #writeRows(): void {
    const here = this.#differences.rows.filter((row) => row.step === this.clock.step);
    const rows = here.map(({ agent, kind, first, second }) =>
      el("tr", null, el("th", { scope: "row" }, `${say(agent)}: ${kind}`), cell(first), cell(second)),
    );
    byId("rows").replaceChildren(...(rows.length ? [el("table", null, el("tbody", null, rows))] : []));
    byId("count").textContent = here.length
      ? `${plural(here.length, "difference")} in this step`
      : "commitments, plans and messages of this step are the same";
  }

  #redraw(): void {
    this.#shown = -1;
    this.clock.want();
  }

  // ---- what the user does

  /** Go to the difference before or after the moment that is shown. */
  #move(way: -1 | 1): void {
    const places = this.#differences.rows.map((row) => row.step);
    const { step } = this.clock;
    const found = way > 0 ? places.find((place) => place > step) : places.findLast((place) => place < step);
    if (found !== undefined) this.clock.go(found);
  }

  #listen(): void {
    const { clock } = this;
    const { first } = this.#differences;
    byId("first").textContent =
      first === undefined ? "The two episodes are the same" : `They first differ in step ${first}`;
    byId("tofirst").hidden = first === undefined;
    onClick({
      tofirst: () => clock.go(first ?? 0),
      before: () => this.#move(-1),
      after: () => this.#move(1),
      back: () => clock.move(-1),
      next: () => clock.move(1),
      play: () => clock.toggle(),
      theme: () => {
        for (const { document } of this.#sides) document.getElementById("theme")?.click();
      },
    });
    const scrub = byId("scrub", HTMLInputElement);
    scrub.max = String(clock.steps);
    scrub.addEventListener("input", () => clock.go(Number(scrub.value)));
    this.#strip.listen((step) => clock.go(step));
    for (const page of [window, ...this.#sides.map((side) => side.window)]) {
      page.addEventListener("keydown", (event) => this.#key(event));
    }
    listenToKeys(() => clock);
    listenForTheme(() => this.#redraw());
    addEventListener("resize", () => this.#redraw());
  }

  /** Keys that only this page has, wherever the focus is. */
  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n") this.#move(1);
    if (event.key === "p") this.#move(-1);
  }
}

function sideOf({ contentWindow, contentDocument }: HTMLIFrameElement): Side {
  if (!contentWindow || !contentDocument) throw new Error("expected the page of an episode in each frame");
  const { player } = (contentWindow as unknown as ReplayWindow).teamworld;
  return { player, window: contentWindow, document: contentDocument };
}

/** What the head of an episode's page says, but for what names it. */
function factsOf(document: Document): string {
  const facts = [...document.querySelectorAll("#facts > div")].map((fact) =>
    [...fact.children].map((child) => child.textContent ?? ""),
  );
  return facts
    .filter(([name]) => name !== "method" && name !== "run")
    .map((words) => words.join(" "))
    .join(" · ");
}

function cell(texts: readonly string[] = []): HTMLElement {
  if (!texts.length) return el("td", { class: "none" }, "nothing");
  return el(
    "td",
    null,
    texts.map((text) => el("p", null, say(text))),
  );
}
