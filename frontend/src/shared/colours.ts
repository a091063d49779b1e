/** Colours as "#rrggbb". */

// Okabe and Ito (2008), colour-blind safe; vermillion is kept for what failed.
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442"];
const FIRST = "#0072b2";

const channels = (hex: string): [number, number, number] => [
  Number.parseInt(hex.slice(1, 3), 16),
  Number.parseInt(hex.slice(3, 5), 16),
  Number.parseInt(hex.slice(5, 7), 16),
];

/** A colour on the way from one to another. */
export function mix(one: string, other: string, share: number): string {
  const [ends, starts] = [channels(other), channels(one)];
  const mixed = starts.map((from, place) => Math.round(from + ((ends[place] ?? from) - from) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** Black or white, whichever reads better on a colour (WCAG contrast). */
export function inkOn(hex: string): string {
  const linear = (value: number) =>
    value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const [red, green, blue] = channels(hex);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.22 ? "#10151a" : "#ffffff";
}

/** Colour of the goal in a place of the list: the palette, then darker and lighter rounds of it. */
export function goalColour(place: number): string {
  const base = PALETTE[place % PALETTE.length] ?? FIRST;
  const round = Math.floor(place / PALETTE.length) % 3;
  if (round === 0) return base;
  return round === 1 ? mix(base, "#000000", 0.38) : mix(base, "#ffffff", 0.45);
}
