import type { Episode } from "../episode/episode";
import type { JointAct } from "../records";
import { plural, say, steps } from "../shared/words";

const NAMED = 6; // absent agents that are named

/** Who a joint act lacked, in words; empty for a success. */
export function missing(episode: Episode, joint: JointAct): string {
  if (joint.success) return "";
  const doing = (name: string) => {
    const span = episode.lane(name)?.span(joint.start);
    return `${say(name)}${span ? ` (${say(span.action)})` : ""}`;
  };
  const { absent = [], short = 0 } = joint;
  const goal = say(joint.goal);
  const words: string[] = [];
  if (short > 0) words.push(`${plural(short, "more agent")} needed`);
  else if ((joint.have.dependency ?? 1) < 1) words.push("nobody; the way was not clear");
  if (absent.length) {
    const more = absent.length > NAMED ? ` and ${absent.length - NAMED} more` : "";
    words.push(`bound to ${goal}, but not in this act: ${absent.slice(0, NAMED).map(doing).join("; ")}${more}`);
  } else if (short > 0) words.push(`nobody else was bound to ${goal}`);
  return words.join("; ");
}

export function jointInWords(episode: Episode, joint: JointAct): string {
  const result = joint.success ? "success" : `failed, missing: ${missing(episode, joint) || "not recorded"}`;
  return `${say(joint.goal)}, ${steps(joint.start, joint.end)}: ${result}`;
}
