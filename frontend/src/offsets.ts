/** Offsets: files and the API count code points, the browser counts UTF-16 units. */

/** Characters `start` to `end`, half-open, in code points. */
export type Span = readonly [start: number, end: number];
/** One expression of a feature: its fragments, sorted. */
export type Mark = readonly Span[];

/** Return a map of what JSON has: ids may be called "constructor" or "__proto__". */
export function mapOf<T>(record: Readonly<Record<string, T>> | null | undefined): Map<string, T> {
  return new Map(Object.entries(record ?? {}));
}

/** Turns one kind of offset of a text into the other. */
export class TextMap {
  /** Unit offsets of the characters that take two units. */
  readonly #wide: number[] = [];
  /** How many code points the text has. */
  readonly length: number;

  constructor(readonly text: string) {
    for (let i = 0; i < text.length; i++) {
      if ((text.codePointAt(i) ?? 0) > 0xffff) this.#wide.push(i++);
    }
    this.length = text.length - this.#wide.length;
  }

  /** Return the code point offset of a unit offset; inside a character, that of the character. */
  toPoints(unit: number): number {
    return unit - this.#count((k) => (this.#wide[k] as number) < unit);
  }

  toUnits(point: number): number {
    return point + this.#count((k) => (this.#wide[k] as number) - k < point);
  }

  slice([start, end]: Span): string {
    return this.text.slice(this.toUnits(start), this.toUnits(end));
  }

  /** Return how many of the first wide characters fulfil a condition that later ones do not. */
  #count(holds: (k: number) => boolean): number {
    let low = 0;
    let high = this.#wide.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Write marks as the tables do: fragments parted by ";", marks by "|". */
export function marksText(marks: readonly Mark[]): string {
  return marks.map((mark) => mark.map((span) => span.join(" ")).join(";")).join("|");
}

export function parseMarks(text: string): Mark[] {
  if (!text) return [];
  return text.split("|").map((mark) =>
    mark.split(";").map((span) => {
      const [start, end] = span.split(" ").map(Number);
      return [start ?? 0, end ?? 0] as const;
    }),
  );
}

/** Return the union of spans, sorted; touching ones become one. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: [number, number][] = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** Return the words of a mark, fragments joined by an ellipsis. */
export function wordsOf(mark: Mark, map: TextMap): string {
  return mark.map((span) => map.slice(span)).join(" … ");
}
