import assert from "node:assert/strict";
import { test } from "node:test";
import { Lane } from "../src/episode/lane";
import { Axis } from "../src/replay/lanes/axis";
import { GroupPaces, groupsOf, LaneRows, PACES, paceOf } from "../src/replay/lanes/rows";
import { actor } from "./samples";

const team = (count: number, kind = (_: number) => "agent") =>
  Array.from({ length: count }, (_, place) => ({ name: `agent_${place}`, kind: kind(place) }));

test("a small team has no groups", () => {
  assert.deepEqual(groupsOf(team(24)), []);
  assert.equal(new LaneRows(team(24)).rows.length, 24);
});

test("every agent of a large team is in one group, of its kind and of at most 32", () => {
  const members = team(256, (place) => (place % 5 ? "engine" : "drone"));
  const groups = groupsOf(members);
  const places = groups.flatMap((group) => group.places);
  assert.deepEqual(
    places.toSorted((one, other) => one - other),
    [...members.keys()],
  );
  for (const group of groups) {
    assert.ok(group.places.length <= 32);
    assert.equal(new Set(group.places.map((place) => members[place]?.kind)).size, 1);
  }
  assert.deepEqual(
    groupsOf(team(64)).map(({ name }) => name),
    ["agent 0–31", "agent 32–63"],
  );
  assert.deepEqual(
    groupsOf(team(30)).map(({ name }) => name),
    ["agent"],
  );
});

test("groups of a very large team are closed, and an agent that is looked for opens its own", () => {
  const list = new LaneRows(team(256));
  assert.equal(list.rows.length, 8);
  assert.equal(list.reveal(40), 1 + 1 + (40 - 32));
  assert.deepEqual(list.rows[10], { place: 40 });
  assert.equal(list.rows.length, 8 + 32);
  assert.equal(list.reveal(999), -1);
  const [first] = list.rows;
  assert.ok(first && "group" in first);
  list.toggle(first.group);
  assert.equal(list.rows.length, 8 + 64);
  list.toggle(first.group);
  assert.equal(list.rows.length, 8 + 32);
});

test("paces of a group are what its lanes have step by step", () => {
  const steps = 12;
  const span = (start: number, end: number, status: "done" | "failed") => ({ start, end, action: "go()", status });
  const lanes = [
    new Lane(
      actor("a", {
        spans: [span(0, 4, "failed"), span(5, 12, "done")],
        paces: [{ step: 0, moved: true }, { step: 3, effect: true }, { step: 4 }, { step: 5, ready: "g" }],
      }),
      [],
    ),
    new Lane(actor("b", { spans: [span(2, 9, "done")], paces: [{ step: 2, moved: true, effect: true }] }), []),
    new Lane(actor("c"), []),
  ];
  const paces = new GroupPaces(lanes, steps);
  for (let step = 0; step < steps; step++) {
    for (const pace of PACES) {
      const counted = lanes.filter((lane) => {
        const row = lane.pace(step);
        return row && step < (lane.runs.at(-1)?.end ?? 0) && paceOf(row) === pace;
      }).length;
      assert.equal(paces.mean(pace, step, step + 1), counted, `${pace} at ${step}`);
    }
  }
  assert.equal(paces.mean("work", 0, steps), (1 + 7) / steps);
  assert.deepEqual([...paces.failed], [3]);
});

test("a zoom keeps the step under the pointer, and the view within the episode", () => {
  const axis = new Axis(1000);
  axis.width = 900;
  const x = axis.x(400);
  axis.setZoom(8, 400);
  assert.ok(Math.abs(axis.x(400) - x) < 1e-6);
  assert.ok(Math.abs(axis.step(axis.x(123.5)) - 123.5) < 1e-9);
  axis.moveTo(2000);
  assert.equal(axis.until, 1000);
  axis.setZoom(1e9, 0);
  assert.equal(axis.visible, 10);
});
