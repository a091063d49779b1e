import type { QuestionTry } from "../records";
import { total } from "../shared/numbers";

export const count = (number: number): string => number.toLocaleString("en");

const dollars = (usd: number): string => {
  if (usd === 0) return "$0";
  return `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(usd < 1 ? 3 : 2)}`;
};

/** A value of an answer in words: texts as they are, lists by lines. */
export function written(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map(written).join("\n") : JSON.stringify(value);
}

export const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (Array.isArray(value) && !value.length);

/** What the tries of some questions took, in words: tokens, and dollars. */
export function billOf(tries: readonly QuestionTry[]): string[] {
  if (!tries.length) return [];
  const counted = tries.filter((one) => one.prompt_tokens !== undefined);
  const [sent, came] = [total(counted, (one) => one.prompt_tokens), total(counted, (one) => one.output_tokens)];
  const tokens = counted.length ? `${count(sent)} tokens in, ${count(came)} out` : "tokens not counted";
  return [tokens, price(tries)];
}

function price(tries: readonly QuestionTry[]): string {
  if (tries.every((one) => one.cached)) return "from the record, at no cost";
  const priced = tries.filter((one) => one.usd !== undefined);
  if (!priced.length) return "price unknown";
  const more = priced.length < tries.length ? " and more, not all prices are known" : "";
  return dollars(total(priced, (one) => one.usd)) + more;
}

const FINISHES: Record<string, string> = { length: "cut at the token limit", refused: "refused" };

/** What a try took, with what else its provider said. */
export function tryInWords(one: QuestionTry): string {
  const words = [
    ...billOf([one]),
    one.cached_tokens && `${count(one.cached_tokens)} read from the provider's cache`,
    one.reasoning_tokens && `${count(one.reasoning_tokens)} of reasoning`,
    one.seconds && `${one.seconds} s`,
    one.served && `served by ${one.served}`,
    one.finish && one.finish !== "stop" && (FINISHES[one.finish] ?? one.finish),
  ];
  return words.filter(Boolean).join(" · ");
}
