import { fit, type Pen } from "../../shared/canvas";

/** What is drawn once for many moments: a canvas, kept until its key or its episode changes. */
export class Paper {
  #key = "";
  #episode: unknown = null;
  #canvas: HTMLCanvasElement | null = null;

  /** The canvas for a key, drawn anew if it is another one; `draw` gets a pen in CSS pixels. */
  take(episode: unknown, key: readonly unknown[], size: number, draw: (pen: Pen) => void): HTMLCanvasElement {
    return this.keep(episode, [size, window.devicePixelRatio, ...key], () => {
      const canvas = document.createElement("canvas");
      draw(fit(canvas, size, size));
      return canvas;
    });
  }

  keep(episode: unknown, key: readonly unknown[], make: () => HTMLCanvasElement): HTMLCanvasElement {
    const name = key.join("|");
    if (!this.#canvas || this.#episode !== episode || this.#key !== name) {
      this.#canvas = make();
      this.#episode = episode;
      this.#key = name;
    }
    return this.#canvas;
  }
}
