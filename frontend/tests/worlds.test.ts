import assert from "node:assert/strict";
import { test } from "node:test";
import type { JointAct } from "../src/records";
import {
  type Box,
  cellAt,
  isInside,
  layFloor,
  layGrid,
  type Point,
  shared,
  within,
} from "../src/worlds/common/geometry";
import { forces, tellForce } from "../src/worlds/cube/force";
import { areNames, spread } from "../src/worlds/grid/agents";
import type { GridAgent, GridEpisode } from "../src/worlds/grid/types";
import { asKnown, beliefs, knowledge } from "../src/worlds/household/knowledge";
import { placeNames } from "../src/worlds/household/names";
import { findSpot } from "../src/worlds/household/tags";
import type { HomeEpisode, HomeFrame, HomeStatic, HomeStyle } from "../src/worlds/household/types";
import { alongWay, view } from "../src/worlds/transport/agents";
import { tagsOf } from "../src/worlds/transport/items";
import type { HouseEpisode, HouseFrame } from "../src/worlds/transport/types";
import { fires } from "../src/worlds/wildfire/fires";
import { pick, roundLength } from "../src/worlds/wildfire/land";
import { codes, sight, tellAge } from "../src/worlds/wildfire/sight";
import type { LandFrame, LandRecord } from "../src/worlds/wildfire/types";
import { groupUnits } from "../src/worlds/wildfire/units";
import { actor, episodeOf } from "./samples";

const near = (one: number, other: number) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);

test("a grid lies in the middle, and a point of it is in the cell that is drawn there", () => {
  const plan = layGrid(400, 2, 4);
  assert.deepEqual([plan.cell, plan.left, plan.top], [100, 0, 100]);
  for (const zoomed of [plan, layGrid(400, 2, 4, { zoom: 2, x: 0.3, y: 0.6 })])
    for (let row = 0; row < 2; row++)
      for (let column = 0; column < 4; column++)
        assert.deepEqual(cellAt(zoomed, zoomed.x(column + 0.5), zoomed.y(row + 0.5)), [row, column]);
  assert.equal(cellAt(plan, 200, 99), null);
  assert.equal(cellAt(plan, 401, 150), null);
});

test("a floor plan points up, and its boxes are those of its corners", () => {
  const plan = layFloor(200, [[0, 0, 100, 50]], 0);
  assert.deepEqual(plan.spot(0, 0), [0, 150]);
  assert.deepEqual(plan.area([0, 0, 100, 50]), [0, 50, 200, 150]);
  const [a, b, c, d, e, f] = plan.flip;
  const [x, z] = [30, 20];
  assert.deepEqual([a * x + c * z + e, b * x + d * z + f], plan.spot(x, z), "the transform is the same map");
});

test("boxes and polygons", () => {
  assert.equal(shared([0, 0, 4, 4], [2, 3, 9, 9]), 2);
  assert.equal(shared([0, 0, 1, 1], [2, 2, 3, 3]), 0);
  assert.ok(within([1, 1, 2, 2], [0, 0, 2, 2]) && !within([1, 1, 3, 2], [0, 0, 2, 2]));
  const corner: Point[] = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]]; // biome-ignore format: a table
  assert.ok(isInside(corner, 0.5, 1) && isInside(corner, 3.5, 1) && !isInside(corner, 2, 3) && !isInside(corner, 5, 1));
});

const joint = (given: Partial<JointAct>): JointAct => ({
  start: 0,
  end: 1,
  goal: "block_3",
  k: 5,
  have: {},
  need: {},
  who: ["a", "b"],
  success: false,
  ...given,
});

test("a force is what the constraint on time counts, else who took part", () => {
  const found = forces({
    joints: [joint({}), joint({ goal: "block_1", have: { temporal: 4 }, need: { temporal: 4 } })],
  });
  assert.deepEqual(found.get(3), { have: 2, need: 5, moves: false, who: ["a", "b"] });
  assert.deepEqual([found.get(1)?.have, found.get(1)?.need], [4, 4]);
  assert.deepEqual(
    [...found.values()].map((force) => tellForce(force)),
    ["2 of 5, 3 missing", "4 of 4, held up"],
  );
  assert.equal(tellForce({ have: 2, need: 2, moves: true, who: [] }, "", ", it moves"), "2 of 2, it moves");
});

