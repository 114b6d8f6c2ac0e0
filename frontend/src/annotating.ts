/** One note with its features beside it: what the page without a server and the workbench share. */

import { Announcer, ask, el, focusQuietly } from "./dom.ts";
import { Drawing, type DrawnMark } from "./drawing.ts";
import { ABSENT, Judgements, sameMark, UNJUDGED, withMarks, withSpan, type Change, type Judgement } from "./judgements.ts";
import { KEYMAP, Keys, localStore, shownKey, tableOf, type Action, type KeyStore } from "./keys.ts";
import { marksText, mergeSpans, wordsOf, type Mark, type Span } from "./offsets.ts";
import { Selecting, type Chosen } from "./selecting.ts";
import { wordAt } from "./words.ts";

export interface Feature {
  readonly id: string;
  readonly text: string;
  readonly weight?: number;
  readonly group?: string;
  readonly note?: string;
}
export interface OpenNote {
  readonly id: string;
  readonly text: string;
  readonly features: readonly Feature[];
  /** What a matcher found, by feature. */
  readonly suggestions: ReadonlyMap<string, readonly Mark[]>;
  /** Features to look at again, as they were when they were judged. */
  readonly again: Map<string, Pick<Feature, "text" | "note">>;
}
export interface Host {
  readonly judgements: Judgements;
  /** The note is finished, or left to its neighbour. */
  go(by: -1 | 1, finished: boolean): void;
  /** Show a note again, because a change of it was undone. */
  open(note: string): void;
  /** The same answer was given again: after another look, or because another window changed it. */
  keep?(note: string, feature: string, judgement: Judgement): void;
  /** Undo or redo elsewhere: the workbench's server keeps the history. */
  history?(step: "undo" | "redo"): void;
}

function wording({ text, note }: Pick<Feature, "text" | "note">): string {
  return note ? `${text} (${note})` : text;
}

const WORDS = { present: "present", absent: "absent", unsure: "unsure" } as const;

export class Annotating {
  readonly drawing = new Drawing();
  readonly announcer = new Announcer();
  readonly dock = el("section", { class: "dock", "aria-label": "Active feature" });
  readonly list = el("ol", { class: "features", "aria-label": "Features" });
  readonly element = el("div", { class: "work" }, this.drawing.element,
    el("div", { class: "side" }, this.dock, this.list));
  readonly keys: Keys;
  readonly #selecting: Selecting;
  #note: OpenNote = { id: "", text: "", features: [], suggestions: new Map(), again: new Map() };
  #active = 0;
  /** Which mark of the active feature the keys change; -1 is the last. */
  #chosen = -1;
  #fragment = false;
  #digits = { typed: "", at: 0 };
  /** The features that the list is of, and what it shows of each. */
  #listed: readonly Feature[] = [];
  #shown: string[] = [];

  constructor(private readonly host: Host, store: KeyStore | null = localStore()) {
    this.#selecting = new Selecting(this.drawing, (chosen) => this.#mark(chosen), (words) => this.announcer.say(words));
    this.keys = new Keys(this.#actions(), store);
    this.keys.listen();
  }

  get note(): OpenNote {
    return this.#note;
  }

  get feature(): Feature | undefined {
    return this.#note.features[this.#active];
  }

  show(note: OpenNote, feature?: string): void {
    this.#note = note;
    this.#listed = []; // its words are those of another note
    this.drawing.setText(note.text);
    this.#selecting.clear();
    const wanted = note.features.findIndex((one) => one.id === feature);
    this.#activate(wanted >= 0 ? wanted : Math.max(0, note.features.findIndex((one) => this.#isOpen(one))));
    focusQuietly(this.drawing.text);
  }

  /** Draw everything of the note again, after judgements changed. */
  refresh(): void {
    this.drawing.draw(this.#drawn());
    this.#fillList();
    this.#fillDock();
  }

  unjudged(): Feature[] {
    return this.#note.features.filter((one) => this.#isOpen(one));
  }

  #isOpen(feature: Feature): boolean {
    return !this.#of(feature).answer || this.#former(feature) !== undefined;
  }

  #former(feature: Feature): Pick<Feature, "text" | "note"> | undefined {
    return this.#note.again.get(feature.id);
  }

  #of(feature: Feature | undefined): Judgement {
    return feature ? this.host.judgements.get(this.#note.id, feature.id) : UNJUDGED;
  }

