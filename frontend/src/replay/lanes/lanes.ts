import type { Episode } from "../../episode/episode";
import type { Question } from "../../episode/question_log";
import { fit } from "../../shared/canvas";
import { byId, find, hideTip, showTip } from "../../shared/elements";
import { clamp } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import { Axis, GUTTER } from "./axis";
import { LanePen } from "./lane_drawing";
import { laneInWords } from "./lane_words";
import { type Group, GroupPaces, groupInWords, LaneRows } from "./rows";
import { Ruler } from "./ruler";

const MARK_HIGH = 8; // pixels at the top of a lane, where its questions are marked
const NEAR = 5; // pixels to either side of a mark that open it

/** What the lanes ask of the page. */
export interface LaneCalls {
  jump(step: number): void;
  /** Choose an agent by its place in the team. */
  choose(place: number): void;
  ask(question: Question): void;
}

/**
 * Time from left to right: a ruler, and below it a lane of actions for each agent, in groups where there are many. Only
 * lanes in view are drawn, and only when the view changes; what moves with time is a line and a veil above them.
 */
export class Lanes {
  readonly axis: Axis;
  /** Pixels of a row. */
  readonly high: number;
  readonly list: LaneRows;
  chosen: number | null = null;
  readonly #box = byId("lanes");
  readonly #sky = find(".sky", this.#box);
  readonly #bars = byId("bars", HTMLCanvasElement);
  readonly #cursor = byId("cursor");
  readonly #veil = byId("veil");
  readonly #ruler: Ruler;
  readonly #groupPaces = new Map<Group, GroupPaces>();
  #theme: Theme;
  #at = 0;
  /** The row that the keyboard is on. */
  #focus = -1;
  #dragging = false;

  constructor(
    readonly episode: Episode,
    theme: Theme,
    readonly calls: LaneCalls,
  ) {
    this.#theme = theme;
    this.axis = new Axis(episode.steps);
    this.#ruler = new Ruler(episode, this.axis);
    this.list = new LaneRows(episode.team);
    const count = episode.team.length;
    this.high = count <= 4 ? 38 : count <= 8 ? 30 : 22;
    this.#box.style.maxHeight = `max(${this.high * 4}px, 34vh)`;
    this.#stretch();
    this.#listen();
  }

  setZoom(zoom: number, around = this.#at): void {
    this.axis.setZoom(zoom, around);
    this.draw();
  }

  setChosen(place: number | null): void {
    this.chosen = place;
    if (place !== null) {
      this.#focus = this.list.reveal(place);
      this.#stretch();
      this.#scrollToFocus();
    }
    this.#drawBars();
  }

  /** Put the cursor to a position, and page the view along if it has left it. */
  moveTo(p: number): void {
    this.#at = Math.floor(p);
    if (p < this.axis.from || p > this.axis.until) {
      this.axis.moveTo(p - this.axis.visible * 0.1);
      this.draw();
    }
    const place = `translateX(${this.axis.x(p)}px)`;
    this.#cursor.style.transform = place;
    this.#veil.style.transform = place;
  }

