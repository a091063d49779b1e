import type { Difference, Differences } from "../records";
import { fit } from "../shared/canvas";
import { byId } from "../shared/elements";
import { readTheme } from "../shared/theme";
import { plural } from "../shared/words";

const ROW = 11; // pixels
const [LEFT, RIGHT] = [92, 8];
const PADDING = 24; // pixels beside the strip

/** Which steps differ in what, with the first of them marked. */
export class Strip {
  readonly #canvas = byId("strip", HTMLCanvasElement);
  readonly #rows: readonly { name: string; steps: readonly number[] }[];
  readonly #first: number | undefined;
  #width = LEFT + 80;

  constructor(
    { first, actions = [], rows = [] }: Differences,
    readonly steps: number,
  ) {
    const of = (kind: Difference["kind"]) => [
      ...new Set(rows.filter((row) => row.kind === kind).map((row) => row.step)),
    ];
    this.#first = first;
    this.#rows = [
      { name: "actions", steps: actions },
      { name: "commitments", steps: of("commitment") },
      { name: "plans", steps: of("plan") },
      { name: "messages", steps: of("message") },
    ];
    const words = this.#rows.map((row) => `${row.name} differ in ${plural(row.steps.length, "step")}`);
    this.#canvas.setAttribute("aria-label", words.join(", "));
  }

  listen(jump: (step: number) => void): void {
    this.#canvas.addEventListener("click", ({ offsetX }) => {
      jump(((offsetX - LEFT) / (this.#width - LEFT - RIGHT)) * this.steps);
    });
  }

  draw(position: number): void {
    const theme = readTheme();
    this.#width = Math.max(LEFT + 80, (this.#canvas.parentElement?.clientWidth ?? 0) - PADDING);
    const [across, high] = [this.#width - LEFT - RIGHT, this.#rows.length * ROW + 6];
    const x = (step: number) => LEFT + (step / Math.max(1, this.steps)) * across;
    const pen = fit(this.#canvas, this.#width, high);
    pen.clearRect(0, 0, this.#width, high);
    pen.font = "10.5px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const [row, { name, steps }] of this.#rows.entries()) {
      const top = 3 + row * ROW;
      pen.fillStyle = theme.soft;
      pen.fillText(name, 0, top + ROW / 2);
      pen.fillStyle = theme.faint;
      pen.fillRect(LEFT, top + 2, across, ROW - 4);
      pen.fillStyle = row ? theme.ready : theme.move;
      for (const step of steps) pen.fillRect(x(step), top + 2, Math.max(1.5, x(1) - x(0) - 0.5), ROW - 4);
    }
    if (this.#first !== undefined) {
      pen.fillStyle = theme.fail;
      pen.fillRect(x(this.#first) - 1, 0, 2, high);
    }
    pen.fillStyle = theme.ink;
    pen.fillRect(x(position) - 1, 0, 2, high);
  }
}
