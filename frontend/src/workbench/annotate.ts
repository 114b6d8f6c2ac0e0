/** Annotating in the workbench: every judgement goes to the server at once. */

import { Annotating, type Feature } from "../annotating.ts";
import { ask, byId, el, focusQuietly } from "../dom.ts";
import { Judgements, sameMark, type Change, type Judgement } from "../judgements.ts";
import { localStore } from "../keys.ts";
import { mapOf, marksText, parseMarks, wordsOf, type Mark } from "../offsets.ts";
import { accountKeys, ActiveClock, ApiError, begin, call, isPassing, type NoteText } from "./api.ts";
import { Outbox, type Letter, type SavedState } from "./outbox.ts";

interface Work {
  readonly id: string;
  readonly position: number;
  readonly total: number;
  state: string;
  readonly training: boolean;
  readonly note: NoteText;
  readonly rubric: { readonly title: string; readonly features: readonly Feature[] };
  readonly judgements: Record<string, SavedState>;
  readonly again: Record<string, Feature>;
  readonly suggestions: Record<string, { marks: readonly Mark[] }> | null;
  readonly previous: string | null;
  readonly next: string | null;
}
interface Next {
  readonly assignment: string | null;
  readonly done: number;
  readonly total: number;
  readonly state: string;
}

const project = document.body.dataset["project"] ?? "";
const clock = new ActiveClock();
let work: Work | null = null;
/** What the server says is on the screen; nothing of it is sent back. */
let loading = false;
/** One's own notes, in order. */
let queue: { id: string; note: string; state: string; again: readonly string[] }[] = [];

/** It is not always on the page: when all notes are done, something else is. */
const status = el("span", { id: "status", class: "quiet", role: "status" }, "saved");
const outbox = new Outbox({
  send: async (letter) => {
    const path = `/assignments/${letter.work}/features/${encodeURIComponent(letter.feature)}`;
    const saved = await call<SavedState>("PUT", path, {
      answer: letter.answer, marks: parseMarks(letter.marks), version: letter.version, sha256: letter.sha256,
      active_ms: letter.active_ms, suggestion: letter.suggestion,
    });
    windows?.postMessage(letter.work);
    return saved;
  },
  conflict: async (letter, saved) => (await ask("Changed elsewhere", [
    el("p", {}, `${featureText(letter)} was changed in another window or on another machine.`),
    el("dl", {}, el("dt", {}, "Here"), el("dd", {}, said(letter.answer, parseMarks(letter.marks))),
      el("dt", {}, "Saved"), el("dd", {}, said(saved.answer, saved.marks))),
  ], [["mine", "Keep mine"], ["saved", "Keep saved"]])) !== "saved",
  status: (words, bad) => {
    status.textContent = words;
    status.classList.toggle("bad", bad);
  },
  taken: (letter, saved) => {
    judgements.load(letter.work, letter.feature, saved);
    if (letter.work === work?.id) view.refresh();
  },
  stale: (id) => after(() => showSaved(id)),
  refused: (letter) => { if (letter.work === work?.id) void open(letter.work); },
  isPassing,
  savedOf: (error) => error instanceof ApiError && error.code === "conflict" ? (error.saved as SavedState) : null,
}, localStore(), `rubricate-unsent ${document.body.dataset["user"] ?? ""}`);

/** Other windows of this browser, which are told what was saved here. */
const windows = "BroadcastChannel" in window ? new BroadcastChannel(`rubricate ${document.body.dataset["user"] ?? ""}`) : null;
windows?.addEventListener("message", (event) => after(() => showSaved(String(event.data))));

const judgements = new Judgements((change) => { if (!loading) send(change); });
const bar = el("div", { class: "bar tools" },
  el("button", { type: "button", id: "before", "aria-label": "Note before", click: () => go(-1, false) }, "←"),
  el("select", { id: "place", "aria-label": "Note", change: () => void open(byId<HTMLSelectElement>("place").value) }),
  el("button", { type: "button", id: "after", "aria-label": "Note after", click: () => go(1, false) }, "→"),
  el("span", { id: "note-id", class: "quiet" }),
  el("button", { type: "button", id: "again", click: () => void openAgain() }), el("span", { class: "space" }),
  status,
  el("button", { type: "button", id: "undo", click: () => view.undo() }, "Undo"),
  el("button", { type: "button", id: "redo", click: () => view.redo() }, "Redo"),
  el("button", { type: "button", id: "map", click: () => view.keys.show() }, "Keys ", el("kbd", { "aria-hidden": "true" }, "?")),
  el("button", { type: "button", id: "done", click: () => void view.done() }, "Note done"));
