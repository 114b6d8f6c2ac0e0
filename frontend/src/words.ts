/** Words of a note, and the edges that a selection snaps to. */

import type { Span, TextMap } from "./offsets.ts";

const WORD =
  /[\p{L}\p{N}\p{M}]+(?:(?:['’](?=\p{L})|[.,](?<=\p{N}.)(?=\p{N}))[\p{L}\p{N}\p{M}]+)*|\S/gu;

/** Return words and marks in order, in code points. */
export function findWords(map: TextMap): Span[] {
  return Array.from(map.text.matchAll(WORD), (found): Span => {
    const end = found.index + found[0].length;
    return [map.toPoints(found.index), map.toPoints(end)];
  });
}

/** Return the number of the last word that begins at or before a point; 0 if none does. */
export function wordAt(words: readonly Span[], point: number): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle] as Span)[0] <= point) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Return a span grown to whole words; null where it touches none. */
export function snap(words: readonly Span[], [start, end]: Span): Span | null {
  const touched = words.filter((word) => word[1] > start && word[0] < end);
  const [first, last] = [touched[0], touched.at(-1)];
  return first && last ? [first[0], last[1]] : null;
}
