import assert from "node:assert/strict";
import { test } from "node:test";
import { ABSENT, Judgements, UNJUDGED, withMarks, withSpan, type Change } from "../src/judgements.ts";
import { chordOf, isSingle, shownKey } from "../src/keys.ts";
import { mapOf } from "../src/offsets.ts";
import { readSaved, savedText, type PageData } from "../src/saved.ts";
import { Outbox } from "../src/workbench/outbox.ts";

test("a span makes a feature present, a fragment joins a mark, the same mark is not kept twice", () => {
  const one = withSpan(UNJUDGED, [0, 5]);
  assert.deepEqual(one, { answer: "present", marks: [[[0, 5]]] });
  const two = withSpan(one, [8, 9], 0);
  assert.deepEqual(two.marks, [[[0, 5], [8, 9]]]);
  assert.deepEqual(withSpan(one, [5, 7], 0).marks, [[[0, 7]]]);
  assert.deepEqual(withSpan(one, [0, 5]).marks, one.marks);
  assert.deepEqual(withSpan(ABSENT, [0, 5]), one);
  assert.deepEqual(withMarks(one, []), UNJUDGED);
  assert.equal(withSpan({ answer: "unsure", marks: [] }, [0, 5]).answer, "unsure");
});

test("marks are kept in the order in which the server keeps them", () => {
  let now = UNJUDGED;
  for (const span of [[5, 9], [0, 12], [0, 6]] as const) now = withSpan(now, span);
  assert.deepEqual(now.marks, [[[0, 6]], [[0, 12]], [[5, 9]]]);
  assert.deepEqual(withSpan(now, [20, 22], 0).marks, [[[0, 6], [20, 22]], [[0, 12]], [[5, 9]]]);
});

test("undo and redo walk through the steps and tell every change", () => {
  const told: Change[] = [];
  const all = new Judgements((change) => told.push(change));
  assert.equal(all.set("n", "f", ABSENT), true);
  assert.equal(all.set("n", "f", ABSENT), false);
  all.set("n", "f", withSpan(UNJUDGED, [0, 1]));
  assert.equal(all.undo()?.[0]?.after.answer, "absent");
  assert.equal(all.get("n", "f").answer, "absent");
  assert.equal(all.redo()?.[0]?.after.answer, "present");
  all.undo();
  all.undo();
  assert.equal(all.get("n", "f").answer, null);
  assert.equal(all.undo(), null);
  all.setAll([["n", "f", ABSENT], ["n", "g", ABSENT]]);
  assert.equal(all.redo(), null);
  assert.equal(all.undo()?.length, 2);
  assert.equal([...all.all()].length, 0);
  assert.equal(told.length, 10);
});

