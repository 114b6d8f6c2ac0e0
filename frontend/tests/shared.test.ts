/** Rules that Python has as well: the same cases hold both to them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText, guarded } from "../src/csv.ts";
import { assignLanes } from "../src/lanes.ts";
import type { Span } from "../src/offsets.ts";
import { mostPoints, pointsOf, totalOf } from "../src/points.ts";
import formulas from "./cases/formulas.json";
import lanes from "./cases/lanes.json";
import points from "./cases/points.json";

for (const one of points) {
  test(`points: ${one.what}`, () => {
    const features = one.weights.map((weight, i) => ({ weight, group: one.groups[i]! }));
    const found = pointsOf(features, one.found);
    assert.deepEqual(found, one.points);
    assert.equal(totalOf(found, one.floor), one.score);
    assert.equal(mostPoints(features), one.maximum);
  });
}

test("no cell is taken for a formula", () => {
  for (const one of formulas) assert.equal(guarded(one.text), one.guarded);
  assert.equal(csvText(["a", "b"], [["=1", 'x"y'], ["p,q", "r\r\ns"]]),
    '\ufeffa,b\r\n\'=1,"x""y"\r\n"p,q","r\r\ns"\r\n');
});

for (const one of lanes) {
  test(`lanes: ${one.what}`, () => assert.deepEqual(assignLanes(one.stretches as unknown as Span[]), one.lanes));
}
