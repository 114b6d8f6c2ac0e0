import assert from "node:assert/strict";
import { test } from "node:test";
import { Decisions } from "../src/viewer/decisions.ts";
import { itemOf, stateOf, summaryOf } from "../src/viewer/items.ts";
import { cutPieces } from "../src/viewer/text.ts";
import { notesOf, percentOf, pointsText, type Index, type ItemRow } from "../src/viewer/data.ts";

const INDEX: Index = {
  title: "t", run: "r", size: 100,
  cases: [{ case: "1", title: "Case 1", floor: true, features: [["f", "Fever", 2, ""], ["g", "Pain", 1, ""]] }],
  notes: [["a", 0, 2, 3, "10", 1, 0], ["b", 0, null, null, "--", 0, 16]],
};
const FOUND: ItemRow = [1, 0.87, "0 5", "", "", "", "", "", "", ""];
const ABSENT: ItemRow = [0, 0.97, "", "", "close", "", "", "", "6 10", "says left"];

function stored(): Pick<Storage, "getItem" | "setItem"> & { held: Map<string, string> } {
  const held = new Map<string, string>();
  return { held, getItem: (name) => held.get(name) ?? null, setItem: (name, value) => void held.set(name, value) };
}

test("the index becomes notes with their cases", () => {
  const [a, b] = notesOf(INDEX).notes;
  assert.equal(a!.case.features[0]!.text, "Fever");
  assert.equal(pointsText(a!), "2 of 3");
  assert.equal(pointsText(b!), "not scored");
  assert.ok(Number.isNaN(percentOf(b!)));
});

test("an item is what the run found, until it is decided here; later runs hold again", () => {
  const [f, g] = notesOf(INDEX).cases[0]!.features;
  const found = itemOf(f!, FOUND, undefined);
  assert.deepEqual([found.found, found.marked], [true, [[[0, 5]]]]);
  assert.equal(stateOf(found), "✓ stated · 87 % sure");
  const against = itemOf(g!, ABSENT, undefined);
  assert.deepEqual(against.against, [[[6, 10]]]);
  assert.equal(stateOf(against), "✗ contradicted · 97 % sure");
  const own = { found: false, spans: null, by: "me", at: "2026-01-02T03:04:05Z", comment: "" };
  const rejected = itemOf(f!, FOUND, own);
  assert.deepEqual([rejected.found, rejected.marked, stateOf(rejected)], [false, [], "– not mentioned · by you"]);
  assert.deepEqual(itemOf(f!, FOUND, { ...own, found: true }).marked, [[[0, 5]]]);
  const handedIn: ItemRow = [0, null, "", "", "", "me", own.at, "", "", ""];
  assert.equal(itemOf(f!, handedIn, own).own, null);
  const note = notesOf(INDEX).notes[0]!;
  assert.equal(summaryOf(note, [found, against], "2 of 3 points"), "Case 1 · 2 of 3 points · 1 of 2 features stated · 1 contradicted · 1 to review");
});

test("decisions are kept under their run, and become lines of corrections.csv", () => {
  const store = stored();
  const mine = new Decisions("r", () => store);
  mine.by = "Zoë, =Dr";
  mine.set("=n 1", "f", { found: true, spans: "0 5|8 9", by: mine.by, at: "t", comment: "" });
  mine.set("n2", "f", { found: false, spans: "0 5", by: mine.by, at: "t", comment: "why" });
  const again = new Decisions("r", () => store);
  assert.deepEqual([again.by, again.size, again.count("n2"), new Decisions("other", () => store).size], ["Zoë, =Dr", 2, 1, 0]);
  again.remove("n2", "f");
  mine.set("n3", "g", { found: false, spans: null, by: "x", at: "t", comment: "" });
  assert.equal(mine.count("n2"), 0);  // what another tab removed stays removed
  assert.equal(mine.unsaved, true);
  assert.equal(mine.csv(), '\ufeffnote,feature,found,spans,by,at,comment\r\n\'=n 1,f,yes,0 5|8 9,"Zoë, =Dr",t,\r\nn3,g,no,,x,t,\r\n');
  assert.equal(mine.unsaved, false);
});

test("where nothing can be kept the page says so", () => {
  const mine = new Decisions("r", () => { throw new Error("forbidden"); });
  assert.equal(mine.kept, false);
  mine.set("n", "f", { found: true, spans: null, by: "x", at: "t", comment: "" });
  assert.deepEqual([mine.kept, mine.size], [false, 1]);
});

test("text is cut where marks begin and end; fragments are numbered as such", () => {
  const pieces = cutPieces(12, [[[[0, 4], [8, 10]]], [[[2, 9]]], []]);
  assert.deepEqual(pieces.map((one) => [one.start, one.end, [...one.lanes]]), [
    [0, 2, [[0, 0]]], [2, 4, [[0, 0], [1, 1]]], [4, 8, [[1, 1]]], [8, 9, [[0, 0], [1, 1]]], [9, 10, [[0, 0]]], [10, 12, []],
  ]);
  assert.deepEqual(pieces.map((one) => one.badges), [["1…"], ["2"], [], ["…1"], [], []]);
});