test("keys have one name, whatever the keyboard sends", () => {
  const press = (key: string, more = {}) =>
    chordOf({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
  assert.equal(press("X", { shiftKey: true }), "Shift+x");
  assert.equal(press("{", { shiftKey: true }), "{");
  assert.equal(press("z", { metaKey: true }), "Ctrl+z");
  assert.equal(press("ArrowLeft", { altKey: true, shiftKey: true }), "Alt+Shift+ArrowLeft");
  assert.equal(shownKey("Ctrl++"), "Ctrl + +");
  assert.equal(isSingle("x"), true);
  assert.equal(isSingle("Ctrl+z"), false);
});

const DATA: PageData = {
  id: "p", annotator: "ann", file: "ann.jsonl", suggestions: {},
  head: { rubrics: [{ case: "c", features: [{ id: "f", text: "F" }, { id: "g", text: "G" }] }], annotators: [{ id: "ann" }] },
  notes: [{ note: "n", case: "c", text: "\u{1f600} no fever" }, { note: "m", case: "c", text: "x" }],
};

test("a saved file is read back, what is unsure as well; other files are refused", () => {
  const all = new Judgements();
  all.set("n", "f", withSpan(UNJUDGED, [2, 10]));
  all.set("n", "g", { answer: "unsure", marks: [[[0, 1]]] });
  all.set("m", "f", ABSENT);
  const text = savedText(DATA, all);
  assert.deepEqual(new Set(readSaved(text, DATA).map((one) => JSON.stringify(one))),
    new Set([...all.all()].map((one) => JSON.stringify(one))));
  assert.throws(() => readSaved(text, { ...DATA, annotator: "bob" }), /work of ann/);
  assert.throws(() => readSaved(text.replace("no fever", "fever"), DATA), /another text/);
  assert.throws(() => readSaved(text.replace("[2,10]", "[2,99]"), DATA), /does not fit/);
  assert.throws(() => readSaved(text.replace('"f":[', '"stranger":['), DATA), /stranger/);
  assert.throws(() => readSaved("{", DATA), /Line 1/);
  assert.throws(() => readSaved('{"a":1}', DATA), /not a file/);
});

test("notes, features and annotators may be called as what every object has", () => {
  const names = ["__proto__", "constructor", "toString"];
  for (const name of names) {
    const data: PageData = { id: "p", annotator: name, file: "f", suggestions: JSON.parse(`{"${name}":{"${name}":"0 1"}}`),
      head: { rubrics: [{ case: "c", features: [{ id: name, text: "F" }] }], annotators: [{ id: name }] },
      notes: [{ note: name, case: "c", text: "ab" }] };
    assert.deepEqual([...mapOf(mapOf(data.suggestions).get(name))], [[name, "0 1"]]);
    for (const other of names) assert.equal(mapOf(mapOf({}).get(other)).size, 0);
    const all = new Judgements();
    assert.deepEqual(readSaved(savedText(data, all), data), []);
    all.set(name, name, withSpan(UNJUDGED, [0, 1]));
    assert.deepEqual(readSaved(savedText(data, all), data), [[name, name, withSpan(UNJUDGED, [0, 1])]]);
  }
});

/** A store of a browser, and a server that keeps what it is sent. */
function world() {
  const kept = new Map<string, string>();
  const store = { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => void kept.set(name, value) };
  const server = { online: true, sent: [] as string[], versions: new Map<string, number>() };
  const stale: string[] = [];
  const words: string[] = [];
  const outbox = () => new Outbox({
    send: async (letter) => {
      if (!server.online) throw new TypeError("no network");
      server.sent.push(letter.feature);
      const version = (server.versions.get(letter.feature) ?? 0) + 1;
      server.versions.set(letter.feature, version);
      const note_version = [...server.versions.values()].reduce((sum, one) => sum + one, 0);
      return { answer: letter.answer, marks: [], version, note_version };
    },
    conflict: async () => true, status: (said) => void words.push(said), taken: () => {}, refused: () => {},
    stale: (work) => void stale.push(work), isPassing: (error) => error instanceof TypeError, savedOf: () => null,
  }, store, "unsent");
  const letter = (feature: string) =>
    ({ work: "w", feature, answer: "absent", marks: "", version: 0, sha256: "", active_ms: 0, suggestion: "none" }) as const;
  return { kept, server, stale, words, outbox, letter };
}

test("windows keep what each has not sent yet, and none sends what another one sent", async () => {
  const { kept, server, outbox, letter } = world();
  server.online = false;
  const [first, second] = [outbox(), outbox()];
  first.add(letter("f"));
  second.add(letter("g"));
  await Promise.all([first.flush(), second.flush()]);
  assert.equal((JSON.parse(kept.get("unsent") ?? "") as unknown[]).length, 2);
  const third = outbox();
  assert.equal(third.length, 2);
  server.online = true;
  await Promise.all([first.flush(), second.flush()]);
  await third.flush();
  assert.deepEqual(server.sent.sort(), ["f", "g"]);
  assert.equal(kept.get("unsent"), "[]");
});

test("an answer of the server tells that others were changed elsewhere", async () => {
  const { server, stale, words, outbox, letter } = world();
  const here = outbox();
  here.add(letter("f"));
  await here.flush();
  assert.deepEqual(stale, []);
  server.versions.set("g", 3); // another machine
  here.add(letter("f"));
  await here.flush();
  assert.deepEqual(stale, ["w"]);
  assert.equal(words.at(-1), "saved");
});
