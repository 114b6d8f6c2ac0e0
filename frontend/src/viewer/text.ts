/** A note's text cut into pieces with the same marks throughout, each feature in a lane of its own. */

import { el, type Child } from "../dom.ts";
import { assignLanes } from "../lanes.ts";
import { mergeSpans, type Mark, type Span } from "../offsets.ts";

export interface MarkedFeature {
  readonly marks: readonly Mark[];
  /** Classes besides those of colour and lane. */
  readonly style: string;
  readonly title: string;
}
interface Piece {
  readonly start: number;
  readonly end: number;
  /** The features that cover it → their lane. */
  readonly lanes: Map<number, number>;
  readonly badges: string[];
}

export const COLOURS = 8;
const LANES = 4;

export function cutPieces(length: number, features: readonly (readonly Mark[])[]): Piece[] {
  const edges = new Set([0, length]);
  for (const marks of features) for (const mark of marks) for (const [start, end] of mark) edges.add(start).add(Math.min(end, length));
  const ordered = [...edges].sort((a, b) => a - b);
  const pieces = ordered.slice(0, -1).map((start, k): Piece => ({ start, end: ordered[k + 1]!, lanes: new Map(), badges: [] }));
  const at = new Map(pieces.map((piece, k) => [piece.start, k]));
  const stretches = features.flatMap((marks, number) => mergeSpans(marks.flat()).map((span): [number, Span] => [number, span]));
  const lanes = assignLanes(stretches.map(([, span]) => span));
  stretches.forEach(([number, [start, end]], i) => {
    for (let k = at.get(start) ?? pieces.length; k < pieces.length && pieces[k]!.start < end; k++) pieces[k]!.lanes.set(number, lanes[i] ?? 0);
  });
  features.forEach((marks, number) => marks.forEach((mark) => mark.forEach(([start], part) => {
    const badge = `${part ? "…" : ""}${number + 1}${part < mark.length - 1 ? "…" : ""}`;
    const badges = pieces[at.get(start) ?? -1]?.badges;
    if (badges && !badges.includes(badge)) badges.push(badge);
  })));
  return pieces;
}

/** Return text as nodes; a carriage return alone breaks the line. */
function lines(letters: readonly string[], { start, end }: Piece): Child[] {
  const parts: Child[] = [];
  let run = "";
  for (let k = start; k < end; k++) {
    run += letters[k];
    if (letters[k] === "\r" && letters[k + 1] !== "\n") {
      parts.push(run, el("br"));
      run = "";
    }
  }
  return run ? [...parts, run] : parts;
}

export function drawText(box: HTMLElement, text: string, features: readonly MarkedFeature[]): void {
  const letters = Array.from(text);
  box.replaceChildren(...cutPieces(letters.length, features.map((one) => one.marks)).flatMap((piece): (Node | string)[] => {
    const inside = lines(letters, piece) as (Node | string)[];
    if (!piece.lanes.size) return inside;
    const style = (number: number): string =>
      `ev c${number % COLOURS} l${Math.min(piece.lanes.get(number) ?? 0, LANES - 1)}${features[number]!.style}`;
    const byLane = [...piece.lanes].sort((a, b) => a[1] - b[1]).map(([number]) => number);
    const [outer, ...others] = byLane;
    const nested = others.reduceRight<Child[]>((within, number) => [el("span", { class: style(number) }, ...within)], inside);
    const held = [...piece.lanes.keys()].sort((a, b) => a - b);
    return [el("mark", {
      class: style(outer!), "data-f": held.join(" "), "data-n": piece.badges.join(" ") || null,
      title: held.map((number) => features[number]!.title).join("\n"),
    }, ...nested)];
  }));
  box.hidden = false;
}
