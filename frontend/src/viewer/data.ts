/** The index of a run, as the page carries it, and the notes, which come in files of their own. */

import type { Worth } from "../points.ts";

type FeatureRow = readonly [id: string, text: string, weight: number, group: string];
/** Signs of a note: of each feature "1" stated, "2" contradicted, "0" not mentioned, "-" undecided. */
type NoteRow = readonly [id: string, case_: number, score: number | null, most: number | null, signs: string, review: number, flags: number];
export type ItemRow = readonly [
  found: 0 | 1 | null, sure: number | null, spans: string, reason: string, ask: string,
  by: string, when: string, comment: string, against: string, said: string,
];
export type NoteContent = readonly [text: string, items: readonly ItemRow[], remarks: readonly string[]];

export interface Index {
  readonly title: string;
  readonly run: string;
  /** Notes in one file. */
  readonly size: number;
  readonly cases: readonly { readonly case: string; readonly title: string; readonly floor: boolean; readonly features: readonly FeatureRow[] }[];
  readonly notes: readonly NoteRow[];
}

export interface Feature extends Worth {
  readonly id: string;
  readonly text: string;
}
export interface Case {
  readonly case: string;
  readonly title: string;
  readonly floor: boolean;
  readonly features: readonly Feature[];
}
export interface Note {
  /** Its place in the index. */
  readonly at: number;
  readonly id: string;
  readonly case: Case;
  readonly score: number | null;
  readonly most: number | null;
  readonly signs: string;
  readonly review: number;
  readonly flags: number;
}

/** What notes are filtered by; the checks of the report have the same numbers. */
export const FLAG = { corrected: 1, changed: 2, copied: 4, gaming: 8, failed: 16, unlike: 32 } as const;

export function notesOf(index: Index): { notes: Note[]; cases: Case[] } {
  const cases = index.cases.map((one): Case => ({
    ...one, features: one.features.map(([id, text, weight, group]) => ({ id, text, weight, group })),
  }));
  const notes = index.notes.map(([id, number, score, most, signs, review, flags], at): Note =>
    ({ at, id, case: cases[number]!, score, most, signs, review, flags }));
  return { notes, cases };
}

export function percentOf(note: Note): number {
  return note.most && note.most > 0 ? (100 * (note.score ?? 0)) / note.most : NaN;
}

export function pointsText(note: Note): string {
  return note.score === null ? "not scored" : `${note.score} of ${note.most}`;
}

/** Loads the files of notes when one of theirs is looked at: fetch() does not work from a file. */
export class Chunks {
  readonly #held = new Map<number, readonly NoteContent[]>();
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(private readonly size: number, private readonly failed: () => void) {
    (globalThis as { rubricateChunk?: unknown }).rubricateChunk = (number: number, content: readonly NoteContent[]) => {
      this.#held.set(number, content);
      for (const then of this.#waiting.get(number) ?? []) then();
      this.#waiting.delete(number);
    };
  }

  with(at: number, then: (content: NoteContent) => void): void {
    const number = Math.floor(at / this.size);
    const go = (): void => {
      const content = this.#held.get(number)?.[at % this.size];
      if (content) then(content);
    };
    const others = this.#waiting.get(number);
    if (this.#held.has(number)) go();
    else if (others) others.push(go);
    else {
      this.#waiting.set(number, [go]);
      const script = document.createElement("script");
      script.src = `notes/${String(number).padStart(4, "0")}.js`;
      script.addEventListener("error", () => {
        this.#waiting.delete(number);
        this.failed();
      });
      document.head.append(script);
    }
  }
}
