/** The page that shows one note of a run at a time, and where a person reviews its decisions. */

import { byId, el, pageData } from "../dom.ts";
import { Chunks, notesOf, percentOf, pointsText, type Index, type Note, type NoteContent } from "./data.ts";
import { Decisions } from "./decisions.ts";
import { drawItems, drawSum, itemOf, stateOf, summaryOf, type Item } from "./items.ts";
import { addressOf, NoteList } from "./list.ts";
import { WordSelection } from "./selection.ts";
import { drawText } from "./text.ts";

const index = pageData<Index>("index");
const { notes, cases } = notesOf(index);
const byNote = new Map([...notes].reverse().map((note) => [note.id, note]));
const mine = new Decisions(index.run);
const selection = new WordSelection(byId("text"));
const list = new NoteList(notes, cases, (note) => mine.count(note), open);
const chunks = new Chunks(index.size, () => {
  byId("summary").textContent = "The text of this note could not be loaded. Keep the folder “report” beside report.html.";
});
const [by, why] = [byId<HTMLInputElement>("by"), byId<HTMLInputElement>("why")];
let content: NoteContent = ["", [], []];
let items: Item[] = [];
let active = -1;

/* One note */

function open(note: Note | undefined, { push = true, then }: { push?: boolean; then?: () => void } = {}): void {
  if (!note) return;
  list.choose(note);
  if (push) history.replaceState(null, "", addressOf(note));
  byId("note-title").textContent = `Note ${note.id}`;
  document.title = `${note.id} – ${index.title}`;
  for (const id of ["remarks", "features", "sum"]) byId(id).replaceChildren();
  byId("text").hidden = true;
  items = [];
  active = -1;
  selection.forget();
  drawReview();
  byId("summary").textContent = "Loading …";
  chunks.with(note.at, (loaded) => {
    if (note !== list.current) return;
    content = loaded;
    byId("remarks").replaceChildren(...loaded[2].map((remark) => el("li", {}, remark)));
    redraw();
    document.body.dataset["note"] = note.id;
    then?.();
  });
}

function redraw(): void {
  const note = list.current;
  if (!note) return;
  const [text, rows] = content;
  items = rows.map((row, number) => {
    const feature = note.case.features[number]!;
    return itemOf(feature, row, mine.get(note.id, feature.id));
  });
  const share = note.most && note.most > 0 ? ` (${percentOf(note).toFixed(0)} %)` : "";
  byId("summary").textContent = summaryOf(note, items, note.score === null ? "" : `${pointsText(note)} points${share}`);
  drawText(byId("text"), text, items.map(({ feature, marked, against, ask }, number) => ({
    marks: marked,
    style: `${ask ? " asked" : ""}${against.length ? " against" : ""}`,
    title: `${number + 1} ${against.length ? "contradicts: " : ""}${feature.text}`,
  })));
  drawItems(byId("features"), items);
  drawSum(byId("sum"), note, items);
  if (active >= 0) choose(active, false);
  else drawReview();
}

function choose(number: number, scroll = true): void {
  active = number;
  for (const line of byId("features").querySelectorAll("li")) {
    if (Number(line.dataset["f"]) === number) line.setAttribute("aria-current", "true");
    else line.removeAttribute("aria-current");
  }
  const marks = [...byId("text").querySelectorAll("mark")];
  for (const mark of marks) mark.classList.toggle("on", heldBy(mark).includes(number));
  why.value = items[number]?.own?.comment ?? "";
  drawReview();
  if (!scroll) return;
  // At once: of two smooth scrolls the second stops the first.
  document.getElementById(`f${number}`)?.scrollIntoView({ block: "nearest", behavior: "instant" });
  marks.find((mark) => mark.classList.contains("on"))?.scrollIntoView({ block: "nearest", behavior: "instant" });
}

function heldBy(mark: HTMLElement): number[] {
  return (mark.dataset["f"] ?? "").split(" ").map(Number);
}

function stepFeature(by: -1 | 1): void {
  const n = items.length;
  if (n) choose(active < 0 ? (by > 0 ? 0 : n - 1) : (active + by + n) % n);
}

/* Review */

function drawReview(): void {
  const item = items[active];
  const state = (found: boolean): string => (found ? "stated" : "not stated");
  const said = item ? stateOf(item).replace(/^\S+ /, "") : "";
  byId("review-item").textContent = item ? `${active + 1} ${item.feature.text}: ${said}` : "Choose a feature to review it.";
  const found = item?.found ?? null;
  byId("accept").textContent = !item ? "Accept" : found === null ? "Stated" : `Accept: ${state(found)}`;
  byId("reject").textContent = !item ? "Reject" : found === null ? "Not stated" : `Reject: ${state(!found)}`;
  const usable = { accept: item, reject: item, mark: item, undo: item?.own, save: mine.size };
  for (const [id, use] of Object.entries(usable)) byId<HTMLButtonElement>(id).disabled = !use;
  const where = mine.kept ? "kept in this browser" : "not kept: save before you close the page";
  say(mine.size ? `${mine.size} ${mine.size === 1 ? "decision" : "decisions"}, ${where}` : "");
}

