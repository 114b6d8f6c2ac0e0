/** What curating and reviewing share: a note, a decision beside it, marks of one's own, a queue. */

import { Announcer, ask, byId, el, focusQuietly, type Child } from "../dom.ts";
import { Drawing, type DrawnMark } from "../drawing.ts";
import { UNJUDGED, withSpan } from "../judgements.ts";
import { arrow, Keys, tableOf, type Action, type KeyTable } from "../keys.ts";
import { wordsOf, type Mark } from "../offsets.ts";
import { Selecting } from "../selecting.ts";
import { accountKeys, ApiError, call } from "./api.ts";

export interface Queued {
  readonly id: string;
  readonly note: string;
  readonly feature_text: string;
  readonly state: string;
}
export interface Decidable {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly note: { readonly id: string; readonly text: string; readonly sha256: string };
}
export interface Kind<T extends Decidable> {
  readonly table: KeyTable;
  runs(page: Deciding<T>): Record<string, Action["run"]>;
  /** Paths of the API: one thing to decide, and the list. */
  path(id: string): string;
  readonly list: string;
  draw(it: T): DrawnMark[];
  panel(page: Deciding<T>, it: T): Child[];
  /** The order of what the marks mean where people make their own. */
  ownLabel: string;
  /** Tell whether a decision settled another line of the list as well. */
  settles?(saved: T, one: Queued): boolean;
}

const OWN = {
  next: [["j", "n"], "next"],
  previous: [["k", "p"], "previous"],
  skip: [["s"], "skip: the next open one"],
  left: [arrow("ArrowLeft"), "word before (Shift: extend, Alt: by character)"],
  right: [arrow("ArrowRight"), "word after (Shift: extend, Alt: by character)"],
  up: [["ArrowUp", "Shift+ArrowUp"], "line above"],
  down: [["ArrowDown", "Shift+ArrowDown"], "line below"],
  mark: [["Enter"], "mark these words"],
  fragment: [["+"], "the words belong to the last mark"],
  remove: [["Delete", "Backspace"], "remove the last mark of your own"],
  comment: [["c"], "comment (Escape goes back to the note)"],
  save: [["Ctrl+Enter"], "save your own marks"],
  cancel: [["Escape"], "clear the selection, then your own marks"],
  list: [["l"], "to the list"],
  filters: [["f"], "to what is listed (Escape goes back to the note)"],
  map: [["?"], "this map"],
} as const satisfies KeyTable;

