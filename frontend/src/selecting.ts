/** Choosing words: by dragging, by clicking the first and the last, or by keys alone. */

import type { Drawing } from "./drawing.ts";
import type { Span } from "./offsets.ts";
import { snap, wordAt } from "./words.ts";

export interface Chosen {
  readonly span: Span;
  /** The feature stays active. */
  readonly stay: boolean;
  /** The words belong to the last mark. */
  readonly fragment: boolean;
}

export class Selecting {
  /** What the keys have chosen, from where it began to where it is, in code points. */
  #anchor: Span | null = null;
  #head: Span | null = null;
  /** The first word of click-and-click. */
  #first: Span | null = null;
  #down: { point: number; x: number; y: number; moved: boolean } | null = null;

  constructor(
    private readonly drawing: Drawing,
    private readonly mark: (chosen: Chosen) => void,
    private readonly say: (words: string) => void,
  ) {
    const text = drawing.text;
    text.addEventListener("mousedown", (event) => {
      if (event.button === 0) event.preventDefault(); // our own preview instead of the browser's
      text.focus({ preventScroll: true });
    });
    text.addEventListener("pointerdown", (event) => this.#press(event));
    text.addEventListener("pointermove", (event) => this.#move(event));
    text.addEventListener("pointerup", (event) => this.#release(event));
    text.addEventListener("pointercancel", () => (this.#down = null));
  }

  /** Forget what was begun. */
  clear(): void {
    this.#anchor = this.#head = this.#first = this.#down = null;
    this.#preview(null);
  }

  #press(event: PointerEvent): void {
    const point = event.button === 0 ? this.drawing.pointAt(event.clientX, event.clientY) : null;
    if (point === null) return;
    this.#down = { point, x: event.clientX, y: event.clientY, moved: false };
    if (event.pointerType === "mouse") this.drawing.text.setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    // a finger scrolls; it chooses by two taps
    if (!this.#down || event.pointerType !== "mouse" || !this.#isDrag(event)) return;
    this.#preview(this.#dragged(event));
  }

  #release(event: PointerEvent): void {
    const down = this.#down;
    if (!down) return;
    const drag = this.#isDrag(event);
    const span = drag ? this.#dragged(event) : this.#grow([down.point, down.point + 1], event.altKey);
    this.#down = null;
    if (!span || (drag && event.pointerType !== "mouse")) return;
    const begun = this.#first;
    if (drag) this.#finish(span, event);
    else if (begun) this.#finish([Math.min(begun[0], span[0]), Math.max(begun[1], span[1])], event);
    else {
      this.#first = span;
      this.#preview(span);
      this.say(`from “${this.drawing.map.slice(span)}”; click the last word`);
    }
  }

  #isDrag(event: PointerEvent): boolean {
    const down = this.#down;
    if (!down) return false;
    // there and back again over one letter is a drag as well
    down.moved ||= Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4;
    return down.moved;
  }

  #dragged(event: PointerEvent): Span | null {
    const from = this.#down?.point;
    const to = this.drawing.pointAt(event.clientX, event.clientY);
    if (from === undefined || to === null) return null;
    return this.#grow([Math.min(from, to), Math.max(from, to) + 1], event.altKey);
  }

  #grow(span: Span, exact: boolean): Span | null {
    return exact ? span : snap(this.drawing.words, span);
  }

  #finish(span: Span, event: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): void {
    this.clear();
    this.#head = span; // the keys go on from here
    this.mark({ span, stay: event.ctrlKey || event.metaKey, fragment: event.shiftKey });
  }

  /** Move the word cursor; `by` is a step, `line` steps are lines, with Alt characters. */
  step(by: -1 | 1, options: { line: boolean; extend: boolean; character: boolean }): void {
    const { map, words } = this.drawing;
    if (!words.length) return;
    const now = this.#head;
    let next: Span;
    if (!now) next = words[0]!;
    else if (options.line) next = this.#lineStep(now, by);
    else if (options.character) {
      const start = by > 0 ? now[1] : now[0] - 1;
      const point = Math.max(0, Math.min(map.length - 1, start));
      next = [point, point + 1];
    } else {
      const last = wordAt(words, by > 0 ? now[1] - 1 : now[0]);
      const inside = by < 0 && words[last]![0] < now[0];
      next = words[Math.max(0, Math.min(words.length - 1, inside ? last : last + by))]!;
    }
    if (!options.extend) this.#anchor = next;
    this.#anchor ??= now ?? next;
    this.#head = next;
    this.#first = null;
    this.#preview(this.span);
    this.drawing.reveal(next);
    this.say(map.slice(options.extend ? (this.span ?? next) : next));
  }

  #lineStep(now: Span, by: -1 | 1): Span {
    const { drawing } = this;
    const here = drawing.rectsOf(now)[0];
    if (!here) return now;
    const middle = (here.left + here.right) / 2;
    let best = now;
    let least = Infinity;
    let line: number | null = null;
    const { words } = drawing;
    for (let i = wordAt(words, now[0]) + by; i >= 0 && i < words.length; i += by) {
      const word = words[i]!;
      const rect = drawing.rectsOf(word)[0];
      if (!rect || Math.abs(rect.top - here.top) < 4) continue;
      line ??= rect.top;
      if (Math.abs(rect.top - line) >= 4) break;
      const away = Math.abs((rect.left + rect.right) / 2 - middle);
      if (away < least) [least, best] = [away, word];
    }
    return best;
  }

  /** What the keys have chosen. */
  get span(): Span | null {
    const [a, b] = [this.#anchor, this.#head];
    return a && b ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : null;
  }

  /** Mark what the keys have chosen; false if nothing is. */
  confirm(stay: boolean): boolean {
    const span = this.span;
    if (!span) return false;
    this.#finish(span, { ctrlKey: stay, metaKey: false, shiftKey: false });
    return true;
  }

  #preview(span: Span | null): void {
    this.drawing.tint("rubricate-pending", span ? [span] : []);
    const { classList } = this.drawing.element;
    classList.toggle("choosing", !!span);
  }
}