function say(words: string): void {
  byId("review-state").textContent = words;
}

function decide(found: boolean, spans: string | null): void {
  const [note, item] = [list.current, items[active]];
  if (!note || !item) return;
  if (!by.value.trim()) {
    say("Write your name first, then decide.");
    by.focus();
    return;
  }
  mine.by = by.value.trim();
  const at = new Date().toISOString().replace(/\.\d+/, "");
  mine.set(note.id, item.feature.id, { found, spans, by: mine.by, at, comment: why.value.trim() });
  redraw();
  list.draw();
}

function accept(): void {
  const item = items[active];
  if (item) decide(item.found ?? true, item.own?.spans ?? null);
}

function reject(): void {
  const item = items[active];
  if (item) decide(item.found === null ? false : !item.found, null);
}

function mark(): void {
  const item = items[active];
  const span = selection.take();
  if (!item) return;
  if (!span) {
    say("Select the words in the note first.");
    return;
  }
  const before = item.own?.found && item.own.spans ? [item.own.spans] : [];
  decide(true, [...before, span.join(" ")].join("|"));
}

function undo(): void {
  const item = items[active];
  if (!list.current || !item?.own) return;
  mine.remove(list.current.id, item.feature.id);
  redraw();
  list.draw();
}

function save(): void {
  if (!mine.size) return;
  const address = URL.createObjectURL(new Blob([mine.csv()], { type: "text/csv" }));
  el("a", { href: address, download: "corrections.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  drawReview();
  say(`Saved ${mine.size} as corrections.csv. Run the command again with --corrections corrections.csv.`);
}

function nextToReview(): void {
  const isOpen = (item: Item): boolean => !!item.ask && !item.own;
  const here = items.findIndex((item, number) => number > active && isOpen(item));
  if (here >= 0) choose(here);
  else open(list.nextOpen(), { then: () => choose(items.findIndex(isOpen)) });
}

/* Events */

byId("previous").addEventListener("click", () => open(list.step(-1)));
byId("next").addEventListener("click", () => open(list.step(1)));
byId("features").addEventListener("click", (event) => {
  const target = event.target as Element;
  const line = target.closest("li");
  if (line && !target.closest("summary")) choose(Number(line.dataset["f"]));
});
byId("text").addEventListener("click", (event) => {
  const at = (event.target as Element).closest("mark");
  if (!at || !getSelection()?.isCollapsed) return;
  const held = heldBy(at);
  choose(held[(held.indexOf(active) + 1) % held.length]!);
});
for (const [id, action] of Object.entries({ accept, reject, mark, undo, save })) {
  // The selection stays where it is.
  byId(id).addEventListener("mousedown", (event) => event.preventDefault());
  byId(id).addEventListener("click", action);
}
by.value = mine.by;
by.addEventListener("change", () => {
  mine.by = by.value.trim();
  drawReview();
});
why.addEventListener("change", () => {
  const item = items[active];
  if (item?.own) decide(item.own.found, item.own.spans);
});
addEventListener("storage", () => {
  mine.reload();
  if (items.length) redraw();
  list.draw();
});
addEventListener("beforeunload", (event) => { if (!mine.kept && mine.unsaved) event.preventDefault(); });

const walk = (by: -1 | 1) => (event: KeyboardEvent): void =>
  selection.step(by, event.shiftKey, items[active]?.marked[0]?.[0]?.[0] ?? 0);
const down = (): void => stepFeature(1);
const up = (): void => stepFeature(-1);
const KEYS: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
  j: down, ArrowDown: down, k: up, ArrowUp: up,
  n: () => open(list.step(1)), p: () => open(list.step(-1)), "/": () => list.fields.search.focus(),
  a: accept, x: reject, m: mark, u: undo, s: save, r: nextToReview,
  ArrowRight: walk(1), ArrowLeft: walk(-1),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  if (target.matches("input, select, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const action = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : undefined;
  if (!action) return;
  event.preventDefault();
  action(event);
});

function fromAddress(): void {
  const asked = new URLSearchParams(location.hash.slice(1));
  list.set(asked);
  const wanted = asked.get("n");
  open(wanted === null ? list.shown[0] : byNote.get(wanted), { push: wanted !== null });
}
addEventListener("hashchange", fromAddress);
byId<HTMLDetailsElement>("finder").open = !matchMedia("(max-width: 52rem)").matches;
fromAddress();
