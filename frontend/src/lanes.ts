/** Lanes under a line of text, so that marks which overlap stay apart. */

import type { Mark, Span } from "./offsets.ts";

/** Return the lane of each mark: the first that is free along all of it, links included. */
export function assignLanes(marks: readonly Mark[]): number[] {
  const extents = marks.map((mark): Span => [mark[0]?.[0] ?? 0, mark.at(-1)?.[1] ?? 0]);
  const order = extents.map((_, i) => i).sort((i, j) => compare(extents[i]!, extents[j]!));
  const ends: number[] = [];
  const lanes = marks.map(() => 0);
  for (const i of order) {
    const [start, end] = extents[i]!;
    let lane = ends.findIndex((used) => used <= start);
    if (lane < 0) lane = ends.length;
    ends[lane] = end;
    lanes[i] = lane;
  }
  return lanes;
}

function compare(a: Span, b: Span): number {
  return a[0] - b[0] || b[1] - a[1];
}
