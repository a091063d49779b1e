import type { Episode } from "../../episode/episode";
import type { SentMessage, WorthRow } from "../../records";
import { byId, el } from "../../shared/elements";
import { say } from "../../shared/words";
import { messageForm } from "../fork/forms";
import { Feed } from "./feed";
import type { PanelCalls } from "./panels";
import { changeButton, disc, goalChip, jumpTo, worthInWords } from "./parts";

/** Messages of a step, or of a meeting. */
interface Talk {
  start: number;
  room: number | undefined;
  rows: SentMessage[];
}

export function talkFeed(episode: Episode, worths: readonly WorthRow[], calls: PanelCalls): Feed<Talk> {
  const box = byId("talk");
  const groups: Talk[] = [];
  for (const message of episode.messages) {
    const last = groups.at(-1);
    if (last?.start === message.step && last.room === message.room) last.rows.push(message);
    else groups.push({ start: message.step, room: message.room, rows: [message] });
  }
  const whole = worths.find((row) => row.message === undefined && row.agent === undefined);
  if (whole) {
    const title = "with all messages, less if nobody hears any";
    box.append(el("p", { class: "bill", title }, `all messages: ${worthInWords(whole)}`));
  }
  const worthOf = new Map(worths.map((row) => [row.message, row]));
  const make = ({ start, room, rows }: Talk) =>
    el(
      "section",
      { class: "group" },
      jumpTo(start, calls.jump, `step ${start}${room === undefined ? "" : ` · meeting ${room + 1}`}`),
      rows.map((message) => messageLine(episode, message, worthOf.get(message.id), calls)),
    );
  const nothing = groups.length ? "Nothing was said up to this step." : "No message was sent in this episode.";
  return new Feed(box, groups, make, nothing);
}

function messageLine(
  episode: Episode,
  message: SentMessage,
  worth: WorthRow | undefined,
  { jump, change }: PanelCalls,
): HTMLElement {
  const { act, goal, lost = [] } = message;
  const to = recipients(message);
  return el(
    "div",
    { class: "said", on: { click: () => jump(message.step) } },
    disc(episode, message.agent, goal),
    el(
      "div",
      null,
      el("span", { class: "act" }, act),
      goal && goalChip(episode, goal),
      to && el("span", { class: "aside" }, to),
      lost.length > 0 && el("span", { class: "aside bad" }, `did not reach ${lost.map(say).join(", ")}`),
      changeButton(`the message of ${say(message.agent)}`, () => change(messageForm(episode, message))),
      el("p", { class: "text" }, message.text),
      worth && el("p", { class: "worth", title: "with the message, less if nobody hears it" }, worthInWords(worth)),
    ),
  );
}

/** To whom a message was sent, in words; empty if to everybody else of the team. */
function recipients({ to, room }: SentMessage): string {
  if (!to) return "";
  if (to.length) return `to ${to.map(say).join(", ")}`;
  return room === undefined ? "nobody was in reach" : "alone";
}
