import type { Episode } from "../episode/episode";
import type { Question } from "../episode/question_log";
import type { EpisodeMemory, Replay } from "../records";
import { AddressWriter, Clock, listenToKeys, stepOfAddress } from "../shared/clock";
import { byId, el, find, onClick } from "../shared/elements";
import { total } from "../shared/numbers";
import { listenForTheme, readTheme } from "../shared/theme";
import { Curves } from "../stage/curves";
import { Stage } from "../stage/stage";
import { costCurves } from "./cost_curves";
import { ForkView } from "./fork/fork_view";
import { Lanes } from "./lanes/lanes";
import { Panels } from "./panels/panels";
import { QuestionView } from "./question_view";

const SPEEDS = [0.5, 1, 2, 4, 8, 16];
const MARGINS = 84; // pixels between the parts of the page

/** What leads a page that stands beside another one. */
export interface Leader {
  clock: Clock;
  choose(from: Player, place: number | null): void;
  /** A tab was clicked, by its id. */
  show(tab: string): void;
  scroll(top: number): void;
}

/** Puts the parts of the page together and moves through the episode. */
export class Player {
  readonly stage: Stage;
  readonly curves: Curves;
  readonly lanes: Lanes;
  readonly panels: Panels;
  /** Null until the questions are unpacked. */
  ask: QuestionView | null = null;
  chosen: number | null = null;
  /** The moment that all parts show; -1 if they have to be drawn anew. */
  shown = -1;
  theme = readTheme();
  /** Where it is in the episode; beside another one, the clock of both. */
  clock: Clock;
  #address: AddressWriter | null;
  #leader: Leader | null = null;

  constructor(
    readonly episode: Episode,
    replay: Replay,
  ) {
    this.clock = new Clock(episode.steps);
    this.#address = new AddressWriter(this.clock);
    const jump = (step: number) => this.go(step);
    const choose = (place: number) => this.choose(place);
    const ask = (question: Question) => this.ask?.open(question);
    const forks = new ForkView(replay);
    this.stage = new Stage(episode);
    const score = { name: "score", values: replay.reward ?? [], colour: "ink" };
    this.curves = new Curves(episode, [...(this.stage.drawer?.curves?.(episode) ?? []), score], jump);
    this.lanes = new Lanes(episode, this.theme, { jump, choose, ask });
    this.panels = new Panels(episode, replay, {
      jump,
      choose,
      ask,
      change: (form) => forks.open(form),
      moment: () => this.step,
    });
    this.clock.listen(() => this.render());
    this.#listen();
    this.go(stepOfAddress() ?? 0);
    this.resize();
  }

  get position(): number {
    return Math.min(this.clock.position, this.episode.steps);
  }

  /** The moment that is shown. */
  get step(): number {
    return Math.floor(this.position);
  }

  get playing(): boolean {
    return this.clock.playing;
  }

  /** Go to a moment and stop there. */
  go(step: number): void {
    this.clock.go(step);
  }

  choose(place: number | null): void {
    this.#leader?.choose(this, place);
    this.chosen = place;
    this.lanes.setChosen(place);
    this.panels.setChosen(place);
    this.clock.want();
  }

  /** Show questions, knowledge and memory, which are unpacked when the page is there already. */
  takeRest(memory: EpisodeMemory | null): void {
    this.ask = new QuestionView(this.episode, (step) => this.go(step));
    this.panels.takeRest(memory);
    this.stage.writeLayers();
    this.curves.add(costCurves(this.episode));
    this.resize();
  }

  /** Show the episode beside another: the page that holds both leads, and its clock is the clock of this one. */
  follow(leader: Leader): void {
    this.#leader = leader;
    this.clock = leader.clock;
    this.clock.listen(() => this.render());
    this.#address = null;
    document.body.classList.add("beside");
    this.lanes.axis.length = this.curves.length = leader.clock.steps;
    for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => leader.show(tab.id));
    addEventListener("scroll", () => leader.scroll(scrollY));
    this.resize();
  }

  render(): void {
    this.stage.draw(this.position, this.theme, this.chosen);
    this.lanes.moveTo(this.position);
    document.body.classList.toggle("playing", this.playing);
    if (this.shown !== this.step) {
      this.shown = this.step;
      this.stage.writeKey();
      this.curves.draw(this.step, this.theme);
      this.panels.update(this.step);
      this.#writeStep();
    }
    this.#address?.write();
  }

  #writeStep(): void {
    const { episode, step } = this;
    const tick = episode.ticks ? `, tick ${episode.tick(step)}` : "";
    byId("step").textContent = `step ${step} / ${episode.steps}${tick}`;
    const scrub = byId("scrub", HTMLInputElement);
    scrub.value = String(step);
    scrub.style.setProperty("--gone", `${episode.steps ? (100 * step) / episode.steps : 0}%`);
    if (!this.playing) this.stage.describe();
  }

  resize(): void {
    // The picture takes the height that the head and the controls leave; the lanes may go on below.
    const parts = ["header", ".bar", ".curves", ".transport", "#ruler"];
    const rest = MARGINS + total(parts, (part) => find(part).offsetHeight);
    document.documentElement.style.setProperty("--rest", `${rest}px`);
    this.stage.resize();
    this.#redraw();
  }

  /** Draw everything anew at the same moment. */
  #redraw(): void {
    this.lanes.draw(this.theme);
    this.shown = -1;
    this.clock.want();
  }

  // ---- what the user does

  #listen(): void {
    onClick({
      first: () => this.go(0),
      last: () => this.go(this.episode.steps),
      back: () => this.clock.move(-1),
      next: () => this.clock.move(1),
      play: () => this.clock.toggle(),
      in: () => this.lanes.setZoom(this.lanes.axis.zoom * 1.6),
      out: () => this.lanes.setZoom(this.lanes.axis.zoom / 1.6),
      fit: () => this.lanes.setZoom(1),
    });
    const scrub = byId("scrub", HTMLInputElement);
    scrub.max = String(this.episode.steps);
    scrub.addEventListener("input", () => this.go(Number(scrub.value)));
    const speed = byId("speed", HTMLSelectElement);
    speed.append(...SPEEDS.map((factor) => el("option", { value: factor, selected: factor === 1 }, `${factor}×`)));
    speed.addEventListener("change", () => {
      this.clock.speed = Number(speed.value);
    });
    this.stage.listen(
      () => this.#redraw(),
      (place) => this.choose(place === this.chosen ? null : place),
    );
    listenToKeys(() => this.clock);
    listenForTheme(() => {
      this.theme = readTheme();
      this.stage.forgetKey();
      this.#redraw();
    });
    addEventListener("hashchange", () => this.go(stepOfAddress() ?? this.step));
    for (const box of [byId("chart"), this.stage.canvas.parentElement]) {
      if (box) new ResizeObserver(() => this.resize()).observe(box);
    }
  }
}
