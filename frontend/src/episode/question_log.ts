import type { AnswerFlaw, PromptTurn, QuestionRow, QuestionTry } from "../records";
import { groupBy, lastAt } from "../shared/numbers";

/** A question with what its row leaves out. */
export interface Question extends QuestionRow {
  answer: Record<string, unknown>;
  flaws: AnswerFlaw[];
  tries: QuestionTry[];
  /** Its step. */
  start: number;
}

/** Whether some answer to a question could not be used. */
export const isOdd = (question: Question): boolean => question.fallback === true || question.flaws.length > 0;

/** The questions of an episode, and the lines that their texts are made of. */
export class QuestionLog {
  readonly questions: readonly Question[];
  readonly #lines: readonly string[];
  readonly #byAgent: ReadonlyMap<string, readonly Question[]>;

  constructor(rows: readonly QuestionRow[], lines: readonly string[]) {
    this.questions = rows.map((row) => ({ answer: {}, flaws: [], tries: [], ...row, start: row.step }));
    this.#lines = lines;
    this.#byAgent = groupBy(this.questions, (question) => question.agent);
  }

  /** All questions of an agent, in order. */
  of(agent: string): readonly Question[] {
    return this.#byAgent.get(agent) ?? [];
  }

  /** Questions that were put to an agent in a step, or in the last one before it in which any was. */
  at(agent: string, step: number): Question[] {
    const put = this.of(agent).filter((question) => !question.skipped);
    const last = put[lastAt(put, step, "start")];
    return put.filter((question) => question.start === last?.start);
  }

  /** The question to the same agent before or after one. */
  neighbour(question: Question, way: -1 | 1): Question | undefined {
    const own = this.of(question.agent);
    return own[own.indexOf(question) + way];
  }

  /** A text from where its lines are: pairs of a place and a count. */
  text(pairs: readonly number[] = []): string {
    const parts: string[] = [];
    for (let at = 0; at < pairs.length; at += 2) {
      const [place = 0, count = 0] = pairs.slice(at, at + 2);
      parts.push(...this.#lines.slice(place, place + count));
    }
    return parts.join("\n");
  }
}

/** All turns that a try was sent: those of the try before that it begins with, and its own. */
export function turnsOf(question: Question, at: number): PromptTurn[] {
  const { kept = 0, turns = [] } = question.tries[at] ?? {};
  return [...(kept ? turnsOf(question, at - 1).slice(0, kept) : []), ...turns];
}
