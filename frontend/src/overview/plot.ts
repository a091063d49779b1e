import { fit, type Pen } from "../shared/canvas";
import { goalColour } from "../shared/colours";
import { byId, el, hideTip, showTip } from "../shared/elements";
import { readTheme, type Theme } from "../shared/theme";
import { plural } from "../shared/words";
import { type Episode, nameOf, type Read } from "./filters";

const [LEFT, TOP, RIGHT, BOTTOM, HEIGHT] = [92, 10, 44, 34, 260]; // pixels
const PADDING = 26;
const NEAR = 12; // pixels from a point that hit it

/** What an axis shows. */
export interface Measure {
  name: string;
  read: Read;
}

/** An episode on the plot: its values, and where it is drawn. */
interface Point {
  across: number;
  up: number;
  episode: Episode;
  x: number;
  y: number;
}

export const numberInWords = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : Number.isInteger(value) ? String(value) : String(+value.toPrecision(4));

/** Episodes as points, one measure by another. */
export class Plot {
  readonly #canvas = byId("plot", HTMLCanvasElement);
  #points: Point[] = [];

  /** @param open Called with the episode of a point that is clicked. */
  constructor(open: (episode: Episode) => void) {
    this.#canvas.addEventListener("mousemove", (event) => {
      const point = this.#pointAt(event);
      const lines = point
        ? [nameOf(point.episode), point.episode.level, `${numberInWords(point.up)} at ${numberInWords(point.across)}`]
        : [];
      showTip(lines, event.clientX, event.clientY);
    });
    this.#canvas.addEventListener("mouseleave", hideTip);
    this.#canvas.addEventListener("click", (event) => {
      const point = this.#pointAt(event);
      if (point) open(point.episode);
    });
  }

  /** Show some episodes; `methods` are those of the folder, whose places give the colours. */
  show(episodes: readonly Episode[], across: Measure, up: Measure, methods: readonly string[]): void {
    const width = Math.max(240, (this.#canvas.parentElement?.clientWidth ?? 0) - PADDING);
    const pen = fit(this.#canvas, width, HEIGHT);
    const theme = readTheme();
    const found = episodes.flatMap((episode) => {
      const [x, y] = [across.read(episode), up.read(episode)];
      return x === null || y === null ? [] : [{ across: x, up: y, episode }];
    });
    const words = `${up.name} by ${across.name} of ${plural(found.length, "episode")}; the table has the same values`;
    this.#canvas.setAttribute("aria-label", words);
    this.#points = [];
    pen.clearRect(0, 0, width, HEIGHT);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = theme.soft;
    if (!found.length) {
      pen.fillText("no episode to plot", LEFT, TOP + 20);
      return;
    }
    const toX = new Scale(found, (point) => point.across, LEFT, width - RIGHT);
    const toY = new Scale(found, (point) => point.up, HEIGHT - BOTTOM, TOP);
    drawAxes(pen, toX, toY, across.name, theme);
    const beside = besideEachOther(found, methods);
    this.#points = found.map((point) => ({
      ...point,
      x: toX.place(point.across) + (beside.get(point.episode.method) ?? 0),
      y: toY.place(point.up),
    }));
    this.#drawPoints(pen, methods);
    this.#writeLegend(episodes, methods);
  }

  #drawPoints(pen: Pen, methods: readonly string[]): void {
    const colours = new Map(methods.map((method, place) => [method, goalColour(place)]));
    const many = this.#points.length;
    pen.globalAlpha = many > 500 ? 0.5 : 0.85;
    for (const { x, y, episode } of this.#points) {
      pen.fillStyle = colours.get(episode.method) ?? "";
      pen.beginPath();
      pen.arc(x, y, many > 2000 ? 2 : 4, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  #writeLegend(episodes: readonly Episode[], methods: readonly string[]): void {
    const shown = new Set(episodes.map(({ method }) => method));
    const entries = methods.map((method, place) =>
      el("span", { hidden: !shown.has(method) }, el("i", { css: { background: goalColour(place) } }), method),
    );
    byId("legend").replaceChildren(...entries.filter((entry) => !entry.hidden));
  }

  /** The point nearest to a place on the plot, if it is near. */
  #pointAt({ offsetX, offsetY }: MouseEvent): Point | null {
    let [best, nearest]: [Point | null, number] = [null, NEAR];
    for (const point of this.#points) {
      const far = Math.hypot(point.x - offsetX, point.y - offsetY);
      if (far < nearest) [best, nearest] = [point, far];
    }
    return best;
  }
}

/** From the values of some rows to pixels. */
export class Scale {
  readonly low: number;
  readonly high: number;
  /** All values are whole numbers, and there is one between the ends. */
  readonly isWhole: boolean;

  constructor(
    points: readonly Pick<Point, "across" | "up">[],
    read: (point: Pick<Point, "across" | "up">) => number,
    readonly start: number,
    readonly end: number,
  ) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const point of points) [low, high] = [Math.min(low, read(point)), Math.max(high, read(point))];
    [this.low, this.high] = low === high ? [low - 0.5, high + 0.5] : [low, high];
    this.isWhole = high - low > 1 && points.every((point) => Number.isInteger(read(point)));
  }

  place(value: number): number {
    return this.start + ((value - this.low) / (this.high - this.low)) * (this.end - this.start);
  }

  /** The value at a share of the way; a whole number where all values are. */
  at(share: number): number {
    const value = this.low + share * (this.high - this.low);
    return this.isWhole ? Math.round(value) : value;
  }
}

function drawAxes(pen: Pen, toX: Scale, toY: Scale, name: string, theme: Theme): void {
  const aligned = ["left", "center", "right"] as const;
  pen.strokeStyle = theme.line;
  for (const [at, align] of aligned.entries()) {
    const [x, y] = [toX.at(at / 2), toY.at(at / 2)];
    pen.beginPath();
    pen.moveTo(toX.start, toY.place(y));
    pen.lineTo(toX.end, toY.place(y));
    pen.stroke();
    pen.textAlign = "right";
    pen.fillText(numberInWords(y), LEFT - 8, toY.place(y) + 4);
    pen.textAlign = align;
    pen.fillText(numberInWords(x), toX.place(x), HEIGHT - BOTTOM + 16);
  }
  pen.textAlign = "center";
  pen.fillText(name, (toX.start + toX.end) / 2, HEIGHT - 4);
}

/** How far to the side each method's points lie, in pixels, where many are at the same place. */
function besideEachOther(points: readonly { across: number }[], methods: readonly string[]): Map<string, number> {
  const isCrowded = new Set(points.map(({ across }) => across)).size > 40;
  const gap = isCrowded ? 0 : Math.min(7, 60 / methods.length);
  return new Map(methods.map((method, place) => [method, (place - (methods.length - 1) / 2) * gap]));
}
