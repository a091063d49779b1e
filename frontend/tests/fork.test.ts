import assert from "node:assert/strict";
import { test } from "node:test";
import { QuestionLog } from "../src/episode/question_log";
import { command, messageNumber, numbered, planText, questionNumber, yaml } from "../src/replay/fork/changes";
import { outcome } from "../src/replay/fork/fork_view";
import { forkAddress, pairAddress } from "../src/shared/addresses";
import { episodeOf } from "./samples";

const message = (id: number, agent: string, step: number) => ({ id, agent, step, act: "tell", text: "" });

test("messages are counted by sender and step, from 1", () => {
  const sent = [message(1, "a", 0), message(2, "b", 0), message(3, "a", 0), message(4, "a", 1)];
  const episode = episodeOf(2, { messages: sent });
  assert.deepEqual(
    sent.map((one) => messageNumber(episode, one)),
    [1, 1, 2, 1],
  );
  assert.deepEqual(numbered("a", 1), { agent: "a" });
  assert.deepEqual(numbered("a", 2), { agent: "a", number: 2 });
});

test("questions are counted by kind, those that were not put left out", () => {
  const episode = episodeOf(2);
  const row = { step: 0, agent: "a", kind: "x.plan" };
  episode.asked = new QuestionLog([row, { ...row, skipped: "alone" }, { ...row, kind: "x.say" }, row], []);
  const { questions } = episode.asked;
  assert.deepEqual(
    [0, 2, 3].map((at) => questions[at] && questionNumber(episode, questions[at])),
    [1, 1, 2],
  );
});

test("a plan is written as the language has it", () => {
  const plan = { agent: "a", plan: 1, start: 0, end: 1, origin: "", cause: "", status: "", ended: "" };
  assert.equal(planText({ ...plan, goal: "block_2", actions: ["a()", "b(2)"] }), "plan for block_2 { a(); b(2) }");
  assert.equal(planText({ ...plan, actions: ["wait()"], on_failure: "abort" }), "plan { wait() } on failure abort");
  assert.equal(planText({ ...plan, goal: "the bed", actions: ["a()"] }), 'plan for "the bed" { a() }');
});

test("a change as a file keeps texts that look like something else", () => {
  const fields = { agent: "no", text: "a: b # c\n\u2028", recipients: [], drop: true, answer: { "x y": 1e30 } };
  assert.equal(
    yaml({ message: fields }),
    [
      "message:",
      '  agent: "no"',
      '  text: "a: b # c\\n\\u2028"',
      "  recipients: []",
      "  drop: true",
      '  answer: {"x y": 1.0e+30}',
    ].join("\n"),
  );
});

test("labels that a shell would read otherwise stand in quotes", () => {
  const named = { seed: 3, episode: 2 };
  assert.match(
    command({ ...named, method: "rules:noise=0.3" }, 4),
    /--method rules:noise=0\.3 --seed 3 --episode 2 --step 4 /,
  );
  assert.match(command({ ...named, method: "a'; b" }, 4), /--method 'a'\\''; b' /);
});

test("a fork stands beside its episode at the first difference", () => {
  const episode = { run: "a b", method: "m", seed: 3, episode: 2 };
  assert.equal(forkAddress(episode), "fork?run=a+b&method=m&seed=3&episode=2");
  assert.equal(
    pairAddress(episode, { ...episode, run: "/fork-1" }, 7),
    "pair?run=a+b&method=m&seed=3&episode=2&run2=%2Ffork-1&method2=m&seed2=3&episode2=2#t=7",
  );
});

test("what became of a fork is said in words", () => {
  const played = { run: "/fork-1", folder: "", method: "m", seed: 3, episode: 2 };
  const both = { steps: [30, 41] as [number, number], completion: [1, 1 / 3] as [number, number] };
  assert.equal(
    outcome({ ...played, ...both, first_difference: 5 }),
    "completion 33.3 % (100 % in the episode), 41 steps (30), otherwise from step 5 on.",
  );
  assert.equal(outcome({ ...played, ...both, first_difference: null }), "nothing went otherwise.");
});
