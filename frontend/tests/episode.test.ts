import assert from "node:assert/strict";
import { test } from "node:test";
import { Knowledge, sightings } from "../src/episode/knowledge";
import { QuestionLog, turnsOf } from "../src/episode/question_log";
import { costCurves } from "../src/replay/cost_curves";
import { actor, episodeOf } from "./samples";

const knowledge = () =>
  new Knowledge({
    facts: ["<block>(1) AT (0, 2)", "<block>(1) AT (0, 3)", "a AT (4, 4)", "b HOLD 1"],
    about: [0, 0, 1, -1],
    truth: [
      { frame: 0, on: [0, 2] },
      { frame: 5, on: [1], off: [0] },
    ],
    seen: [
      { frame: 0, agent: "a", on: [0, 2] },
      { frame: 2, agent: "a", off: [0] },
      { frame: 7, agent: "a", on: [1] },
    ],
    believed: [
      { frame: 3, agent: "a", held: [{ fact: 0, chance: 0.8 }, { fact: 3 }] },
      { frame: 6, agent: "a", dropped: [3] },
      { frame: 4, agent: "a", about: "b", held: [{ fact: 0 }] },
    ],
  });

test("knowledge is the same whichever way one comes to a moment", () => {
  const moments = [0, 9, 3, 3, 8, 1, 5, 2, 6, 7, 4];
  const walked = knowledge();
  for (const t of moments) assert.deepEqual(walked.rows("a", null, t), knowledge().rows("a", null, t), `moment ${t}`);
});

test("what is believed against the truth is wrong, and a new value takes the place of the old sighting", () => {
  const held = (t: number) =>
    knowledge()
      .rows("a", null, t)
      .find(({ fact }) => fact === 0);
  assert.equal(held(1)?.now, true);
  assert.equal(held(4)?.age, 3);
  assert.equal(held(4)?.wrong, false);
  assert.equal(held(5)?.wrong, true);
  assert.equal(held(8)?.age, null);
  assert.deepEqual(knowledge().subjects("a"), ["b"]);
});

test("sightings are where things are perceived, or were", () => {
  const episode = episodeOf(9);
  assert.deepEqual(sightings(episode, "a", 4), []);
  episode.knowledge = knowledge();
  assert.deepEqual(sightings(episode, "a", 4), [
    { name: "a", row: 4, column: 4, age: 0 },
    { name: "block 1", row: 0, column: 2, age: 3 },
  ]);
});

test("questions are found at the step in which they were put, or in the last one before", () => {
  const log = new QuestionLog(
    [
      { step: 1, agent: "a", kind: "plan" },
      { step: 1, agent: "a", kind: "say" },
      { step: 2, agent: "a", kind: "plan", skipped: "nothing new" },
      { step: 3, agent: "b", kind: "plan" },
    ],
    ["one", "two", "three"],
  );
  assert.deepEqual(log.at("a", 0), []);
  assert.deepEqual(
    log.at("a", 9).map(({ kind }) => kind),
    ["plan", "say"],
  );
  assert.equal(log.text([1, 2, 0, 1]), "two\nthree\none");
  const [first] = log.questions;
  assert.ok(first);
  assert.equal(log.neighbour(first, -1), undefined);
  assert.equal(log.neighbour(first, 1)?.kind, "say");
});

test("the prompt of a later try begins with turns of the one before", () => {
  const turn = (role: string) => ({ role, text: [] });
  const log = new QuestionLog(
    [
      {
        step: 0,
        agent: "a",
        kind: "plan",
        tries: [
          { turns: [turn("system"), turn("user")] },
          { kept: 2, turns: [turn("assistant")] },
          { kept: 1, turns: [] },
        ],
      },
    ],
    [],
  );
  const [question] = log.questions;
  assert.ok(question);
  assert.deepEqual(
    turnsOf(question, 1).map(({ role }) => role),
    ["system", "user", "assistant"],
  );
  assert.deepEqual(
    turnsOf(question, 2).map(({ role }) => role),
    ["system"],
  );
});

test("costs add up, and what came from the record costs nothing", () => {
  const episode = episodeOf(3);
  const tries = [
    { prompt_tokens: 10, output_tokens: 2 },
    { prompt_tokens: 5, cached: true },
  ];
  episode.asked = new QuestionLog([{ step: 1, agent: "a", kind: "plan", tries }], []);
  assert.deepEqual(costCurves(episode), [{ name: "tokens", values: [0, 0, 12, 12], colour: "ready" }]);
});

test("a moment is within its rows, which do not hold their end", () => {
  const hold = { start: 1, end: 3, goal: "g", role: "", cause: "", released: "" };
  const { team } = episodeOf(5, { team: [actor("a", { holds: [hold] })] });
  assert.deepEqual(
    [0, 1, 2, 3].map((t) => team[0]?.aim(t)),
    [null, "g", "g", null],
  );
});

test("data of another format are refused", () => {
  assert.throws(() => episodeOf(1, { format: 2 }), /expected replay data of format 1, got 2/);
});

test("a tick is in the step that it came in", () => {
  const episode = episodeOf(3, { ticks: [0, 2, 4, 6] });
  assert.deepEqual(
    [0, 1, 2, 5, 9].map((tick) => episode.stepOf(tick)),
    [0, 0, 1, 2, 3],
  );
  assert.equal(episodeOf(3).stepOf(2), 2);
});
