/** What an annotator says of each feature of each note, with undo and redo. */

import { mergeSpans, type Mark, type Span } from "./offsets.ts";

export type Answer = "present" | "absent" | "unsure";
export interface Judgement {
  /** Null: not judged. */
  readonly answer: Answer | null;
  readonly marks: readonly Mark[];
}
export interface Change {
  readonly note: string;
  readonly feature: string;
  readonly before: Judgement;
  readonly after: Judgement;
}

export const UNJUDGED: Judgement = { answer: null, marks: [] };
export const ABSENT: Judgement = { answer: "absent", marks: [] };

/** Add a mark, or a fragment to the mark at a place; feature becomes present. */
export function withSpan(now: Judgement, span: Span, fragmentOf = -1): Judgement {
  const old = now.marks[fragmentOf];
  const mark: Mark = old ? mergeSpans([...old, span]) : [span];
  const others = old ? now.marks.filter((_, i) => i !== fragmentOf) : now.marks;
  return withMarks(now, others.some((one) => sameMark(one, mark)) ? others : [...others, mark]);
}

/** Give a judgement other marks, in order: with some it is present (or stays unsure), without unjudged. */
export function withMarks(now: Judgement, unsorted: readonly Mark[]): Judgement {
  const marks = [...unsorted].sort(compareMarks);
  if (now.answer === "unsure") return { answer: "unsure", marks };
  return marks.length ? { answer: "present", marks } : UNJUDGED;
}

/** The order of marks that files and the server keep: by their offsets, one after the other. */
function compareMarks(a: Mark, b: Mark): number {
  const [x, y] = [a.flat(), b.flat()];
  const at = x.findIndex((offset, i) => offset !== y[i]);
  return at < 0 ? x.length - y.length : at >= y.length ? 1 : x[at]! - y[at]!;
}

export function sameMark(a: Mark, b: Mark): boolean {
  return a.length === b.length && a.every((span, i) => span[0] === b[i]![0] && span[1] === b[i]![1]);
}

export function sameJudgement(a: Judgement, b: Judgement): boolean {
  const same = a.answer === b.answer && a.marks.length === b.marks.length;
  return same && a.marks.every((mark, i) => sameMark(mark, b.marks[i]!));
}

/** Judgements by note and feature; a change is one step of the history, or several together. */
export class Judgements {
  readonly #now = new Map<string, Map<string, Judgement>>();
  readonly #done: Change[][] = [];
  readonly #undone: Change[][] = [];

  /** `changed` is told of every change, those of undo and redo as well. */
  constructor(private readonly changed: (change: Change) => void = () => {}) {}

  get(note: string, feature: string): Judgement {
    return this.#now.get(note)?.get(feature) ?? UNJUDGED;
  }

  /** Set what is known from before: no step of the history. */
  load(note: string, feature: string, judgement: Judgement): void {
    let own = this.#now.get(note);
    if (!own) this.#now.set(note, (own = new Map()));
    if (judgement.answer) own.set(feature, judgement);
    else own.delete(feature);
  }

  set(note: string, feature: string, judgement: Judgement): boolean {
    return this.setAll([[note, feature, judgement]]);
  }

  /** Make several changes one step; false where nothing changes. */
  setAll(wanted: readonly (readonly [string, string, Judgement])[]): boolean {
    const step = wanted
      .map(([note, feature, after]): Change => ({ note, feature, before: this.get(note, feature), after }))
      .filter((change) => !sameJudgement(change.before, change.after));
    if (!step.length) return false;
    this.#done.push(step);
    this.#undone.length = 0;
    this.#apply(step);
    return true;
  }

  /** Take the last step back, and return it as the changes it made now. */
  undo(): Change[] | null {
    const step = this.#done.pop();
    if (!step) return null;
    this.#undone.push(step);
    const back = step.map((c): Change => ({ ...c, before: c.after, after: c.before })).reverse();
    this.#apply(back);
    return back;
  }

  redo(): Change[] | null {
    const step = this.#undone.pop();
    if (!step) return null;
    this.#done.push(step);
    this.#apply(step);
    return step;
  }

  /** Yield everything that was judged: note, feature, judgement. */
  *all(): Generator<[string, string, Judgement]> {
    for (const [note, own] of this.#now) for (const [feature, one] of own) yield [note, feature, one];
  }

  #apply(step: readonly Change[]): void {
    for (const change of step) {
      this.load(change.note, change.feature, change.after);
      this.changed(change);
    }
  }
}
