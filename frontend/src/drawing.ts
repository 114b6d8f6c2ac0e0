/** A note's text, one text node, with marks drawn under it in lanes. */

import { el } from "./dom.ts";
import { assignLanes, extentOf } from "./lanes.ts";
import { TextMap, type Mark, type Span } from "./offsets.ts";
import { findWords } from "./words.ts";

export interface DrawnMark {
  /** Whose mark it is and which: what stays the same when it is drawn again. */
  readonly key: string;
  /** What stands at its start: a feature's number, or A and B. */
  readonly label: string;
  readonly colour: number;
  readonly mark: Mark;
  /** Classes: `active`, `suggested`, `chosen`. */
  readonly style?: string;
}

/** Pixels between two lanes, and from the letters to the first. */
const PITCH = 13;
const GAP = -2;
const LEAST_LANES = 2;
const COLOURS = 8;

export class Drawing {
  readonly text = el("div", { class: "text", tabindex: 0, role: "textbox", "aria-readonly": "true",
    "aria-multiline": "true", "aria-label": "Note" });
  readonly #layer = el("div", { class: "layer", "aria-hidden": "true" });
  readonly element = el("div", { class: "paper" }, this.text, this.#layer);
  map = new TextMap("");
  words: Span[] = [];
  #node = document.createTextNode("");
  #marks: readonly DrawnMark[] = [];
  #drawn = new Map<string, { signature: string; parts: HTMLElement[] }>();
  #lanes = 0;
  /** How large the text was when its marks were drawn: in another size they stand elsewhere. */
  #drawnAt = "";

  constructor() {
    new ResizeObserver(() => { if (this.#size() !== this.#drawnAt) this.redraw(); }).observe(this.text);
  }

  setText(text: string): void {
    this.map = new TextMap(text);
    this.words = findWords(this.map);
    this.#node = document.createTextNode(text);
    this.#marks = [];
    this.#clear();
    this.#setLanes(LEAST_LANES); // before the text is there: a long one takes seconds to lay out
    this.text.replaceChildren(this.#node);
    this.element.scrollTop = 0;
    this.tint("rubricate-pending", []);
    this.tint("rubricate-active", []);
  }

  /** Draw these marks; only what differs from what is there is drawn again. */
  draw(marks: readonly DrawnMark[]): void {
    this.#marks = marks;
    const lanes = assignLanes(marks.map((one) => extentOf(one.mark)));
    const needed = Math.max(LEAST_LANES, ...lanes.map((lane) => lane + 1));
    this.#setLanes(needed);
    const origin = this.#layer.getBoundingClientRect();
    const kept = new Map(this.#drawn);
    this.#drawn.clear();
    // first measure, then change: the browser lays out once
    const fresh: { key: string; signature: string; parts: HTMLElement[] }[] = [];
    marks.forEach((one, i) => {
      const signature = JSON.stringify([lanes[i], one.label, one.colour, one.style, one.mark]);
      const old = kept.get(one.key);
      if (old?.signature === signature) {
        this.#drawn.set(one.key, old);
        kept.delete(one.key);
      } else fresh.push({ key: one.key, signature, parts: this.#parts(one, lanes[i] ?? 0, origin) });
    });
    for (const { parts } of kept.values()) for (const part of parts) part.remove();
    for (const { key, signature, parts } of fresh) {
      this.#drawn.set(key, { signature, parts });
      this.#layer.append(...parts);
    }
    this.#drawnAt = this.#size();
    this.tint("rubricate-active",
      marks.filter((one) => one.style?.includes("active")).flatMap((one) => [...one.mark]));
  }

  #setLanes(needed: number): void {
    if (needed === this.#lanes) return;
    // another distance of the lines moves everything
    this.#lanes = needed;
    this.text.style.setProperty("--lanes-height", `${needed * PITCH}px`);
    this.#clear();
  }

  #size(): string {
    return `${this.text.offsetWidth} ${this.text.offsetHeight}`;
  }

  redraw(): void {
    this.#clear();
    this.draw(this.#marks);
  }

  #clear(): void {
    this.#drawn.clear();
    this.#layer.replaceChildren();
  }

  #parts(one: DrawnMark, lane: number, origin: DOMRect): HTMLElement[] {
    const parts: HTMLElement[] = [];
    const add = (rect: DOMRect, kind: string): HTMLElement => {
      const part = el("span", { class: `mark c${one.colour % COLOURS} ${kind} ${one.style ?? ""}` });
      part.style.left = `${rect.left - origin.left}px`;
      part.style.top = `${rect.bottom - origin.top + GAP + lane * PITCH}px`;
      part.style.width = `${rect.width}px`;
      parts.push(part);
      return part;
    };
    one.mark.forEach((span, i) => {
      const rects = this.rectsOf(span);
      rects.forEach((rect, k) => {
        const ends = `${k === 0 ? " from" : ""}${k === rects.length - 1 ? " to" : ""}`;
        const part = add(rect, `line${ends}`);
        if (i === 0 && k === 0) part.dataset["label"] = one.label;
      });
      const next = one.mark[i + 1];
      if (next) for (const rect of this.rectsOf([span[1], next[0]])) add(rect, "link");
    });
    return parts;
  }

  /** Return where a span stands on the screen: one box on each line. */
  rectsOf(span: Span): DOMRect[] {
    const found = [...this.rangeOf(span).getClientRects()].filter((rect) => rect.width > 0.5);
    const lines: DOMRect[] = [];
    for (const rect of found) {
      const last = lines.at(-1);
      if (last && Math.abs(last.bottom - rect.bottom) < 3) {
        const left = Math.min(last.left, rect.left);
        lines[lines.length - 1] = new DOMRect(left, last.top, Math.max(last.right, rect.right) - left, last.height);
      } else lines.push(rect);
    }
    return lines;
  }

  rangeOf([start, end]: Span): Range {
    const range = document.createRange();
    range.setStart(this.#node, this.map.toUnits(start));
    range.setEnd(this.#node, this.map.toUnits(end));
    return range;
  }

  /** Tint spans by a CSS highlight, where the browser has them. */
  tint(name: string, spans: readonly Span[]): void {
    if (!("highlights" in CSS)) return;
    CSS.highlights.set(name, new Highlight(...spans.map((span) => this.rangeOf(span))));
  }

  /** Return the character under a place on the screen, as a code point; null beside the text. */
  pointAt(x: number, y: number): number | null {
    const found = caretAt(x, y);
    if (!found || found.node !== this.#node || !this.map.length) return null;
    const point = Math.min(this.map.toPoints(found.offset), this.map.length - 1);
    // The caret is between two characters: the place may be in the one before.
    const before = point > 0 && this.rectsOf([point - 1, point]).some((rect) => x >= rect.left && x < rect.right && y >= rect.top - 2 && y <= rect.bottom + 2);
    return before ? point - 1 : point;
  }

  /** Scroll the text so that a span can be seen. */
  reveal(span: Span): void {
    const rect = this.rectsOf(span)[0];
    if (!rect) return;
    const box = this.element.getBoundingClientRect();
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, window.innerHeight)];
    if (rect.top >= top + 8 && rect.bottom + 30 <= bottom) return;
    const by = rect.top - (top + bottom) / 2;
    if (this.element.scrollHeight > this.element.clientHeight + 1) this.element.scrollTop += by;
    else window.scrollBy(0, by);
  }
}

function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  if ("caretPositionFromPoint" in document) {
    const found = document.caretPositionFromPoint(x, y);
    return found && { node: found.offsetNode, offset: found.offset };
  }
  const range = (document as { caretRangeFromPoint?(x: number, y: number): Range | null }).caretRangeFromPoint?.(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : null;
}
