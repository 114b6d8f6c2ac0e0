import assert from "node:assert/strict";
import { test } from "node:test";
import { assignLanes, extentOf } from "../src/lanes.ts";
import { marksText, mergeSpans, parseMarks, TextMap, wordsOf } from "../src/offsets.ts";
import { findWords, snap, wordAt } from "../src/words.ts";

const TEXT = "a\u{1f600}b\r\n\u{1f468}\u200d\u{1f469} cafe\u0301 38.5°C, don't";

test("offsets are those of Python, whatever a character takes in UTF-16", () => {
  const map = new TextMap(TEXT);
  const points = [...TEXT];
  assert.equal(map.length, points.length);
  let unit = 0;
  points.forEach((character, point) => {
    assert.equal(map.toUnits(point), unit);
    assert.equal(map.toPoints(unit), point);
    if (character.length === 2) assert.equal(map.toPoints(unit + 1), point);
    assert.equal(map.slice([point, point + 1]), character);
    unit += character.length;
  });
  assert.equal(map.toUnits(points.length), TEXT.length);
  assert.equal(map.toPoints(TEXT.length), points.length);
});

test("marks are written as the tables write them", () => {
  assert.equal(marksText([[[0, 8], [10, 14]], [[20, 25]]]), "0 8;10 14|20 25");
  assert.deepEqual(parseMarks("0 8;10 14|20 25"), [[[0, 8], [10, 14]], [[20, 25]]]);
  assert.deepEqual(parseMarks(""), []);
  assert.equal(wordsOf([[0, 2], [3, 4]], new TextMap("no, x")), "no …  ");
});

test("spans that touch become one", () => {
  assert.deepEqual(mergeSpans([[7, 9], [0, 3], [3, 5], [1, 2]]), [[0, 5], [7, 9]]);
});

test("words keep decimals, accents and apostrophes; a mark is a word of its own", () => {
  const map = new TextMap("cafe\u0301, 38.5 don't c/o (x2)");
  assert.deepEqual(findWords(map).map((span) => map.slice(span)),
    ["cafe\u0301", ",", "38.5", "don't", "c", "/", "o", "(", "x2", ")"]);
});

test("a selection snaps outwards to words and leaves blanks and marks beside it", () => {
  const map = new TextMap("chest pain, none");
  const words = findWords(map);
  assert.deepEqual(snap(words, [2, 8]), [0, 10]);
  assert.deepEqual(snap(words, [5, 10]), [6, 10]);
  assert.equal(snap(words, [5, 6]), null);
  assert.equal(wordAt(words, 7), 1);
  assert.equal(wordAt([], 3), 0);
});

test("a mark takes its lane from its first character to its last, links included", () => {
  assert.deepEqual(assignLanes([[[0, 2], [10, 12]] as const, [[4, 6]] as const].map(extentOf)), [0, 1]);
});
