import type { Episode, State } from "../episode/episode";
import { fit } from "../shared/canvas";
import { byId, el, hideTip, onClick, showTip } from "../shared/elements";
import { clamp } from "../shared/numbers";
import type { Theme } from "../shared/theme";
import { type Drawer, drawerOf, type KeyRow, type Moment, type Spot, type View } from "./drawer";

const CLOSEST = 16; // zoom
const NEAR = 9; // pixels from the middle of an agent that hit it
const MOST_ROWS = 300; // of a state without a drawing
const SAMPLE = 18; // pixels of a sample in the key

/**
 * The picture of the world at a moment, between two frames while it plays: its layers, its key, its zoom, and words on
 * what is under the pointer. A drawer says what it has of these.
 */
export class Stage {
  readonly drawer: Drawer | null;
  readonly view: View = { zoom: 1, x: 0.5, y: 0.5 };
  readonly canvas = byId("stage", HTMLCanvasElement);
  size = 0;
  layer: string | null;
  /** What was drawn last. */
  shown: Moment | null = null;
  drawn: { agents: Spot[] } | null = null;
  readonly #key = byId("key");
  #keptRows = new Map<string, HTMLElement>();
  #written = -1;

  constructor(public episode: Episode) {
    this.drawer = drawerOf(episode);
    this.layer = this.drawer?.layers?.(episode)[0]?.id ?? null;
    this.#key.hidden = !this.drawer?.key;
  }

  /** Fill the box that the page has for it. */
  resize(): void {
    const box = this.canvas.parentElement;
    const width = box?.clientWidth ?? 0;
    const size = Math.floor(Math.min(width, box?.clientHeight || width));
    if (size > 0) this.size = size;
  }

  /** What a drawer is told about position p. */
  moment(p: number, theme: Theme, chosen: number | null): Moment {
    const { episode } = this;
    const t = Math.min(Math.floor(p), episode.steps);
    const isOver = t >= episode.steps;
    return {
      t,
      share: p - t,
      theme,
      chosen,
      layer: this.layer,
      view: this.view,
      frame: episode.frame(t),
      next: episode.frame(t + 1),
      joints: isOver ? [] : episode.jointsAt(t),
      team: episode.team.map((lane) => ({
        aim: lane.aim(t),
        pace: isOver ? null : lane.pace(t),
        gone: lane.isGone(t),
      })),
    };
  }

  draw(p: number, theme: Theme, chosen: number | null): void {
    if (!this.drawer) this.#writeState(Math.min(Math.floor(p), this.episode.steps));
    if (!this.drawer || this.size <= 0) return;
    const pen = fit(this.canvas, this.size, this.size);
    this.shown = this.moment(p, theme, chosen);
    this.drawn = this.drawer.draw(pen, this.size, this.shown, this.episode);
  }

  /** Say in words what is drawn, for those who do not see it. */
  describe(): void {
    const words = this.shown && this.drawer?.words?.(this.shown, this.episode);
    if (words) this.canvas.setAttribute("aria-label", words);
  }

  /** Write what a world without a drawing records of a step: a row for each part, those that have changed marked. */
  #writeState(t: number): void {
    if (t === this.#written) return;
    this.#written = t;
    const before = new Map(partsOf(this.episode.frame(Math.max(0, t - 1))));
    const rows = partsOf(this.episode.frame(t)).slice(0, MOST_ROWS);
    byId("state").replaceChildren(
      ...rows.map(([name, value]) =>
        el(
          "tr",
          { class: before.get(name) === value ? null : "changed" },
          el("th", { scope: "row" }, name),
          el("td", null, value),
        ),
      ),
    );
  }

