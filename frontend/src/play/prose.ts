/** Parts of prompts as elements. */
import { type Child, el } from "../shared/elements";

/** A text in the form that prompts have: lists, heads, code and quotations. Everything in it is text. */
export function prose(text: string): HTMLElement {
  const box = el("div", { class: "prose" });
  let list = null as HTMLElement | null;
  for (const line of text.split("\n")) {
    const [, mark, rest = ""] = /^\s*(-|\d+\.|>|###)\s+(.*)$/.exec(line) ?? [];
    const kind = mark === undefined || mark === ">" || mark === "###" ? null : mark === "-" ? "ul" : "ol";
    if (kind) {
      if (list?.localName !== kind) {
        list = el(kind, { start: kind === "ol" ? Number.parseInt(mark ?? "1", 10) : null });
        box.append(list);
      }
      list.append(el("li", null, inline(rest)));
      continue;
    }
    list = null;
    if (line.trim()) box.append(el(mark === "###" ? "h4" : "p", null, inline(mark ? rest : line)));
  }
  return box;
}

/** Code and quotations within a line. */
export function inline(text: string): Child[] {
  const parts = text.split(/(`[^`]*`|«[^»]*»)/).filter(Boolean);
  return parts.map((part) => {
    if (part.startsWith("`")) return el("code", null, part.slice(1, -1));
    return part.startsWith("«") ? el("q", null, part.slice(1, -1)) : part;
  });
}

/** A value of an answer in words; empty of a list without entries. */
export function valueInWords(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.map(valueInWords).join("; ");
  return typeof value === "object" ? Object.values(value).map(valueInWords).join(" ") : String(value);
}
