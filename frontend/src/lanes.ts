/** Lanes under a line of text, so that marks which overlap stay apart; `assign_lanes` in Python says the same. */

import type { Mark, Span } from "./offsets.ts";

/** Return the lane of each stretch: the first that is free along all of it; of two that begin together the longer comes first. */
export function assignLanes(stretches: readonly Span[]): number[] {
  const order = stretches.map((_, i) => i).sort((i, j) => compare(stretches[i]!, stretches[j]!));
  const ends: number[] = [];
  const lanes = stretches.map(() => 0);
  for (const i of order) {
    const [start, end] = stretches[i]!;
    let lane = ends.findIndex((used) => used <= start);
    if (lane < 0) lane = ends.length;
    ends[lane] = end;
    lanes[i] = lane;
  }
  return lanes;
}

/** Return a mark from its first to its last character, the links between its fragments included. */
export function extentOf(mark: Mark): Span {
  return [mark[0]?.[0] ?? 0, mark.at(-1)?.[1] ?? 0];
}

function compare(a: Span, b: Span): number {
  return a[0] - b[0] || b[1] - a[1];
}