  /** Write the key: rows that say the same as before are kept, since each sample is a canvas. */
  writeKey(): void {
    if (!this.shown || !this.drawer?.key) return;
    const rows = new Map<string, HTMLElement>();
    for (const row of this.drawer.key(this.shown, this.episode)) {
      let name = [row.head, row.words, row.soft, row.state].join("|");
      while (rows.has(name)) name += "+";
      rows.set(name, this.#keptRows.get(name) ?? keyRow(row));
    }
    this.#keptRows = rows;
    const nodes = [...rows.values()];
    const isSame =
      nodes.length === this.#key.childElementCount && nodes.every((node, k) => this.#key.children[k] === node);
    if (!isSame) this.#key.replaceChildren(...nodes);
  }

  /** Draw all rows of the key anew the next time: the theme has changed. */
  forgetKey(): void {
    this.#keptRows.clear();
  }

  /** Place in the team of the agent at a point of the canvas, null if there is none. */
  hit(x: number, y: number): number | null {
    let [best, nearest]: [number | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const [place, spot] of (this.drawn?.agents ?? []).entries()) {
      const far = Math.hypot(spot.x - x, spot.y - y);
      if (far <= Math.max(spot.radius, NEAR) && far < nearest) [best, nearest] = [place, far];
    }
    return best;
  }

  /** Words on what is at a point of the canvas. */
  wordsAt(x: number, y: number): string[] {
    return (this.shown && this.drawer?.label?.(this.shown, this.episode, x, y, this.size)) ?? [];
  }

  /** Show more or less of the map; what is at a point of the canvas stays there. */
  zoomAt(factor: number, x: number, y: number): void {
    const { view, size } = this;
    const zoom = clamp(view.zoom * factor, 1, CLOSEST);
    const part = 1 / view.zoom - 1 / zoom;
    view.x += (x / size - 0.5) * part;
    view.y += (y / size - 0.5) * part;
    view.zoom = zoom;
    this.move(0, 0);
  }

  /** Move the map by pixels, as far as it goes. */
  move(right: number, down: number): void {
    const { view, size } = this;
    const half = 0.5 / view.zoom;
    view.x = clamp(view.x - right / size / view.zoom, half, 1 - half);
    view.y = clamp(view.y - down / size / view.zoom, half, 1 - half);
  }

  /** Listen to the pointer; `changed` is called when the picture has to be drawn anew, `clicked` with a place or null. */
  listen(changed: () => void, clicked: (place: number | null) => void): void {
    const { canvas } = this;
    let held: { x: number; y: number; far: number } | null = null;
    canvas.addEventListener("pointermove", (event) => {
      if (held && event.buttons && this.drawer?.zooms) {
        const [right, down] = [event.clientX - held.x, event.clientY - held.y];
        this.move(right, down);
        held = { x: event.clientX, y: event.clientY, far: held.far + Math.hypot(right, down) };
        changed();
      }
      showTip(event.buttons ? [] : this.wordsAt(event.offsetX, event.offsetY), event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, far: 0 };
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("click", (event) => {
      if (!held || held.far < 5) clicked(this.hit(event.offsetX, event.offsetY));
    });
    this.#chooseLayer(changed);
    if (this.drawer?.zooms) this.#listenToZoom(changed);
  }

  #listenToZoom(changed: () => void): void {
    const zoom = (factor: number, x = this.size / 2, y = this.size / 2) => {
      this.zoomAt(factor, x, y);
      changed();
    };
    byId("closer").hidden = false;
    onClick({ near: () => zoom(1.6), far: () => zoom(1 / 1.6), whole: () => zoom(0) });
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return; // the wheel alone moves the page
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
    };
    this.canvas.addEventListener("wheel", onWheel, { passive: false });
  }

  #chooseLayer(changed: () => void): void {
    if (!this.drawer?.layers) return;
    const select = byId("layer", HTMLSelectElement);
    this.writeLayers();
    select.addEventListener("change", () => {
      this.layer = select.value;
      changed();
    });
  }

  /** Write the layers that there are; those of what agents know come when that is unpacked. */
  writeLayers(): void {
    const layers = this.drawer?.layers?.(this.episode) ?? [];
    byId("layers").hidden = layers.length < 2;
    byId("note").textContent = this.drawer?.note?.(this.episode) ?? "";
    const options = layers.map(({ id, words }) => el("option", { value: id, selected: id === this.layer }, words));
    byId("layer").replaceChildren(...options);
  }
}

function keyRow({ head, words, samples = [], soft }: KeyRow): HTMLElement {
  if (head) return el("h2", null, head);
  const drawn = samples.map((sample) => {
    if (typeof sample === "string") return el("i", { css: { background: sample } });
    const canvas = el("canvas");
    sample(fit(canvas, SAMPLE, SAMPLE), SAMPLE);
    return canvas;
  });
  return el("p", { class: soft ? "soft" : null }, el("span", { class: "samples" }, drawn), el("span", null, words));
}

/** Parts of a state as [name, value in JSON]: of each list or mapping in it every entry. */
function partsOf(state: State): [string, string][] {
  return Object.entries(state)
    .filter(([name]) => name !== "v")
    .flatMap(([name, value]) =>
      value !== null && typeof value === "object"
        ? Object.entries(value).map(([key, part]): [string, string] => [`${name} ${key}`, JSON.stringify(part)])
        : [[name, JSON.stringify(value)] satisfies [string, string]],
    );
}
