import type { Episode } from "../../episode/episode";
import type { JointAct } from "../../records";
import { byId, el } from "../../shared/elements";
import { steps } from "../../shared/words";
import { missing } from "../joint_words";
import { Feed } from "./feed";
import { disc, failureTools, goalChip, type Jump, jumpTo } from "./parts";

const CONSTRAINTS: Record<string, string> = {
  capability: "able",
  participation: "taking part",
  spatial: "in place",
  temporal: "at once",
};

export function jointFeed(episode: Episode, jump: Jump, moment: () => number): Feed<JointAct> {
  const box = byId("joints");
  const make = (joint: JointAct) =>
    el(
      "section",
      { class: joint.success ? "joint" : "joint failed" },
      el(
        "div",
        { class: "row" },
        jumpTo(joint.start, jump, steps(joint.start, joint.end)),
        goalChip(episode, joint.goal),
        el("span", { class: "aside" }, `needs ${joint.k}`),
        el("span", { class: "result" }, joint.success ? "✓ success" : "✕ failed"),
      ),
      el(
        "div",
        { class: "row" },
        joint.who.map((name) => disc(episode, name, joint.goal)),
        constraints(joint),
      ),
      !joint.success &&
        el("p", { class: "missing" }, el("strong", null, "Missing: "), missing(episode, joint) || "not recorded"),
    );
  const failed = episode.joints.filter((joint) => !joint.success).map((joint) => joint.start);
  const good = episode.joints.length - failed.length;
  if (episode.joints.length) {
    const words = `${good} went well, ${failed.length} failed (equal steps are one)`;
    box.append(failureTools(words, "fail", failed, jump, moment));
  }
  const nothing = episode.joints.length ? "None up to this step." : "No joint act was tried in this episode.";
  return new Feed(box, episode.joints, make, nothing);
}

/** How far each constraint was met. */
function constraints({ have, need }: JointAct): HTMLElement[] {
  return Object.entries(need).map(([name, needed]) => {
    const met = have[name] ?? 0;
    const way = met >= needed ? "way clear" : "way not clear";
    const words = name === "dependency" ? way : `${CONSTRAINTS[name] ?? name} ${met}/${needed}`;
    return el("span", { class: met >= needed ? "have" : "have unmet", title: name }, words);
  });
}
