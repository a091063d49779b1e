import assert from "node:assert/strict";
import { test } from "node:test";
import { goalColour, inkOn, mix } from "../src/shared/colours";
import { groupBy, lastAt } from "../src/shared/numbers";
import { say, steps } from "../src/shared/words";

test("the last row at a step is the one that a plain search finds", () => {
  const rows = [0, 0, 3, 3, 7, 20].map((start) => ({ start }));
  for (let t = -1; t < 25; t++) {
    assert.equal(
      lastAt(rows, t, "start"),
      rows.findLastIndex(({ start }) => start <= t),
    );
  }
  assert.equal(lastAt([], 3, "start"), -1);
});

test("groups keep the order of rows and of their first ones", () => {
  const groups = groupBy([3, 1, 5, 2], (number) => number % 2);
  assert.deepEqual(
    [...groups],
    [
      [1, [3, 1, 5]],
      [0, [2]],
    ],
  );
});

test("entities are said as people say them", () => {
  assert.equal(say("push(<block>(2), agent_10) at x_1y"), "push(block 2, agent 10) at x_1y");
  assert.equal(steps(3, 4), "step 3");
  assert.equal(steps(3, 9), "steps 3–8");
});

test("ink on every goal's colour has the contrast that large letters need", () => {
  const channel = (value: number) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (hex: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
      channel(Number.parseInt(hex.slice(at, at + 2), 16) / 255),
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const colours = Array.from({ length: 18 }, (_, place) => goalColour(place));
  assert.equal(new Set(colours).size, colours.length);
  for (const colour of colours) {
    const [low = 0, high = 0] = [luminance(colour), luminance(inkOn(colour))].sort((one, other) => one - other);
    assert.ok((high + 0.05) / (low + 0.05) >= 3, colour);
  }
  assert.equal(mix("#000000", "#ff8000", 0.5), "#804000");
});