test("agents in one cell stand in a ring, one beside a labelled thing aside", () => {
  const at = (row: number, column: number, label = ""): GridAgent => [row, column, label, "", ""];
  const places = spread({ agents: [at(0, 0), at(0, 0), null, at(2, 2), at(3, 3)], things: [[2, 2, "box", "7"]] });
  const [one, other, gone, aside, alone] = places;
  assert.equal(gone, null);
  assert.ok(one && other && Math.hypot(one[0] - other[0], one[1] - other[1]) > one[2] + other[2] - 1e-9);
  assert.deepEqual(aside?.slice(0, 2), [2.74, 2.74]);
  assert.deepEqual(alone, [3.5, 3.5, 0.34]);
  const team = { team: [{ name: "agent_0" }] } as unknown as GridEpisode;
  assert.ok(areNames({ agents: [at(0, 0, "0")], things: [] }, team));
  assert.ok(!areNames({ agents: [at(0, 0, "7")], things: [] }, team));
});

const STYLE = {
  rooms: {},
  any_room: "#ffffff",
  soft: "#000000",
  target: ["#111111", "#222222"],
} as unknown as HomeStyle;
const HOME: HomeStatic = {
  rooms: [
    { id: 1, name: "kitchen", box: [0, 0, 400, 400] },
    { id: 2, name: "bath", box: [400, 0, 800, 400] },
  ],
  doors: [],
  furniture: [
    { id: 10, name: "fridge", container: true, goal: false, box: [20, 20, 90, 90] },
    { id: 11, name: "chair", container: false, goal: false, box: [200, 200, 240, 240] },
    { id: 12, name: "chair", container: false, goal: false, box: [242, 200, 282, 240] },
  ],
  touching: [[11, 12]],
  things: [
    { id: 20, name: "milk" },
    { id: 21, name: "cup" },
  ],
  needs: [{ relation: "ON", name: "milk", target: 10, number: 1 }],
};
const MOMENT: HomeFrame = {
  agents: [],
  hands: [],
  open: [10],
  things: [
    ["INSIDE", 10, 50, 50],
    ["ON", 12, 260, 220],
  ],
  missing: [1],
};

test("names of a home cover neither each other nor furniture that is filled", () => {
  const plan = layFloor(700, HOME.rooms.map((room) => room.box), 30); // biome-ignore format: one line
  const names = placeNames(plan, HOME, STYLE, (words, size) => 0.5 * size * words.length);
  assert.deepEqual(names.map(({ words }) => words).sort(), ["bath", "chair ×2", "fridge", "kitchen"]);
  for (const [k, { place }] of names.entries())
    for (const other of names.slice(0, k)) assert.equal(shared(place, other.place), 0);
  const fridge = plan.area([20, 20, 90, 90]);
  for (const { place } of names.slice(2)) assert.equal(shared(place, fridge), 0);
});

test("tags stand apart, in a room, as near as there is room", () => {
  const room: Box = [0, 0, 200, 200];
  const taken: Point[] = [];
  for (let k = 0; k < 9; k++) taken.push(findSpot([100, 100], taken, [room], [], 20));
  assert.deepEqual(taken[0], [100, 100]);
  for (const [k, [x, y]] of taken.entries())
    for (const [u, v] of taken.slice(0, k)) assert.ok(Math.max(Math.abs(x - u), Math.abs(y - v)) >= 20);
  assert.deepEqual(findSpot([2, 2], [], [room], [], 20), [12, 12], "no part of it is in the wall");
  assert.deepEqual(findSpot([500, 500], [], [room], [], 20), [500, 500], "nowhere is room");
});

function home(rows: { frame: number; seen?: string[]; unseen?: string[] }[]): HomeEpisode {
  return episodeOf(4, {
    static: { ...HOME },
    frames: Array.from({ length: 5 }, () => ({ ...MOMENT })),
    team: [actor("Alice"), actor("Bob")],
    perceived: rows.map((row) => ({ agent: "Alice", ...row })),
  }) as unknown as HomeEpisode;
}

test("an agent knows where it last perceived a thing, until it looks and the thing is not there", () => {
  const [open, there] = ["<fridge>(10) STATE open", "<milk>(20) INSIDE <fridge>(10)"];
  const episode = home([
    { frame: 0, seen: [open, there, "Alice AT <kitchen>(1)"] },
    { frame: 1, unseen: [open, there] },
    { frame: 4, seen: [open, "<fridge>(10) IN <kitchen>(1)"] },
  ]);
  const moment = (t: number) => ({ t, layer: "Alice", frame: MOMENT });
  assert.deepEqual(knowledge(episode, "Alice", 2).things.get(20), ["INSIDE", 10, 0]);
  const known = asKnown(moment(2), episode);
  assert.deepEqual(known.things, [["INSIDE", 10, 50, 50], null], "it never saw the cup");
  assert.deepEqual([known.ages[0], [...known.far], [...known.unmet]], [2, [2], [1]]);
  assert.deepEqual(known.open, [10]);
  assert.equal(knowledge(episode, "Alice", 4).things.has(20), false, "the open fridge is in sight, the milk is not");
  assert.equal(knowledge(episode, "Alice", 1).things.has(20), true, "and back in time it is known again");
  assert.deepEqual([...asKnown({ ...moment(2), layer: "truth" }, episode).far], []);
  assert.deepEqual(beliefs(moment(2), episode), [], "the log has no beliefs");
});

