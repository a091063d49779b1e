import assert from "node:assert/strict";
import { before, test } from "node:test";
import { measuresOf, namedEpisode, PageState } from "../src/overview/filters";
import { Scale } from "../src/overview/plot";
import type { Overview } from "../src/records";
import { pairAddress, replayAddress } from "../src/shared/addresses";

const episodes = [
  namedEpisode([".", "cube n2", "b & c", 3, 1, "all_done", [0.5]]),
  namedEpisode([".", "cube n2", "a", 4, 1, "horizon", [null]]),
  namedEpisode([".", "cube n4", "a", 3, 2, "all_done", [0.25]]),
];
const data: Overview = {
  version: "",
  name: "",
  kind: "run",
  wanted: 3,
  measures: ["share"],
  units: [""],
  episodes: [],
  finished: 3,
  failed: 0,
};

before(() => {
  Object.assign(globalThis, { location: { hash: "" }, history: { replaceState: () => {} } });
});

test("the address of the page is its state", () => {
  location.hash = "#method=a&sort=seed";
  const state = new PageState();
  assert.deepEqual(
    episodes.filter((episode) => state.allows(episode)).map(({ seed }) => seed),
    [4, 3],
  );
  assert.deepEqual(
    state.sort(episodes, measuresOf(data)).map(({ seed }) => seed),
    [3, 3, 4],
  );
});

test("episodes without a value come last, whichever way they are sorted", () => {
  for (const [down, wanted] of [
    ["", [0.25, 0.5, null]],
    ["1", [0.5, 0.25, null]],
  ] as const) {
    const state = new PageState();
    state.set({ sort: "share", down });
    const sorted = state.sort(episodes, measuresOf(data));
    assert.deepEqual(
      sorted.map(({ values }) => values[0]),
      wanted,
    );
  }
});

test("addresses name an episode whatever its names are", () => {
  const [first, second] = episodes;
  assert.ok(first && second);
  const asked = new URL(replayAddress(first, 7), "http://localhost/token/");
  assert.equal(asked.searchParams.get("method"), "b & c");
  assert.equal(asked.hash, "#t=7");
  const both = new URL(pairAddress(first, second), "http://localhost/token/").searchParams;
  assert.deepEqual([both.get("seed"), both.get("seed2")], ["3", "4"]);
});

test("an axis of whole numbers has whole marks", () => {
  const scale = (...values: number[]) =>
    new Scale(
      values.map((across) => ({ across, up: 0 })),
      (point) => point.across,
      0,
      100,
    );
  assert.equal(scale(1, 1250).at(0.5), 626);
  assert.equal(scale(0, 1).at(0.5), 0.5);
  assert.equal(scale(0, 2.5).at(0.5), 1.25);
  assert.equal(scale(4).at(0.5), 4);
});