export class Deciding<T extends Decidable> {
  readonly drawing = new Drawing();
  readonly announcer = new Announcer();
  readonly panel = el("section", { class: "dock decision", "aria-label": "Decision" });
  readonly list = el("ol", { class: "features queue", "aria-label": "All" });
  readonly more = el("button", { type: "button", id: "more", click: () => void this.#load() }, "Show more");
  readonly comment = el("textarea", { rows: 2, id: "comment", maxlength: 2000 });
  keys!: Keys;
  it: T | null = null;
  /** Marks of one's own; null while nobody makes any. */
  own: Mark[] | null = null;
  #items: Queued[] = [];
  #going = Promise.resolve();
  /** After what the list goes on; null where it ends. */
  #after: string | null = null;
  #filters = byId<HTMLFormElement>("filters");
  #selecting: Selecting;
  #fragment = false;

  constructor(readonly kind: Kind<T>, readonly saveOwn: () => void) {
    this.#selecting = new Selecting(this.drawing, ({ span, fragment }) => {
      const now = { answer: null, marks: this.own ?? [] };
      this.own = [...withSpan(now.marks.length ? now : UNJUDGED, span,
        fragment || this.#fragment ? now.marks.length - 1 : -1).marks];
      this.#fragment = false;
      this.refresh();
      this.announcer.say(`marked “${this.drawing.map.slice(span)}”; Ctrl + Enter saves your own marks`);
    }, (words) => this.announcer.say(words));
  }

  async start(): Promise<void> {
    const step = (by: -1 | 1, line: boolean) => (event: KeyboardEvent) => {
      focusQuietly(this.drawing.text); // on a button, Enter would press it instead of marking
      this.#selecting.step(by, { line, extend: event.shiftKey, character: event.altKey });
    };
    const actions = [
      ...tableOf(this.kind.table, this.kind.runs(this)),
      ...tableOf(OWN, {
        next: () => void this.go(1), previous: () => void this.go(-1), skip: () => void this.skip(),
        left: step(-1, false), right: step(1, false), up: step(-1, true), down: step(1, true),
        mark: () => void this.#selecting.confirm(true), fragment: () => (this.#fragment = true),
        remove: () => this.removeOwn(), comment: () => this.comment.focus(),
        save: () => { if (this.own) this.saveOwn(); }, cancel: () => this.#cancel(),
        list: () => (this.list.querySelector<HTMLElement>("[aria-current]") ?? this.list.querySelector("button"))?.focus(),
        filters: () => this.#filters.querySelector("select")?.focus(), map: () => this.keys.show(),
      }),
    ];
    this.keys = new Keys(actions, await accountKeys());
    this.keys.listen();
    for (const field of [this.comment, this.#filters]) {
      field.addEventListener("keydown", (event) => { if ((event as KeyboardEvent).key === "Escape") focusQuietly(this.drawing.text); });
    }
    byId("app").replaceChildren(
      el("div", { class: "bar tools" },
        el("button", { type: "button", id: "before", "aria-label": "Previous", click: () => void this.go(-1) }, "←"),
        el("span", { id: "place" }),
        el("button", { type: "button", id: "after", "aria-label": "Next", click: () => void this.go(1) }, "→"),
        el("span", { id: "note-id", class: "quiet" }), el("span", { class: "space" }),
        el("button", { type: "button", id: "skip", click: () => void this.skip() }, "Skip ",
          ...this.keys.keysOf("skip").slice(0, 1).map((key) => el("kbd", { "aria-hidden": "true" }, key))),
        el("button", { type: "button", id: "map", click: () => this.keys.show() }, "Keys ", el("kbd", { "aria-hidden": "true" }, "?"))),
      this.announcer.element,
      el("div", { class: "work" }, this.drawing.element,
        el("div", { class: "side" }, this.panel, this.#filters, this.list)));
    for (const [name, value] of new URLSearchParams(location.search)) {
      const field = this.#filters.elements.namedItem(name);
      if (field instanceof HTMLSelectElement) field.value = value;
    }
    this.#filters.addEventListener("change", () => void this.#begin());
    await this.#begin(location.hash.slice(1));
    focusQuietly(this.drawing.text);
    document.body.dataset["ready"] = "yes";
  }

  /** Show the list from its start, and something of it. */
  async #begin(asked = ""): Promise<void> {
    this.#items = [];
    this.#after = null;
    await this.#load();
    const first = asked || this.#items.find((one) => one.state === "open")?.id || this.#items[0]?.id;
    if (first) return this.show(await call<T>("GET", this.kind.path(first)));
    this.it = null;
    this.drawing.setText("");
    byId("note-id").textContent = "";
    this.panel.replaceChildren(el("h2", {}, "Nothing to decide"),
      el("p", {}, "There are no open items of this kind."));
  }

  /** Ask for a page of the list, and show how many there are. */
  async #page(limit: number): Promise<{ items: Queued[]; next: string | null }> {
    const asked = new URLSearchParams({ limit: String(limit), after: this.#after ?? "" });
    for (const [name, value] of new FormData(this.#filters)) asked.set(name, String(value));
    const page = await call<{ items: Queued[]; next: string | null; open: number; decided?: number; done?: number }>(
      "GET", `${this.kind.list}?${asked.toString()}`);
    byId("place").textContent = `${page.open} open, ${page.decided ?? page.done ?? 0} decided`;
    return page;
  }

  /** Add the next page to the list. */
  async #load(): Promise<void> {
    const page = await this.#page(50);
    this.#items.push(...page.items);
    this.#after = page.next;
    this.#fillList();
  }

  #fillList(): void {
    const held = this.list.contains(document.activeElement) ? document.activeElement as HTMLElement : null;
    const shown = this.list.querySelectorAll("[data-id]").length;
    this.list.replaceChildren(...this.#items.map((one) => el("li", {}, el("button", {
      type: "button", "data-id": one.id, "aria-current": one.id === this.it?.id ? "true" : null, click: () => void this.open(one.id) },
      el("span", { class: "note" }, one.note), el("span", { class: "what" }, one.feature_text),
      el("span", { class: `state ${one.state === "open" ? "open" : "present"}` }, one.state)))), ...(this.#after ? [el("li", {}, this.more)] : []));
    if (!held) return;
    const buttons = [...this.list.querySelectorAll<HTMLElement>("[data-id]")];
    (buttons.find((one) => one.dataset["id"] === held.dataset["id"]) ?? buttons[shown] ?? this.drawing.text).focus();
  }

  /** Return the neighbour in the list, which is asked to go on where it ends. */
  async #beside(by: -1 | 1, isWanted: (one: Queued) => boolean): Promise<Queued | undefined> {
    for (let at = this.#items.findIndex((one) => one.id === this.it?.id) + by; at >= 0; at += by) {
      if (at >= this.#items.length && this.#after) await this.#load();
      const one = this.#items[at];
      if (!one || isWanted(one)) return one;
    }
    return undefined;
  }

  async open(id: string): Promise<void> {
    this.show(await call<T>("GET", this.kind.path(id)));
    focusQuietly(this.drawing.text);
  }

  show(it: T): void {
    this.it = it;
    this.own = null;
    this.comment.value = "";
    this.#selecting.clear();
    this.drawing.setText(it.note.text);
    byId("note-id").textContent = it.note.id;
    history.replaceState(null, "", `#${it.id}`);
    this.refresh();
    for (const button of this.list.querySelectorAll("button")) {
      if (button.dataset["id"] === it.id) {
        button.setAttribute("aria-current", "true");
        if (this.list.scrollHeight > this.list.clientHeight) button.scrollIntoView({ block: "nearest" });
      }
      else button.removeAttribute("aria-current");
    }
    const first = this.kind.draw(it)[0]?.mark[0];
    if (first) this.drawing.reveal(first);
    document.body.dataset["open"] = it.id;
  }

  /** Draw the note and the decision again; `more` is what a choice would mark. */
  refresh(more: readonly Mark[] = []): void {
    if (!this.it) return;
    this.preview(more);
    const held = this.panel.contains(document.activeElement) ? document.activeElement as HTMLElement : null;
    this.panel.replaceChildren(...this.kind.panel(this, this.it).filter((one): one is Node | string => !!one));
    if (!held) return;
    const same = held.id ? `#${held.id}` : `[data-action="${held.dataset["action"] ?? ""}"]`;
    focusQuietly(this.panel.querySelector<HTMLElement>(same) ?? this.drawing.text);
  }

  preview(more: readonly Mark[]): void {
    if (!this.it) return;
    this.drawing.draw([
      ...this.kind.draw(this.it),
      ...[...more, ...(this.own ?? [])].map((mark, k) => ({
        key: `own ${k}`, label: this.kind.ownLabel, colour: 2, mark, style: "active" })),
    ]);
  }

  /** Return the list of one's own marks, with what to do with them. */
  ownMarks(): Child[] {
    if (!this.own) return [];
    return [el("ul", { class: "marks", "aria-label": "Your own marks" }, ...this.own.map((mark, k) => el("li", {},
      el("button", { type: "button", class: "words", click: () => this.drawing.reveal(mark[0]!) }, wordsOf(mark, this.drawing.map)),
      el("button", { type: "button", class: "remove", "aria-label": `Remove “${wordsOf(mark, this.drawing.map)}”`,
        click: () => this.removeOwn(k) }, "×")))),
      el("p", {}, el("button", { type: "button", class: "first", id: "save-own", click: () => this.saveOwn() },
        "Save own marks", el("kbd", { "aria-hidden": "true" }, "Ctrl + Enter")))];
  }

  removeOwn(k = -1): void {
    if (!this.own?.length) return;
    this.own = this.own.filter((_, i) => i !== (k < 0 ? this.own!.length - 1 : k));
    this.refresh();
  }

  /** Go to the neighbour; keys that come faster than the server answers wait for each other. */
  go(by: -1 | 1): Promise<void> {
    return (this.#going = this.#going.then(() => this.#step(by)).catch(() => this.announcer.say("the server cannot be reached")));
  }

  /** Leave this one as it is; the next open one follows, in the end from the start of the list. */
  skip(): Promise<void> {
    return (this.#going = this.#going.then(async () => {
      const open = (one: Queued): boolean => one.state === "open" && one.id !== this.it?.id;
      const to = await this.#beside(1, open) ?? this.#items.find(open);
      if (to) await this.open(to.id);
      this.announcer.say(to ? "skipped: it stays open" : "no other one is open");
    }).catch(() => this.announcer.say("the server cannot be reached")));
  }

  #cancel(): void {
    if (this.#selecting.span) this.#selecting.clear();
    else if (this.own) {
      this.own = null;
      this.refresh();
    }
    focusQuietly(this.drawing.text);
  }

  async #step(by: -1 | 1): Promise<void> {
    const to = await this.#beside(by, () => true);
    if (to) await this.open(to.id);
    else this.announcer.say(by < 0 ? "this is the first" : "this is the last");
  }

  /** Save a decision, say what became of it, and go on; a conflict asks. */
  async decide(body: object, said: (saved: T) => string): Promise<void> {
    const it = this.it;
    if (!it) return;
    try {
      const saved = await call<T>("PUT", this.kind.path(it.id),
        { ...body, comment: this.comment.value, version: it.version, sha256: it.note.sha256 });
      const words = said(saved);
      this.#items = this.#items.map((one) =>
        one.id === saved.id || this.kind.settles?.(saved, one) ? { ...one, state: saved.state } : one);
      this.#fillList();
      await this.#page(1);
      const next = await this.#beside(1, (one) => one.state === "open");
      if (next) await this.open(next.id);
      else {
        this.show(saved);
        focusQuietly(this.drawing.text);
      }
      this.announcer.say(words);
    } catch (error) {
      if (error instanceof ApiError && error.code === "conflict" && error.saved) {
        const newer = error.saved as T;
        await ask("Changed meanwhile", [el("p", {}, "Somebody decided, or an annotator changed something, since you opened it. " +
          "Look at it again; your comment is kept.")], [["", "Show it"]]);
        const comment = this.comment.value;
        this.show(newer);
        this.comment.value = comment;
      } else this.announcer.say(`not saved: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** A button that says what it does and by which key. */
export function choice(page: Deciding<never> | Deciding<Decidable>, id: string, words: Child[], run: () => void, marks: readonly Mark[] = []): HTMLElement {
  const keys = page.keys.keysOf(id).slice(0, 1).map((key) => el("kbd", { "aria-hidden": "true" }, key));
  const show = (): void => page.preview(marks);
  const hide = (): void => page.preview([]);
  return el("button", { type: "button", class: "choice", "data-action": id, click: run, pointerenter: show, pointerleave: hide,
    focus: show, blur: hide }, ...keys, el("span", {}, ...words));
}