const view = new Annotating(
  { judgements, go: (by, finished) => go(by, finished), open: () => {}, history: (step) => after(() => stepBack(step)),
    keep: (note, feature, now) => send({ note, feature, before: now, after: now }) },
  await accountKeys());

function featureText(letter: Letter): string {
  return work?.rubric.features.find((one) => one.id === letter.feature)?.text ?? `Feature ${letter.feature}`;
}

function said(answer: string | null, marks: readonly Mark[]): string {
  const words = marks.map((mark) => `“${wordsOf(mark, view.drawing.map)}”`).join(", ");
  return [answer ?? "open", words].filter(Boolean).join(" ");
}

function send({ note, feature, after }: Change): void {
  if (!after.answer && work?.id === note) work.state = "started"; // the server opens it again
  const offered = view.note.id === note ? view.note.suggestions.get(feature) : undefined;
  const accepted = offered?.length === after.marks.length && offered.every((mark, i) => sameMark(mark, after.marks[i]!));
  outbox.add({
    work: note, feature, answer: after.answer, marks: marksText(after.marks),
    version: outbox.version(note, feature), sha256: work?.note.sha256 ?? "",
    active_ms: clock.take(), suggestion: offered?.length ? (accepted ? "accepted" : "shown") : "none",
  });
}

/** Show a note as the server holds it; a feature, if given, is the active one. */
async function open(id: string, active?: string): Promise<void> {
  const got = await call<Work>("GET", `/assignments/${id}`);
  work = got;
  const saved = mapOf(got.judgements);
  outbox.forget(id);
  for (const [feature, one] of saved) outbox.seen(id, feature, one.version);
  loading = true;
  for (const { id: feature } of got.rubric.features) {
    judgements.load(id, feature, saved.get(feature) ?? { answer: null, marks: [] });
  }
  for (const [feature, judgement] of outbox.pending(id)) judgements.load(id, feature, judgement);
  loading = false;
  byId("note-id").textContent = [got.note.id, got.rubric.title, got.training && "training", got.state === "done" && "done"]
    .filter(Boolean).join(" · ");
  byId<HTMLButtonElement>("before").disabled = !got.previous;
  byId<HTMLButtonElement>("after").disabled = !got.next;
  history.replaceState(null, "", `#${id}`);
  const suggestions = new Map([...mapOf(got.suggestions)].map(([key, one]) => [key, one.marks]));
  view.show({ id, text: got.note.text, features: got.rubric.features, suggestions, again: mapOf(got.again) }, active);
  fillQueue();
  document.body.dataset["work"] = id;
  clock.take();
}

/** Show what the server holds where another window or machine changed it meanwhile. */
async function showSaved(id: string): Promise<void> {
  if (id !== work?.id || !document.body.dataset["work"]) return;
  await outbox.flush();
  const before = outbox.noteVersion(id);
  await open(id, view.feature?.id);
  if (outbox.noteVersion(id) !== before) {
    view.announcer.say("This note was changed in another window. The page now shows the answers that are saved");
  }
}

let going = Promise.resolve();

/** Keys that come faster than the server answers wait for each other. */
function after(step: () => Promise<void>): void {
  going = going.then(step).catch(() => view.announcer.say("the server cannot be reached"));
}

/** Leave the note. */
function go(by: -1 | 1, finished: boolean): void {
  after(() => leave(by, finished));
}

async function leave(by: -1 | 1, finished: boolean): Promise<void> {
  if (!work) return;
  let to = by < 0 ? work.previous : work.next;
  if (finished && work.state !== "done") {
    await outbox.flush();
    if (outbox.length) return; // nothing is done that is not saved
    try {
      const answer = await call<{ next: string | null; done: number; total: number }>("POST", `/assignments/${work.id}/done`,
        { version: outbox.noteVersion(work.id) });
      to = answer.next;
      queue = queue.map((one) => one.id === work?.id ? { ...one, state: "done", again: [] } : one);
      view.announcer.say(`Note done, ${answer.done} of ${answer.total}`);
    } catch (error) {
      if (error instanceof ApiError && ["conflict", "unjudged"].includes(error.code)) await showSaved(work.id);
      else view.announcer.say(error instanceof Error ? error.message : String(error));
      return;
    }
  } else if (finished) {
    queue = queue.map((one) => one.id === work?.id ? { ...one, again: [] } : one);
    return again()[0] ? openAgain() : fillQueue(); // a correction of a note that is done stays where it is
  }
  if (to) await open(to);
  else if (finished) finish();
}

