export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Entities as people say them: "<block>(2)" becomes "block 2", "block_2" too. */
export const say = (text: string): string =>
  text.replace(/<(\w+)>\((\d+)\)/g, "$1 $2").replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

/** Steps of an interval that does not hold its end. */
export const steps = (start: number, end: number): string =>
  end - start > 1 ? `steps ${start}–${end - 1}` : `step ${start}`;
