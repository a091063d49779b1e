import type { FormField } from "../records";
import { say } from "../shared/words";
import { type Field, makeField } from "./fields";

/** The form of an answer. */
export class AnswerForm {
  /** Whether what one field offers may depend on another. */
  readonly depends: boolean;
  readonly #fields: readonly { asked: FormField; field: Field }[];

  /** Show fields in a box; `changed` is called when a choice is made. */
  constructor(box: HTMLElement, fields: readonly FormField[], changed: () => void) {
    this.#fields = fields.map((asked) => ({ asked, field: makeField(asked, changed) }));
    this.depends = fields.filter(({ offers }) => offers.length).length > 1;
    box.replaceChildren(...this.#fields.map(({ field }) => field.node));
  }

  /** The values so far, by name; throws an Error in words where a field cannot be read. */
  values(): Record<string, unknown> {
    const values = this.#fields.map(({ asked, field }): [string, unknown] => [asked.name, field.value()]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /** Words on the first required choice that is not made; empty if all are. */
  lacking(): string {
    const open = this.#fields.find(({ asked, field }) => asked.is_required && isOpenChoice(asked, field));
    return open ? `choose: ${say(open.asked.name)}` : "";
  }

  /** Take in fields with other offers, after a choice. */
  renew(fields: readonly FormField[]): void {
    for (const [at, fresh] of fields.entries()) this.#fields[at]?.field.renew?.(fresh);
  }

  /** Choose an offer of the first field that has some and is not filled in, else of the first. */
  pick(place: number): void {
    const able = this.#fields.filter(({ asked, field }) => field.pick && asked.offers.length);
    const chosen =
      able.find(({ asked, field }) => isOpenChoice(asked, field)) ??
      able.find(({ asked }) => asked.kind === "lines") ??
      able[0];
    chosen?.field.pick?.(place);
  }
}

const isOpenChoice = (asked: FormField, field: Field): boolean =>
  asked.kind === "choice" && field.value() === undefined;