async function stepBack(step: "undo" | "redo"): Promise<void> {
  if (!work) return;
  await outbox.flush();
  if (outbox.length) return view.announcer.say("the server cannot be reached");
  const { id, note } = work;
  try {
    if (!document.body.dataset["work"]) return await reopen(id); // all is done: the last note again
    const saved = await call<SavedState & { feature: string }>("POST", `/assignments/${id}/${step}`, {});
    const after: Judgement = { answer: saved.answer, marks: saved.marks };
    judgements.load(id, saved.feature, after);
    outbox.seen(id, saved.feature, saved.version);
    if (saved.note_version !== outbox.noteVersion(id)) await open(id);
    if (!saved.answer) work.state = "started";
    if (!note.text.trim()) await open(id); // it was one step for all features
    view.reveal({ feature: saved.feature, after }, step === "undo" ? "undone" : "done again");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { finished = null } = (error.code === "nothing" && error.saved as { finished?: string | null }) || {};
    if (finished) await reopen(finished);
    else view.announcer.say(error.code === "nothing" ? `nothing to ${step}` : error.message);
  }
}

/** Open a finished note again: where nothing is left to undo, undo goes back to it. */
async function reopen(id: string): Promise<void> {
  await call("POST", `/assignments/${id}/reopen`, {});
  queue = queue.map((one) => one.id === id ? { ...one, state: "started" } : one);
  layOut();
  await open(id);
  const place = queue.findIndex((one) => one.id === id) + 1;
  view.announcer.say(`Note ${place} of ${queue.length} is open again; undo once more takes back its last answer`);
}

function layOut(): void {
  if (!view.element.isConnected) byId("app").replaceChildren(bar, view.announcer.element, view.element);
}

/** Return the notes with features to look at again, because the rubric changed. */
function again(): string[] {
  return queue.filter((one) => one.again.length).map((one) => one.id);
}

async function openAgain(): Promise<void> {
  const id = again().find((one) => one !== work?.id) ?? again()[0];
  if (id) await open(id);
}

/** Show where one is among one's notes, which are done, and which to look at again. */
function fillQueue(): void {
  const { length } = again();
  byId("again").hidden = !length;
  byId("again").textContent = `Look again: ${length}`;
  byId("place").replaceChildren(...queue.map((one, i) => el("option", { value: one.id, selected: one.id === work?.id },
    `Note ${i + 1} of ${queue.length}${one.again.length ? ", look again" : one.state === "done" ? ", done" : ""}`)));
}

function finish(): void {
  if (again().length) return void openAgain();
  const heading = el("h2", { tabindex: -1 }, "All done");
  byId("app").replaceChildren(el("section", { class: "card" }, heading,
    el("p", {}, "Every note that was given to you is judged. Thank you."),
    work ? el("p", { class: "row" }, el("button", { type: "button", click: () => location.reload() }, "Look at them again"),
      el("button", { type: "button", id: "undo-last", click: () => view.undo() }, "Undo")) : ""));
  focusQuietly(heading);
  document.body.dataset["work"] = "";
}

async function start(): Promise<void> {
  const first = await call<Next>("GET", `/projects/${project}/next`);
  if (first.state === "paused") {
    byId("app").replaceChildren(el("section", { class: "card" }, el("h2", {}, "The project is paused"),
      el("p", {}, "You can go on when a manager opens it again."), el("p", {}, status)));
    void outbox.flush(); // what waits in this browser is said, and sent when the pause is over
    return;
  }
  queue = (await call<{ assignments: typeof queue }>("GET", `/projects/${project}/queue`)).assignments;
  const asked = location.hash === "#again" ? again()[0] : location.hash.slice(1);
  const id = queue.some((one) => one.id === asked) ? asked : (first.assignment ?? again()[0] ?? queue.at(-1)?.id);
  if (!id) return finish();
  layOut();
  await open(id);
  void outbox.flush();
}

let left = 0;
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") left = Date.now();
  else if (work && Date.now() - left > 10_000) after(() => showSaved(work!.id));
});
window.addEventListener("online", () => void outbox.flush());
window.addEventListener("beforeunload", (event) => { if (outbox.length && !document.body.dataset["leaving"]) event.preventDefault(); });
await begin(start);
