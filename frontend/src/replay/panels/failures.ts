import type { Episode } from "../../episode/episode";
import type { FailureRow, Replay } from "../../records";
import { byId, el } from "../../shared/elements";
import { say, steps } from "../../shared/words";
import { Feed } from "./feed";
import { disc, failureTools, goalChip, type Jump, jumpTo } from "./parts";

const NAMED = 24; // agents of a failure that are shown

/** Spans that went wrong, by the rules of teamworld.metrics.failures. */
export function failureFeed(
  episode: Episode,
  labels: Replay["labels"],
  jump: Jump,
  moment: () => number,
): Feed<FailureRow> {
  const box = byId("failures");
  const make = ({ start, end, label, agents, goal, text }: FailureRow) =>
    el(
      "section",
      { class: "joint failed" },
      el(
        "div",
        { class: "row" },
        jumpTo(start, jump, steps(start, end)),
        el("strong", { title: labels[label] }, label),
        goal && goalChip(episode, goal),
      ),
      el(
        "div",
        { class: "row" },
        agents.slice(0, NAMED).map((name) => disc(episode, name, goal)),
        agents.length > NAMED && el("span", { class: "aside" }, `and ${agents.length - NAMED} more`),
      ),
      el("p", { class: "missing" }, say(text)),
      el("p", { class: "rule" }, labels[label]),
    );
  const starts = [...new Set(episode.failures.map(({ start }) => start))];
  if (starts.length) box.append(failureTools("found in the log by rule", "label", starts, jump, moment));
  const nothing = starts.length ? "None began up to this step." : "No rule found a failure in this episode.";
  return new Feed(box, episode.failures, make, nothing);
}