  draw(theme = this.#theme): void {
    this.#theme = theme;
    this.axis.width = Math.max(GUTTER + 120, this.#box.clientWidth);
    this.#veil.style.width = `${this.axis.width}px`;
    this.#ruler.draw(theme);
    this.#drawBars();
    this.moveTo(this.#at);
  }

  /** Draw the lanes that are in view. */
  #drawBars(): void {
    const height = Math.max(1, this.#box.clientHeight);
    const pen = fit(this.#bars, this.axis.width, height);
    pen.clearRect(0, 0, this.axis.width, height);
    const lanes = new LanePen(pen, this.axis, this.episode, this.#theme);
    const top = this.#box.scrollTop;
    const first = Math.max(0, Math.floor(top / this.high));
    for (const [at, row] of this.list.rows.slice(first, Math.ceil((top + height) / this.high)).entries()) {
      const y = (first + at) * this.high - top;
      if ("group" in row) {
        const place = { y, high: this.high, isChosen: first + at === this.#focus };
        lanes.drawGroup(row.group, this.#pacesOf(row.group), this.list.isOpen(row.group), place);
      } else {
        const lane = this.episode.team[row.place];
        if (lane) lanes.drawLane(lane, { y, high: this.high, isChosen: row.place === this.chosen });
      }
    }
  }

  #pacesOf(group: Group): GroupPaces {
    const lanes = group.places.flatMap((place) => this.episode.team[place] ?? []);
    const paces = this.#groupPaces.get(group) ?? new GroupPaces(lanes, this.episode.steps);
    this.#groupPaces.set(group, paces);
    return paces;
  }

  /** Give the rows their height. */
  #stretch(): void {
    this.#sky.style.height = `${this.list.rows.length * this.high}px`;
  }

  #toggle(group: Group): void {
    this.list.toggle(group);
    this.#focus = this.list.rows.findIndex((row) => "group" in row && row.group === group);
    this.#stretch();
    this.#drawBars();
  }

  #scrollToFocus(): void {
    const top = this.#focus * this.high;
    const { scrollTop, clientHeight } = this.#box;
    if (top < scrollTop || top + this.high > scrollTop + clientHeight) this.#box.scrollTop = top - this.high;
  }

  // ---- the pointer

  #listen(): void {
    this.#box.addEventListener("scroll", () => this.#drawBars());
    for (const canvas of [this.#ruler.canvas, this.#bars]) {
      canvas.addEventListener("pointerdown", (event) => this.#press(event, canvas));
      canvas.addEventListener("pointermove", (event) => {
        if (this.#dragging) this.#jumpTo(event, canvas);
        else showTip(this.#wordsAt(event, canvas), event.clientX, event.clientY);
      });
      const end = () => {
        this.#dragging = false;
      };
      canvas.addEventListener("pointerup", end);
      canvas.addEventListener("pointercancel", end);
      canvas.addEventListener("pointerleave", hideTip);
    }
    byId("chart").addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#box.addEventListener("blur", hideTip);
  }

  #press(event: PointerEvent, canvas: HTMLCanvasElement): void {
    if (event.button !== 0) return;
    hideTip();
    const [question] = this.#questionsAt(event, canvas);
    const isLane = canvas === this.#bars;
    const row = isLane ? this.list.rows[this.#rowAt(event.offsetY)] : undefined;
    const isName = isLane && event.offsetX < GUTTER;
    if (question) {
      this.calls.ask(question);
      return;
    }
    if (row && "group" in row && isName) this.#toggle(row.group);
    if (row && "place" in row) this.calls.choose(row.place);
    if (isName) return;
    canvas.setPointerCapture(event.pointerId);
    this.#dragging = true;
    this.#jumpTo(event, canvas);
  }

  #jumpTo(event: PointerEvent, canvas: HTMLCanvasElement): void {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    const nearest = canvas === this.#ruler.canvas ? 0.5 : 0; // the ruler marks moments, a lane shows the steps between
    this.calls.jump(clamp(Math.floor(this.axis.step(x) + nearest), 0, this.axis.length));
  }

  /** The questions whose mark is under the pointer, the nearest first. */
  #questionsAt({ offsetX: x, offsetY: y }: PointerEvent, canvas: HTMLCanvasElement): Question[] {
    if (x < GUTTER) return [];
    const far = (question: Question) => Math.abs(this.axis.x(question.step) - x);
    return this.#markedAt(y, canvas)
      .filter((question) => !question.skipped && far(question) <= NEAR)
      .sort((one, other) => far(one) - far(other));
  }

  #markedAt(y: number, canvas: HTMLCanvasElement): readonly Question[] {
    const { asked, team } = this.episode;
    if (canvas === this.#ruler.canvas) return Ruler.isQuestions(y) ? asked.questions : [];
    const row = this.list.rows[this.#rowAt(y)];
    if (!row || "group" in row || (y + this.#box.scrollTop) % this.high >= MARK_HIGH) return [];
    return asked.of(team[row.place]?.name ?? "");
  }

  #rowAt(y: number): number {
    return Math.floor((y + this.#box.scrollTop) / this.high);
  }

  #wordsAt({ offsetX: x, offsetY: y }: PointerEvent, canvas: HTMLCanvasElement): string[] {
    if (canvas === this.#ruler.canvas) return this.#ruler.wordsAt(x, y);
    const words = this.#rowInWords(this.#rowAt(y), Math.floor(this.axis.step(Math.max(x, GUTTER))));
    return x < GUTTER ? words.slice(0, 1) : words;
  }

  #rowInWords(at: number, step: number): string[] {
    const row = this.list.rows[at];
    const shown = clamp(step, 0, Math.max(0, this.episode.steps - 1));
    if (!row) return [];
    if ("place" in row) return laneInWords(this.episode, row.place, shown);
    return groupInWords(row.group, this.#pacesOf(row.group), shown, this.list.isOpen(row.group));
  }

  #wheel(event: WheelEvent): void {
    const { axis } = this;
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const x = event.clientX - this.#ruler.canvas.getBoundingClientRect().left;
      this.setZoom(axis.zoom * Math.exp(-event.deltaY / 300), axis.step(x));
    } else if (axis.zoom > 1 && isAcross) {
      event.preventDefault();
      axis.moveTo(axis.from + ((event.shiftKey ? event.deltaY : event.deltaX) * axis.visible) / axis.width);
      this.draw();
    }
  }

  // ---- the keyboard

  #key(event: KeyboardEvent): void {
    const row = this.list.rows[this.#focus];
    if (event.key === "Enter" && row) {
      if ("group" in row) this.#toggle(row.group);
      else this.#askAt(row.place);
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const way = event.key === "ArrowDown" ? 1 : -1;
    this.#focus = clamp(this.#focus + way, 0, this.list.rows.length - 1);
    const next = this.list.rows[this.#focus];
    if (next && "place" in next) this.calls.choose(next.place);
    else this.#drawBars();
    this.#scrollToFocus();
    this.#speak();
  }

  #askAt(place: number): void {
    const [question] = this.episode.asked.at(this.episode.team[place]?.name ?? "", this.#at);
    if (question) this.calls.ask(question);
  }

  /** For those who use the keyboard: what the row that it is on does at the cursor. */
  #speak(): void {
    const lines = this.#rowInWords(this.#focus, this.#at);
    byId("spoken").textContent = lines.join("; ");
    const box = this.#box.getBoundingClientRect();
    const y = box.top + (this.#focus + 0.5) * this.high - this.#box.scrollTop;
    showTip(lines, box.left + this.axis.x(this.#at + 0.5), y);
  }
}