  #suggested(feature: Feature | undefined): readonly Mark[] {
    return feature && !this.#of(feature).answer ? (this.#note.suggestions.get(feature.id) ?? []) : [];
  }

  #drawn(): DrawnMark[] {
    return this.#note.features.flatMap((feature, i) => {
      const active = i === this.#active ? " active" : "";
      const one = { label: String(i + 1), colour: i };
      const chosen = this.#chosenMark();
      return [
        ...this.#of(feature).marks.map((mark, k) => ({
          ...one, mark, key: `${feature.id} ${k}`, style: `${active && k === chosen ? "chosen" : ""}${active}`,
        })),
        ...this.#suggested(feature).map((mark, k) => ({
          ...one, mark, key: `${feature.id} s${k}`, style: `suggested${active}`,
        })),
      ];
    });
  }

  /** Show every feature in the list; only those that differ from what is there are drawn again. */
  #fillList(): void {
    const { features } = this.#note;
    if (this.#listed !== features) {
      this.#listed = features;
      this.#shown = [];
      this.list.replaceChildren(...features.map(() => el("li")));
    }
    features.forEach((feature, i) => {
      const now = this.#of(feature);
      const suggested = this.#suggested(feature).length > 0;
      const again = this.#former(feature) !== undefined;
      const shown = [now.answer, marksText(now.marks), suggested, again, i === this.#active].join();
      if (shown === this.#shown[i]) return;
      this.#shown[i] = shown;
      const words = now.marks.map((mark) => `“${wordsOf(mark, this.drawing.map)}”`).join(", ");
      const state = again ? "look again" : now.answer ? WORDS[now.answer] : suggested ? "suggested" : "open";
      this.list.children[i]!.replaceChildren(el("button", { type: "button", "aria-current": i === this.#active ? "true" : null,
        "data-feature": feature.id, click: () => { this.#activate(i); focusQuietly(this.drawing.text); } },
        el("span", { class: `n c${i % 8}` }, String(i + 1)),
        el("span", { class: "what" }, feature.text),
        el("span", { class: `state ${again ? "open" : (now.answer ?? "open")}` }, state),
        words ? el("span", { class: "words" }, words) : null));
    });
  }

  #fillDock(): void {
    const feature = this.feature;
    if (!feature) return this.dock.replaceChildren("This case has no features.");
    const now = this.#of(feature);
    const { features } = this.#note;
    const button = (words: string, action: string, pressed: boolean | null, run: () => void): HTMLElement =>
      el("button", { type: "button", "data-action": action, "aria-pressed": pressed === null ? null : String(pressed),
        click: () => { run(); focusQuietly(this.drawing.text); } },
        words, ...this.keys.keysOf(action).slice(0, 1).map((key) => el("kbd", { "aria-hidden": "true" }, shownKey(key))));
    if (this.#isBlank) {
      return this.dock.replaceChildren(el("p", { class: "now" }, el("strong", {}, "This note has no text.")),
        el("p", { class: "hint" }, `One answer is enough: none of its ${features.length} features is there.`),
        el("p", { class: "answers" }, button("Nothing to annotate", "absent",
          features.every((one) => this.#of(one).answer === "absent"), () => this.#nothing())));
    }
    const suggested = this.#suggested(feature);
    const former = this.#former(feature);
    const chosen = this.#chosenMark();
    const marks = now.marks.map((mark, k) => el("li", {},
      el("button", { type: "button", class: "words", "aria-pressed": String(k === chosen),
        click: () => { this.#chosen = k; this.refresh(); this.drawing.reveal(mark[0]!); } }, wordsOf(mark, this.drawing.map)),
      el("button", { type: "button", class: "remove", "aria-label": `Remove the mark “${wordsOf(mark, this.drawing.map)}”`,
        click: () => { this.#chosen = k; this.#remove(); focusQuietly(this.drawing.text); } }, "×")));
    const weight = feature.weight === undefined || feature.weight === 1 ? "" : `${feature.weight} points`;
    this.dock.replaceChildren(
      el("p", { class: "now" }, el("span", { class: `n c${this.#active % 8}` }, String(this.#active + 1)), " ",
        el("strong", {}, feature.text)),
      ...[feature.note, [weight, feature.group && `any of: ${feature.group}`].filter(Boolean).join(" · ")]
        .filter(Boolean).map((words) => el("p", { class: "hint" }, words)),
      former === undefined ? "" : el("div", { class: "former" },
        el("p", { class: "hint" }, "The words changed since you judged it. Does your answer still hold?"),
        el("dl", {}, el("dt", {}, "Before"), el("dd", {}, wording(former)), el("dt", {}, "Now"), el("dd", {}, wording(feature)))),
      suggested.length ? el("p", { class: "hint" }, "Suggested: ",
        ...suggested.map((mark) => el("q", {}, wordsOf(mark, this.drawing.map)))) : "",
      marks.length ? el("ul", { class: "marks", "aria-label": "Marks" }, ...marks) : "",
      // Whoever begins a note is told the one thing that no button says.
      features.some((one) => this.#of(one).answer) ? "" : el("p", { class: "hint" },
        "Drag over the words that say so, or click the first and the last one; or choose:"),
      el("p", { class: "answers" },
        suggested.length || former !== undefined
          ? button(suggested.length ? "Accept" : `Keep: ${now.answer}`, "accept", null, () => this.#accept()) : "",
        button("Absent", "absent", now.answer === "absent", () => this.#judge(ABSENT)),
        button("Unsure", "unsure", now.answer === "unsure", () => this.#unsure()),
        now.marks.length ? button("Fragment", "fragment", this.#fragment, () => this.#nextIsFragment()) : ""),
    );
  }

  #chosenMark(): number {
    const { length } = this.#of(this.feature).marks;
    return this.#chosen >= 0 && this.#chosen < length ? this.#chosen : length - 1;
  }

  #activate(number: number): void {
    this.#active = Math.max(0, Math.min(this.#note.features.length - 1, number));
    this.#chosen = -1;
    this.#fragment = false;
    this.refresh();
    const first = (this.#of(this.feature).marks[0] ?? this.#suggested(this.feature)[0])?.[0];
    if (first) this.drawing.reveal(first);
    const item = this.list.children[this.#active];
    if (item && this.list.scrollHeight > this.list.clientHeight) item.scrollIntoView({ block: "nearest" });
  }

  #walk(by: number): void {
    this.#activate(this.#active + by);
    const now = this.#of(this.feature);
    this.announcer.say(`${this.#active + 1}, ${this.feature?.text ?? ""}, ${now.answer ?? "open"}`);
  }

  #mark({ span, stay, fragment }: Chosen): void {
    const feature = this.feature;
    if (!feature) return;
    const joined = (fragment || this.#fragment) && this.#of(feature).marks.length;
    const after = withSpan(this.#of(feature), span, joined ? this.#chosenMark() : -1);
    this.#fragment = false;
    // marks are kept in the order of the text: the one just made is not always the last
    this.#chosen = after.marks.findIndex((mark) => mark.some(([start, end]) => start <= span[0] && span[1] <= end)
      && !this.#of(feature).marks.some((old) => sameMark(old, mark)));
    this.#set(feature, after, stay);
  }

  #judge(after: Judgement): void {
    if (this.#isBlank && after.answer === "absent") this.#nothing();
    else if (this.feature) this.#set(this.feature, after, false);
  }

  get #isBlank(): boolean {
    return !this.#note.text.trim();
  }

  /** Say of a note without text, in one step, that all features are absent. */
  #nothing(): void {
    const { id, features, again } = this.#note;
    const kept = features.filter((one) => this.#of(one).answer === "absent");
    this.host.judgements.setAll(features.map((one) => [id, one.id, ABSENT] as const));
    for (const one of kept) this.host.keep?.(id, one.id, ABSENT);
    again.clear();
    this.refresh();
    this.announcer.say("Nothing to annotate: all features are absent");
    this.host.go(1, true);
  }

  #unsure(): void {
    this.#judge({ answer: "unsure", marks: this.#of(this.feature).marks });
  }

  #accept(): void {
    const marks = this.#suggested(this.feature);
    if (marks.length) this.#judge({ answer: "present", marks });
    else if (this.feature && this.#former(this.feature) !== undefined) this.#judge(this.#of(this.feature));
    else this.announcer.say("nothing is suggested here");
  }

  #nextIsFragment(): void {
    this.#fragment = this.#of(this.feature).marks.length > 0;
    this.announcer.say(this.#fragment ? "the next words are a fragment of this mark" : "mark something first");
    this.#fillDock();
  }

  #set(feature: Feature, after: Judgement, stay: boolean): void {
    const same = !this.host.judgements.set(this.#note.id, feature.id, after);
    this.#note.again.delete(feature.id);
    if (same) this.host.keep?.(this.#note.id, feature.id, after);
    const last = after.marks[this.#chosen] ?? after.marks.at(-1);
    const words = after.answer === "present" && last ? ` “${wordsOf(last, this.drawing.map)}”` : "";
    const said = `${feature.text}: ${after.answer ?? "open"}${words}`;
    if (stay) this.refresh();
    else {
      const { features } = this.#note;
      const order = [...features.slice(this.#active + 1), ...features.slice(0, this.#active + 1)];
      const next = order.find((one) => this.#isOpen(one));
      if (next) this.#activate(features.indexOf(next));
      else {
        this.refresh();
        this.announcer.say(`${said}. All features of this note are judged`);
        this.host.go(1, true);
        return;
      }
    }
    this.announcer.say(said);
  }

  #remove(): void {
    const feature = this.feature;
    const { marks, answer } = this.#of(feature);
    if (!feature || !answer) return;
    const left = marks.filter((_, k) => k !== this.#chosenMark());
    this.#chosen = -1;
    this.#set(feature, marks.length ? withMarks(this.#of(feature), left) : UNJUDGED, true);
  }

  /** Move an edge of the chosen mark by a word, or with Alt by a character. */
  #move(edge: 0 | 1, by: -1 | 1, character: boolean): void {
    const feature = this.feature;
    const now = this.#of(feature);
    const at = this.#chosenMark();
    const mark = now.marks[at];
    if (!feature || !mark) return;
    const place = edge === 0 ? 0 : mark.length - 1;
    const span = mark[place]!;
    const to = character ? span[edge] + by : this.#wordEdge(span[edge], edge, by);
    const moved: Span = edge === 0 ? [to, span[1]] : [span[0], to];
    if (moved[0] < 0 || moved[1] > this.drawing.map.length || moved[0] >= moved[1]) return;
    const changed = mergeSpans(mark.map((one, i) => (i === place ? moved : one)));
    const after = withMarks(now, now.marks.map((one, i) => (i === at ? changed : one)));
    this.#chosen = after.marks.findIndex((one) => sameMark(one, changed));
    this.#set(feature, after, true);
  }

  #wordEdge(point: number, edge: 0 | 1, by: -1 | 1): number {
    const { words } = this.drawing;
    const edges = words.map((word) => word[edge]);
    const near = wordAt(words, point);
    const candidates = edges.slice(Math.max(0, near - 2), near + 3).filter((one) => (one - point) * by > 0);
    return (by > 0 ? candidates[0] : candidates.at(-1)) ?? point;
  }

  #undo(changes: Change[] | null, words: string): void {
    const change = changes?.at(-1);
    if (!change) return this.announcer.say("nothing to do");
    if (change.note !== this.#note.id) this.host.open(change.note);
    this.reveal(change, words);
  }

  /** Show a change that was not made here, at its feature. */
  reveal(change: Pick<Change, "feature" | "after">, words: string): void {
    this.#selecting.clear();
    this.#activate(this.#note.features.findIndex((one) => one.id === change.feature));
    this.announcer.say(`${words}: ${this.feature?.text ?? ""} is ${change.after.answer ?? "open"}`);
  }

  undo(): void {
    if (this.host.history) this.host.history("undo");
    else this.#undo(this.host.judgements.undo(), "undone");
  }

  redo(): void {
    if (this.host.history) this.host.history("redo");
    else this.#undo(this.host.judgements.redo(), "done again");
  }

  /** Finish the note; what is not judged is listed first. */
  async done(): Promise<void> {
    const open = this.unjudged();
    if (open.length) {
      const listed = open.map((one) => el("li", { value: this.#note.features.indexOf(one) + 1 }, one.text));
      const chosen = await ask("Not judged yet", [el("ol", { class: "open" }, ...listed)],
        [["back", "Back to them"], ["leave", "Leave them open"]]);
      if (chosen !== "leave") return this.#activate(this.#note.features.indexOf(open[0]!));
    }
    this.host.go(1, !open.length);
  }

  #digit(digit: string): void {
    const now = performance.now();
    const joined = now - this.#digits.at < 900 ? this.#digits.typed + digit : digit;
    const typed = Number(joined) <= this.#note.features.length ? joined : digit;
    this.#digits = { typed, at: now };
    const wanted = Number(typed);
    if (wanted >= 1 && wanted <= this.#note.features.length) this.#walk(wanted - 1 - this.#active);
  }

  #actions(): Action[] {
    const step = (by: -1 | 1, line: boolean) => (event: KeyboardEvent) =>
      this.#selecting.step(by, { line, extend: event.shiftKey, character: event.altKey });
    const runs: Record<keyof typeof KEYMAP, Action["run"]> = {
      next: () => this.#walk(1), previous: () => this.#walk(-1), number: (event) => this.#digit(event.key),
      left: step(-1, false), right: step(1, false), up: step(-1, true), down: step(1, true),
      mark: () => this.#confirm(false), stay: () => this.#confirm(true), fragment: () => this.#nextIsFragment(),
      accept: () => this.#accept(), absent: () => this.#judge(ABSENT), unsure: () => this.#unsure(),
      "start-left": (event) => this.#move(0, -1, event.altKey), "start-right": (event) => this.#move(0, 1, event.altKey),
      "end-right": (event) => this.#move(1, 1, event.altKey), "end-left": (event) => this.#move(1, -1, event.altKey),
      remove: () => this.#remove(), undo: () => this.undo(), redo: () => this.redo(), done: () => void this.done(),
      "note-before": () => this.host.go(-1, false), "note-after": () => this.host.go(1, false),
      cancel: () => this.#selecting.clear(), map: () => this.keys.show(),
    };
    return tableOf(KEYMAP, runs);
  }

  #confirm(stay: boolean): void {
    if (!this.#selecting.confirm(stay)) this.announcer.say("choose words with the arrows first");
  }
}
