/** The page of a replay. It begins when the document is there, after the scripts that draw worlds. */
import { Episode } from "../episode/episode";
import { Knowledge } from "../episode/knowledge";
import { QuestionLog } from "../episode/question_log";
import type { PackedReplay, Replay } from "../records";
import { byId } from "../shared/elements";
import { takeText, unpack } from "../shared/packed";
import { drawerOf } from "../stage/drawer";
import { writeHeader, writeLegend } from "./header";
import { Player } from "./player";

export { Knowledge, sightings } from "../episode/knowledge";
export { shortened } from "../shared/canvas";
export { say } from "../shared/words";
export { drawers } from "../stage/drawer";

export let episode: Episode;
export let player: Player;

function begin(): void {
  const replay: Replay = JSON.parse(takeText(byId("data")));
  episode = new Episode(replay);
  writeHeader(replay);
  writeLegend();
  if (!drawerOf(episode)) tellUndrawn(replay);
  player = new Player(episode, replay);
  unpack<PackedReplay>(byId("packed")).then(takeRest, tellPacked);
}

function takeRest(packed: PackedReplay | null): void {
  episode.asked = new QuestionLog(packed?.questions ?? [], packed?.lines ?? []);
  episode.knowledge = packed?.knowledge ? new Knowledge(packed.knowledge) : null;
  player.takeRest(packed?.memory ?? null);
}

function tellPacked(error: Error): void {
  for (const id of ["asked", "knows"]) {
    byId(id).append(`This cannot be unpacked in this browser (${error.message}); newer ones can.`);
  }
}

function tellUndrawn({ world, undrawn }: Replay): void {
  const why = undrawn ? ` (${undrawn})` : "";
  byId("stage").hidden = true;
  byId("nodrawer").hidden = false;
  byId("nodrawer").prepend(
    `There is no drawing for the world ${world}${why}: this is what it records of the step, what has changed in bold.`,
  );
}

document.addEventListener("DOMContentLoaded", begin);
