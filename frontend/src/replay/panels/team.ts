import type { Episode } from "../../episode/episode";
import type { Lane, Standing } from "../../episode/lane";
import type { ActionSpan, CommitmentSpan, PlanRow, WorthRow } from "../../records";
import { byId, type Child, el } from "../../shared/elements";
import { say } from "../../shared/words";
import { agentForm, planForm } from "../fork/forms";
import type { PanelCalls } from "./panels";
import { changeButton, disc, goalChip, type Panel, worthInWords } from "./parts";

const MARKS: Record<Standing, string> = { next: "", running: "▸", done: "✓", failed: "✕", passed: "⤼", stopped: "…" };

/** How a plan ends whose actions are all over while its goal is not: ordinary, the agent plans again. */
const GOAL_OPEN = "goal_open";

interface Card {
  lane: Lane;
  node: HTMLElement;
  /** Of what it shows. */
  key: string;
}

/** What of an agent its card shows. */
interface AgentState {
  plan: PlanRow | null;
  before: PlanRow | null;
  span: ActionSpan | null;
  hold: CommitmentSpan | null;
}

/** A card for each agent: its commitment, its plan and how the plan stands. Only cards in view are kept up to date. */
export class Team implements Panel {
  readonly #box = byId("team");
  readonly #cards: readonly Card[];
  readonly #inView = new Set<Card>();
  readonly #worths: ReadonlyMap<string | undefined, WorthRow>;
  /** A card that was chosen and may not be in view yet. */
  #wanted: Card | null = null;
  #t = 0;

  constructor(
    readonly episode: Episode,
    worths: readonly WorthRow[],
    readonly calls: PanelCalls,
  ) {
    this.#worths = new Map(worths.map((row) => [row.agent, row]));
    this.#cards = episode.team.map((lane, place) => {
      const node = el("div", { class: "agent", on: { click: () => calls.choose(place) } }, say(lane.name)); // a search finds it
      return { lane, node, key: "" };
    });
    this.#box.append(...this.#cards.map(({ node }) => node));
    this.#watch();
  }

  #watch(): void {
    const cards = new Map<Element, Card>(this.#cards.map((card) => [card.node, card]));
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const card = cards.get(target);
          if (!card) continue;
          if (isIntersecting) this.#inView.add(card);
          else this.#inView.delete(card);
        }
        this.update(this.#t);
        this.#scrollTo(this.#wanted); // cards above it have their height only now
        this.#wanted = null;
      },
      { root: this.#box, rootMargin: "200px" },
    );
    for (const { node } of this.#cards) observer.observe(node);
  }

  update(t: number): void {
    this.#t = t;
    for (const card of this.#inView) this.#show(card);
  }

  #show(card: Card): void {
    const { lane } = card;
    const t = this.#t;
    const [plan, before] = lane.planning(t);
    const [span, hold] = [lane.span(t), lane.hold(t)];
    const isOver = t >= this.episode.steps;
    const key = [
      plan?.plan,
      before?.plan,
      span?.start,
      span?.action,
      hold?.goal,
      hold?.start,
      lane.isGone(t),
      isOver,
    ].join();
    if (key === card.key) return;
    card.key = key;
    card.node.replaceChildren(...this.#card(lane, { plan, before, span, hold }));
  }

  #card(lane: Lane, state: AgentState): HTMLElement[] {
    const { before } = state;
    const worth = this.#worths.get(lane.name);
    const parts = [
      this.#head(lane, state),
      this.#plan(lane, state),
      before && lastPlan(before),
      worth &&
        el(
          "p",
          { class: "worth", title: "Shapley value: what it adds to those that act, against waiting" },
          worthInWords(worth),
        ),
    ];
    return parts.filter((part) => part instanceof HTMLElement);
  }

  #head(lane: Lane, { plan, hold }: AgentState): HTMLElement {
    const { episode } = this;
    const goal = hold ? [goalChip(episode, hold.goal)] : plansFor(episode, plan);
    return el(
      "div",
      { class: "row" },
      disc(episode, lane.name, lane.aim(this.#t)),
      el("strong", null, say(lane.name)),
      !lane.isGone(this.#t) && changeButton(`who plays ${say(lane.name)}`, () => this.#handOver(lane), "hand over"),
      goal,
      lane.isGone(this.#t) && el("span", { class: "aside" }, `gone: ${lane.gone_why}`),
      plan && el("span", { class: "aside right" }, `${plan.origin} plan, since step ${plan.start}`),
      plan && changeButton(`the plan of ${say(lane.name)}`, () => this.calls.change(planForm(plan))),
    );
  }

  #handOver(lane: Lane): void {
    this.calls.change(agentForm(lane.name, Math.min(this.#t, this.episode.steps - 1)));
  }

  #plan(lane: Lane, { plan, span }: AgentState): HTMLElement {
    const isWaiting = !plan && (span?.action.startsWith("wait(") ?? false);
    const isStray = span && !isWaiting && (!plan || span.place === undefined);
    if (!plan && !isStray) {
      const isOver = this.#t >= this.episode.steps;
      return el("p", { class: "last" }, isOver ? "the episode is over" : isWaiting ? "no plan, waits" : "no plan");
    }
    const stray =
      isStray && el("li", { class: "running" }, el("span", { class: "mark" }, MARKS.running), say(span.action));
    return el(
      "ol",
      { class: "plan" },
      stray,
      plan?.actions.map((action, place) => this.#action(lane, plan, action, place)),
    );
  }

  #action(lane: Lane, plan: PlanRow, action: string, place: number): HTMLElement {
    const [standing, span] = lane.standing(plan, place, this.#t);
    const words = span ? this.episode.ending(span) : "still to come";
    const title = `${action}: ${standing === "running" ? "running" : words}`;
    const mark = MARKS[standing] && el("span", { class: "mark" }, MARKS[standing]);
    return el("li", { class: standing, title }, mark || null, say(action));
  }

  setChosen(place: number | null): void {
    for (const [at, { node }] of this.#cards.entries()) node.classList.toggle("chosen", at === place);
    this.#wanted = this.#cards[place ?? -1] ?? null;
    this.#scrollTo(this.#wanted);
  }

  #scrollTo(card: Card | null): void {
    if (!card) return;
    const { scrollTop, clientHeight } = this.#box;
    const { offsetTop, offsetHeight } = card.node;
    const isInView = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
    if (!isInView) this.#box.scrollTop = offsetTop - 8;
  }
}

const plansFor = (episode: Episode, plan: PlanRow | null): Child =>
  plan?.goal && [el("span", { class: "aside" }, "plans for"), goalChip(episode, plan.goal)];

/** How the plan before ended. */
function lastPlan(plan: PlanRow): HTMLElement {
  const isBad = plan.status === "failed" && plan.ended !== GOAL_OPEN;
  const goal = plan.goal ? ` for ${say(plan.goal)}` : "";
  const words = `last plan${goal}: ${planEnd(plan)} at step ${plan.end}`;
  return el("p", { class: isBad ? "last bad" : "last" }, words);
}

function planEnd({ status, ended }: PlanRow): string {
  if (ended === GOAL_OPEN) return "carried out, goal still open";
  return `${status}${ended && ended !== status ? ` (${ended.replaceAll("_", " ")})` : ""}`;
}
