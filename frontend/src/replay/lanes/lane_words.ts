/** What stands under the pointer on lanes and ruler, in words. */
import type { Episode } from "../../episode/episode";
import { isOdd } from "../../episode/question_log";
import { plural, say, steps } from "../../shared/words";
import { jointInWords } from "../joint_words";

/** What an agent does in a step; the first line is its name. */
export function laneInWords(episode: Episode, place: number, step: number): string[] {
  const lane = episode.team[place];
  if (!lane) return [];
  const lines = [say(lane.name)];
  if (lane.isGone(step)) lines.push(`gone: ${lane.gone_why}`);
  const span = lane.span(step);
  if (span) {
    lines.push(say(span.action), `${steps(span.start, span.end)}, ${episode.ending(span)}`);
    const pace = lane.pace(step);
    if (pace?.ready) lines.push(`in place, waiting for others at ${say(pace.ready)}`);
    else if (pace?.blocker) lines.push(`in the way at step ${step}: ${say(pace.blocker)}`);
  }
  for (const passed of lane.passed) {
    if (passed.start === step) lines.push(`${say(passed.action)} ${episode.ending(passed)}`);
  }
  const asked = episode.asked.at(lane.name, step).filter((question) => question.step === step);
  if (asked.length) lines.push(`asked: ${asked.map(({ kind }) => kind).join(", ")}; enter on the lanes reads it`);
  const hold = lane.hold(step);
  if (hold) {
    lines.push(`committed to ${say(hold.goal)} (${say(hold.cause) || "no cause given"}), let go: ${hold.released}`);
  }
  return lines;
}

/** Rows of the ruler, from top to bottom, with what they mark near a step, so many steps to either side. */
export const MARKS: readonly { name: string; words: (episode: Episode, step: number, near: number) => string[] }[] = [
  {
    name: "messages",
    words: ({ messages }, step, near) => {
      const said = messages.filter((message) => isNear(message.step, step, near));
      return said[0] ? [`${plural(said.length, "message")} at step ${said[0].step}`] : [];
    },
  },
  {
    name: "joint acts",
    words: (episode, step, near) => spanning(episode.joints, step, near).map((joint) => jointInWords(episode, joint)),
  },
  {
    name: "failures",
    words: ({ failures }, step, near) =>
      spanning(failures, step, near).map(
        ({ label, start, end, text }) => `${label}, ${steps(start, end)}: ${say(text)}`,
      ),
  },
  {
    name: "goals done",
    words: ({ goals }, step, near) =>
      goals.flatMap(({ id, done }) =>
        done !== undefined && isNear(done, step, near) ? [`${say(id)} done at step ${done}`] : [],
      ),
  },
  {
    name: "questions",
    words: ({ asked }, step, near) => {
      const put = asked.questions.filter((question) => !question.skipped && isNear(question.step, step, near));
      if (!put[0]) return [];
      const odd = put.filter(isOdd).length;
      const flawed = odd ? [`${odd} with unusable answers`] : [];
      return [`${plural(put.length, "question")} at step ${put[0].step}`, ...flawed, "click to read"];
    },
  },
];

const isNear = (one: number, step: number, near: number): boolean => Math.abs(one - step) <= near;

const spanning = <Row extends { start: number; end: number }>(
  rows: readonly Row[],
  step: number,
  near: number,
): Row[] => rows.filter((row) => row.start - near <= step && step <= row.end + near).slice(0, 4);
