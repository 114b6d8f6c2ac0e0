/** The corpus file a page saves and opens: one JSON object per line, the head first. */

import type { Feature } from "./annotating.ts";
import type { Judgement, Judgements } from "./judgements.ts";
import { mapOf, marksText, parseMarks, TextMap, type Mark } from "./offsets.ts";

type Metadata = Record<string, string | number | boolean | null>;
interface NoteLine {
  readonly note: string;
  readonly case: string;
  readonly text: string;
  readonly metadata?: Metadata;
  readonly annotations?: Record<string, Record<string, Mark[]>>;
}
interface Head {
  readonly rubrics: readonly { case: string; title?: string; features: readonly Feature[] }[];
  readonly annotators: readonly { id: string }[];
  readonly metadata?: Metadata;
}
export interface PageData {
  /** Tells one page's work from another's in the same browser. */
  readonly id: string;
  readonly annotator: string;
  /** The name a saved file gets. */
  readonly file: string;
  readonly head: Head;
  readonly notes: readonly NoteLine[];
  /** Note → feature → marks as text. */
  readonly suggestions: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Return the file: a row for what is present or absent; what is unsure is kept in the head. */
export function savedText(data: PageData, judgements: Judgements): string {
  const rows = new Map<string, Map<string, readonly Mark[]>>();
  const unsure: [string, string, string][] = [];
  for (const [note, feature, { answer, marks }] of judgements.all()) {
    if (answer === "unsure") unsure.push([note, feature, marksText(marks)]);
    else rows.set(note, (rows.get(note) ?? new Map()).set(feature, marks));
  }
  const metadata = { ...data.head.metadata, ...(unsure.length ? { unsure: JSON.stringify(unsure) } : {}) };
  const lines: object[] = [{ rubricate: 1, ...data.head, metadata }];
  for (const note of data.notes) {
    const own = rows.get(note.note);
    lines.push(own ? { ...note, annotations: { [data.annotator]: Object.fromEntries(own) } } : note);
  }
  return lines.map((line) => JSON.stringify(line) + "\n").join("");
}

/** Return the judgements of a saved file; an error says, without note text, why it is not ours. */
export function readSaved(text: string, data: PageData): [string, string, Judgement][] {
  const [head, ...lines] = text.split("\n").filter((line) => line.trim()).map(parse);
  if (!head || (head as { rubricate?: unknown }).rubricate !== 1) throw new Error("It is not a file that this page saved.");
  const { annotators, metadata } = head as unknown as Head;
  const names = annotators.map((one) => one.id);
  if (!names.includes(data.annotator)) {
    throw new Error(`It is the work of ${names.join(", ") || "nobody"}; this page is ${data.annotator}'s.`);
  }
  const known = new Map(data.notes.map((note) => [note.note, new TextMap(note.text)]));
  const features = new Set(data.head.rubrics.flatMap((rubric) => rubric.features.map((one) => one.id)));
  const found: [string, string, Judgement][] = [];
  const add = (note: string, feature: string, answer: Judgement["answer"], marks: readonly Mark[]): void => {
    if (!features.has(feature)) throw new Error(`Feature ${feature} is not in this page.`);
    const length = known.get(note)?.length ?? 0;
    const sound = marks.every((mark) => mark.length && mark.every(([start, end]) => 0 <= start && start < end && end <= length));
    if (!sound) throw new Error(`A mark of note ${note} does not fit its text.`);
    found.push([note, feature, { answer, marks }]);
  };
  for (const line of lines as unknown as NoteLine[]) {
    if (known.get(line.note)?.text !== line.text) throw new Error(`Note ${line.note} is not in this page, or has another text.`);
    for (const [feature, marks] of mapOf(mapOf(line.annotations).get(data.annotator))) {
      add(line.note, feature, marks.length ? "present" : "absent", marks);
    }
  }
  for (const [note, feature, marks] of JSON.parse(String(metadata?.["unsure"] ?? "[]")) as [string, string, string][]) {
    add(note, feature, "unsure", parseMarks(marks));
  }
  return found;
}

function parse(line: string, number: number): object {
  try {
    const value: unknown = JSON.parse(line);
    if (value && typeof value === "object") return value;
  } catch {
    // said below
  }
  throw new Error(`Line ${number + 1} cannot be read: the file is damaged or of another kind.`);
}
