/** What canvases are drawn with. */
export type Pen = CanvasRenderingContext2D;

/** Fit a canvas to its size on the page, sharp on every screen; returns its context, in CSS pixels. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): Pen {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("expected a browser that draws on canvases");
  pen.setTransform(w / width, 0, 0, h / height, 0, 0);
  return pen;
}

/** A name that fits: too long a one loses its middle, since names of a team often differ at the end. */
export function shortened(pen: Pen, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text.slice(0, 60), ...(text.length > 60 ? text.slice(-60) : "")];
  for (let kept = letters.length - 1; kept > 1; kept--) {
    const form = `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${letters.slice(-Math.floor(kept / 2)).join("")}`;
    if (pen.measureText(form).width <= room) return form;
  }
  return "…";
}
