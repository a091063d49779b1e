/** The page of two episodes of one instance, locked in time: two pages as frames, and what differs. */
import type { PackedPair } from "../records";
import { byId, el, find } from "../shared/elements";
import { unpack } from "../shared/packed";
import { Pair } from "./pair";

/** Set when both pages are there. */
export let pair: Pair;

function begin({ pages, names, differences }: PackedPair): void {
  const frames = pages.map((page, side) => {
    const name = names[side] ?? "";
    const box = byId(`side${side}`);
    find("h2", box).textContent = name;
    const frame = el("iframe", { title: name });
    frame.srcdoc = page;
    box.querySelector("iframe")?.replaceWith(frame);
    return frame;
  });
  const loaded = frames.map((frame) => new Promise((done) => frame.addEventListener("load", done, { once: true })));
  Promise.all(loaded).then(() => {
    pair = new Pair(frames, differences);
  });
}

unpack<PackedPair>(byId("data")).then(
  (data) => data && begin(data),
  (error: Error) => {
    byId("first").textContent = `The episodes cannot be unpacked in this browser (${error.message}); newer ones can.`;
  },
);
