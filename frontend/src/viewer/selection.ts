/** The words selected in the note, in code points: by mouse, by touch, or word by word with the keyboard. */

import { TextMap, type Span } from "../offsets.ts";
import { findWords } from "../words.ts";

export class WordSelection {
  #last: Span | null = null;

  constructor(private readonly box: HTMLElement) {
    // A tap on a button takes the selection away on a phone: what was selected last is kept.
    document.addEventListener("selectionchange", () => (this.#last = this.#current() ?? this.#last));
  }

  take(): Span | null {
    const found = this.#current() ?? this.#last;
    this.forget();
    return found;
  }

  forget(): void {
    this.#last = null;
    getSelection()?.removeAllRanges();
  }

  /** Move to the next or previous word, or with `extend` let the selection grow or shrink by one at its end. */
  step(by: -1 | 1, extend: boolean, from: number): void {
    const map = new TextMap(this.box.textContent ?? "");
    const words = findWords(map);
    if (!words.length) return;
    const wordAt = (place: number): Span => words[Math.min(Math.max(place, 0), words.length - 1)]!;
    const held = this.#current();
    const [start, end] = held ?? [from, from];
    const first = words.findIndex((word) => word[1] > start);
    const final = held ? words.findLastIndex((word) => word[0] < end) : first;
    if (!held) this.#select(map, wordAt(first));
    else if (extend) this.#select(map, [wordAt(first)[0], wordAt(Math.max(final + by, first))[1]]);
    else this.#select(map, wordAt((by > 0 ? final : first) + by));
    getSelection()?.focusNode?.parentElement?.scrollIntoView({ block: "nearest" });
  }

  #current(): Span | null {
    const selection = getSelection();
    if (!selection?.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!this.box.contains(range.commonAncestorContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(this.box);
    before.setEnd(range.startContainer, range.startOffset);
    const text = range.toString();
    const words = text.trim();
    if (!words) return null;
    const start = lengthOf(before.toString()) + lengthOf(text) - lengthOf(text.trimStart());
    return [start, start + lengthOf(words)];
  }

  #select(map: TextMap, [start, end]: Span): void {
    getSelection()?.setBaseAndExtent(...this.#place(map.toUnits(start)), ...this.#place(map.toUnits(end)));
  }

  #place(units: number): [Node, number] {
    const walker = document.createTreeWalker(this.box, NodeFilter.SHOW_TEXT);
    let left = units;
    for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
      if (left <= node.data.length) return [node, left];
      left -= node.data.length;
    }
    return [this.box, 0];
  }
}

function lengthOf(text: string): number {
  return new TextMap(text).length;
}
