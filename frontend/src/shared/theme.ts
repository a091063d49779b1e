import { byId } from "./elements";

const NAMES = [
  "page",
  "card",
  "ink",
  "soft",
  "faint",
  "line",
  "bar",
  "fail",
  "failbar",
  "good",
  "work",
  "move",
  "ready",
  "goalzone",
  "idle",
] as const;

/** Colours of the page as it looks now, for canvases; those of `theme.css`. */
export type Theme = Readonly<Record<(typeof NAMES)[number], string>>;

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => [name, style.getPropertyValue(`--${name}`).trim()];
  return Object.fromEntries(NAMES.map(read)) as Theme;
}

/** A colour by its name in the theme, or as it is. */
export const colourIn = (theme: Theme, colour: string): string =>
  Object.hasOwn(theme, colour) ? theme[colour as keyof Theme] : colour;

/** Let the button `#theme` change between light and dark; `changed` is called then, and when the system's choice changes. */
export function listenForTheme(changed: () => void): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const shown = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = shown === "dark" ? "light" : "dark";
    changed();
  });
}
