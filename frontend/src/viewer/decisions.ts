/** What a person decides on the page: kept in the browser and saved as corrections.csv; no server takes part. */

import { csvText } from "../csv.ts";

export interface Decision {
  readonly found: boolean;
  /** Marks as text; null keeps the words that the run found. */
  readonly spans: string | null;
  readonly by: string;
  readonly at: string;
  readonly comment: string;
}

const NAME = "rubricate reviewer";
const HEADER = ["note", "feature", "found", "spans", "by", "at", "comment"];

export class Decisions {
  readonly #key: string;
  #held = new Map<string, Decision>();
  #by = "";
  /** Whether the browser keeps them. */
  kept = true;
  /** Whether some were made since the last file. */
  unsaved = false;

  constructor(run: string, private readonly store: () => Pick<Storage, "getItem" | "setItem"> = () => localStorage) {
    this.#key = `rubricate decisions ${run}`;
    this.reload();
    const name = this.#read(NAME);
    if (typeof name === "string") this.#by = name;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The reviewer's name. */
  get by(): string {
    return this.#by;
  }

  set by(name: string) {
    this.#by = name;
    this.#write(NAME, name);
  }

  get(note: string, feature: string): Decision | undefined {
    return this.#held.get(keyOf(note, feature));
  }

  set(note: string, feature: string, decision: Decision): void {
    this.#change((held) => held.set(keyOf(note, feature), decision));
  }

  remove(note: string, feature: string): void {
    this.#change((held) => held.delete(keyOf(note, feature)));
  }

  count(note: string): number {
    return [...this.#held.keys()].filter((key) => partsOf(key)[0] === note).length;
  }

  reload(): void {
    const stored = this.#read(this.#key);
    if (Array.isArray(stored)) this.#held = new Map(stored as [string, Decision][]);
  }

  csv(): string {
    this.unsaved = false;
    return csvText(HEADER, [...this.#held].map(([key, { found, spans, by, at, comment }]) =>
      [...partsOf(key), found ? "yes" : "no", (found && spans) || "", by, at, comment]));
  }

  /** Another tab may have decided since: what is stored is read first. */
  #change(how: (held: Map<string, Decision>) => void): void {
    this.reload();
    how(this.#held);
    this.unsaved = true;
    this.#write(this.#key, [...this.#held]);
  }

  #read(name: string): unknown {
    try {
      return JSON.parse(this.store().getItem(name) ?? "null");
    } catch {
      this.kept = false;
      return null;
    }
  }

  #write(name: string, value: unknown): void {
    try {
      this.store().setItem(name, JSON.stringify(value));
      this.kept = true;
    } catch {
      this.kept = false;
    }
  }
}

function keyOf(note: string, feature: string): string {
  return JSON.stringify([note, feature]);
}

function partsOf(key: string): [note: string, feature: string] {
  return JSON.parse(key) as [string, string];
}
