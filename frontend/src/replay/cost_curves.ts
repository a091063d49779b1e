import type { Episode } from "../episode/episode";
import type { QuestionTry } from "../records";
import type { Curve } from "../stage/drawer";

/** Costs of questions as curves: what was spent until each moment. What came from the record cost nothing. */
export function costCurves({ asked, steps }: Episode): Curve[] {
  const spent = (read: (one: QuestionTry) => number) => {
    const values = new Array<number>(steps + 1).fill(0);
    for (const { step, tries } of asked.questions) {
      const until = Math.min(step + 1, steps);
      for (const one of tries) if (!one.cached) values[until] = (values[until] ?? 0) + read(one);
    }
    let sum = 0;
    return values.map((value) => (sum += value));
  };
  const curves = [
    { name: "tokens", values: spent((one) => (one.prompt_tokens ?? 0) + (one.output_tokens ?? 0)), colour: "ready" },
    { name: "USD", values: spent((one) => one.usd ?? 0), colour: "good" },
  ];
  return curves.filter(({ values }) => (values.at(-1) ?? 0) > 0);
}
