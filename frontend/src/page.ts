/** The page without a server: notes inside it, judgements kept in the browser, saved as a corpus. */

import { Annotating, type Feature, type OpenNote } from "./annotating.ts";
import { ask, byId, el, pageData } from "./dom.ts";
import { Judgements, type Judgement } from "./judgements.ts";
import { localStore } from "./keys.ts";
import { mapOf, marksText, parseMarks } from "./offsets.ts";
import { readSaved, savedText, type PageData } from "./saved.ts";

const data = pageData<PageData>();
const store = localStore();
const prefix = `rubricate ${data.id} `;
const rubrics = new Map(data.head.rubrics.map((rubric) => [rubric.case, rubric]));
let at = 0;

const judgements = new Judgements((change) => keep(change.note));
const view = new Annotating({ judgements, go, open: (note) => open(data.notes.findIndex((one) => one.note === note)) });

function features(number: number): readonly Feature[] {
  return rubrics.get(data.notes[number]?.case ?? "")?.features ?? [];
}

/** Keep a note's judgements in the browser: offsets, never words of the note. */
function keep(note: string): void {
  const own = rubrics.get(data.notes.find((one) => one.note === note)?.case ?? "")?.features ?? [];
  const kept = own.flatMap((feature) => {
    const { answer, marks } = judgements.get(note, feature.id);
    return answer ? [[feature.id, answer, marksText(marks)]] : [];
  });
  try {
    if (!store) throw new Error("no storage");
    store.setItem(prefix + note, JSON.stringify(kept));
    setStatus("saved in this browser");
  } catch {
    setStatus("this browser keeps nothing: save the file before you close the page", true);
  }
  unsaved = true;
  fillProgress();
}

let unsaved = false;

function load(note: string): void {
  const kept = JSON.parse(store?.getItem(prefix + note) ?? "[]") as [string, Judgement["answer"], string][];
  const found = new Map(kept.map(([feature, answer, marks]) => [feature, { answer, marks: parseMarks(marks) }]));
  const own = rubrics.get(data.notes.find((one) => one.note === note)?.case ?? "")?.features ?? [];
  for (const { id } of own) judgements.load(note, id, found.get(id) ?? { answer: null, marks: [] });
}

function setStatus(words: string, bad = false): void {
  byId("status").textContent = words;
  byId("status").classList.toggle("bad", bad);
}

function judged(number: number): number {
  const note = data.notes[number]!.note;
  return features(number).filter((one) => judgements.get(note, one.id).answer).length;
}

function fillProgress(): void {
  const counts = data.notes.map((_, i) => [judged(i), features(i).length] as const);
  const [done, all] = counts.reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
  byId("progress").textContent = `${done} of ${all} judged`;
  byId<HTMLProgressElement>("bar").value = all ? done / all : 0;
  const jump = byId<HTMLSelectElement>("jump");
  jump.replaceChildren(...counts.map(([some, whole], i) => {
    const state = some === whole ? " ✓" : some ? ` ${some}/${whole}` : "";
    return el("option", { value: i, selected: i === at }, `${i + 1}  ${data.notes[i]!.note}${state}`);
  }));
}

function open(number: number): void {
  if (number < 0 || number >= data.notes.length) return;
  at = number;
  const note = data.notes[number]!;
  const offered = mapOf(mapOf(data.suggestions).get(note.note));
  const suggestions = new Map([...offered].map(([id, marks]) => [id, parseMarks(marks)]));
  const shown: OpenNote = { id: note.note, text: note.text, features: features(number), suggestions, again: new Map() };
  byId("place").textContent = `Note ${number + 1} of ${data.notes.length}`;
  const title = rubrics.get(note.case)?.title;
  byId("note-id").textContent = title ? `${note.note} · ${title}` : `${note.note} · case ${note.case}`;
  byId<HTMLButtonElement>("before").disabled = number === 0;
  byId<HTMLButtonElement>("after").disabled = number === data.notes.length - 1;
  view.show(shown);
  document.body.dataset["note"] = note.note;
  fillProgress();
}

function go(by: -1 | 1, finished: boolean): void {
  if (finished) {
    const open_ = data.notes.findIndex((_, i) => judged(i) < features(i).length);
    if (open_ < 0) {
      view.announcer.say("Every feature of every note is judged. Save the file and send it back.");
      byId("save").classList.add("first");
      return;
    }
  }
  const next = at + by;
  if (next < 0 || next >= data.notes.length) return;
  open(next);
  view.announcer.say(`Note ${at + 1} of ${data.notes.length}`);
}

function save(): void {
  const blob = new Blob([savedText(data, judgements)], { type: "application/x-ndjson" });
  const link = el("a", { href: URL.createObjectURL(blob), download: data.file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  unsaved = false;
  setStatus(`${data.file} is in your downloads`);
}

async function openFile(file: File): Promise<void> {
  let found;
  try {
    found = readSaved(await file.text(), data);
  } catch (error) {
    await ask("This file was not opened", [el("p", {}, error instanceof Error ? error.message : String(error))], [["", "Close"]]);
    return;
  }
  const changed = judgements.setAll(found);
  open(at);
  view.announcer.say(changed ? `${found.length} judgements read; undo takes them back` : "nothing new in the file");
}

for (const note of data.notes) load(note.note);
byId("work").replaceWith(view.element);
byId("saying").replaceWith(view.announcer.element);
byId("before").addEventListener("click", () => go(-1, false));
byId("after").addEventListener("click", () => go(1, false));
byId("jump").addEventListener("change", (event) => open(Number((event.target as HTMLSelectElement).value)));
byId("undo").addEventListener("click", () => view.undo());
byId("redo").addEventListener("click", () => view.redo());
byId("map").addEventListener("click", () => view.keys.show());
byId("save").addEventListener("click", save);
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => {
  const input = event.target as HTMLInputElement;
  const file = input.files?.[0];
  if (file) void openFile(file).then(() => (input.value = ""));
});
// Another tab with the same page: what it keeps is shown here too, and nothing is overwritten.
window.addEventListener("storage", (event) => {
  if (!event.key?.startsWith(prefix)) return;
  load(event.key.slice(prefix.length));
  view.refresh();
  fillProgress();
});
window.addEventListener("beforeunload", (event) => {
  if (unsaved && byId("status").classList.contains("bad")) event.preventDefault();
});
const first = data.notes.findIndex((_, i) => judged(i) < features(i).length);
open(Math.max(0, first));