test("floor that is seen is as deep as the sight, and ends at walls", () => {
  const [at, first, ...rest] = view({ walls: [], sight: 200 }, [0, 0], 0);
  assert.deepEqual(at, [0, 0]);
  near(first?.[0] ?? 0, -200);
  near(first?.[1] ?? 0, 200);
  const cut = view({ walls: [[-500, 50, 500, 60]], sight: 200 }, [0, 0], 0);
  assert.equal(cut.length, rest.length + 2);
  for (const [, z] of cut.slice(1)) near(z, 50);
  assert.deepEqual(alongWay([[0, 0], [0, 0], [10, 0], [10, 10]], 0.75), [10, 5]); // biome-ignore format: a table
});

test("tags of things do not cover each other, those of no use stay", () => {
  const rows: HouseFrame["items"] = Array.from({ length: 6 }, (_, k) => [50, 50, -1, k === 4 ? 0 : -1, 0]);
  const kinds = ["target", "target", "container", "unrelated", "target", "target"];
  const episode = {
    static: { items: kinds.map((kind, id) => ({ id, kind, name: "cup" })) },
  } as unknown as HouseEpisode;
  const tags = tagsOf(layFloor(700, [[0, 0, 100, 100]], 0), { items: rows } as HouseFrame, episode);
  assert.deepEqual(
    tags.map(([number]) => number),
    [0, 1, 2, 3, 5],
    "the one in a container has no tag",
  );
  const apart = tags.filter(([number]) => number !== 3);
  for (const [k, [, , [x, y]]] of apart.entries())
    for (const [, , [u, v]] of apart.slice(0, k)) assert.ok(Math.hypot(x - u, y - v) >= 20 - 1e-9);
});

function land(agents: (Point | null)[], changes: number[][] = []): LandRecord {
  const side = 8;
  const frames = agents.map((place, t): LandFrame => {
    return { land: changes[t] ?? [], agents: [place], aboard: [null], water: [0], civilians: [] };
  });
  const fixed = { size: side, land: Array(side).fill("5".repeat(side)), kinds: ["drone"], targets: [], target: null };
  return { static: fixed, frames, style: { sees: { drone: [1, 2] } } } as unknown as LandRecord;
}

test("codes are the land with its changes, and are as they were where they were last seen", () => {
  const burning = [0, 1, 10]; // the first cell
  const episode = land([[0, 0], [0, 0], [6, 0], [6, 0]], [[], burning, burning, [0, 1, 12]]); // biome-ignore format: a table
  const frame = episode.frames[3] as LandFrame;
  assert.deepEqual([...codes(frame, episode).slice(0, 2)], [12, 5]);
  const seen = sight(episode, null, 3);
  assert.deepEqual(
    [seen.cells[0], seen.when[0]],
    [10, 2],
    "it went from here in step 2, and does not know what followed",
  );
  assert.equal(seen.cells[3 * 8], 0, "two rows away nothing was seen");
  assert.ok(seen.when[6] === 3 && seen.when[3] === 2, "on the way it saw the cells between");
  assert.equal(tellAge({ t: 3, layer: "team", frame }, episode, 0), ", seen 1 step ago");
  assert.equal(tellAge({ t: 3, layer: "truth", frame }, episode, 0), "");
  assert.equal(sight(episode, 0, 0).cells[6], 0, "back in time it is unseen");
});

test("cells at most four apart are one fire, and a pixel shows the cell that matters", () => {
  const episode = { ...land([null]), static: { ...land([null]).static, is_known: true } } as LandRecord;
  const frame: LandFrame = { land: [0, 1, 10, 4, 1, 9, 63, 1, 10], agents: [], aboard: [], water: [], civilians: [] };
  assert.deepEqual(fires({ t: 0, layer: null, frame }, episode), [[0, 0, 4, 0, 2], [7, 7, 7, 7, 1]]); // biome-ignore format: a table
  const cells = Uint8Array.from([1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1]);
  assert.deepEqual([...pick(cells, 4, 2, [0, 0, 1, 2])], [1, 2, 8, 10]);
  assert.deepEqual([...pick(cells, 4, 4, [])], [...cells.keys()]);
  assert.deepEqual([7, 1, 2, 0.3, 1900].map(roundLength), [5, 1, 2, 0.2, 1000]);
});

test("a unit joins the first group that begins near it", () => {
  const units = [0, 1, 5, 1.5].map((x, row) => ({ row, kind: "drone", x, y: 0 }));
  assert.deepEqual(
    groupUnits(units, 2).map((group) => group.map(({ row }) => row)),
    [[0, 1, 3], [2]],
  );
});
