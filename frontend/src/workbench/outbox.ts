/** Judgements on their way to the server: kept until it says that they are saved. */

import { sameJudgement, type Answer, type Judgement } from "../judgements.ts";
import { marksText, parseMarks, type Mark } from "../offsets.ts";

export interface Letter {
  /** Its own name: several windows keep their letters in one place. */
  readonly id: string;
  readonly work: string;
  readonly feature: string;
  readonly answer: Answer | null;
  /** As text: ids and offsets are all that is kept. */
  readonly marks: string;
  /** The version it was made on. */
  version: number;
  readonly sha256: string;
  readonly active_ms: number;
  readonly suggestion: "none" | "shown" | "accepted";
}
export interface SavedState {
  readonly answer: Answer | null;
  readonly marks: readonly Mark[];
  readonly version: number;
  /** Of all judgements of the note together: it tells whether others were changed elsewhere. */
  readonly note_version?: number;
}
export interface Post {
  /** Send one; resolves to what the server has then. */
  send(letter: Letter): Promise<SavedState>;
  /** The server has a newer state: true keeps mine, false what is saved. */
  conflict(letter: Letter, saved: SavedState): Promise<boolean>;
  status(words: string, bad: boolean): void;
  /** What a conflict ended with, where it is not what was sent. */
  taken(letter: Letter, saved: SavedState): void;
  /** The server holds other answers to this piece of work than are known here. */
  stale(work: string): void;
  /** It will never be taken, e.g. because the text of the note is another one. */
  refused(letter: Letter): void;
  isPassing(error: unknown): boolean;
  savedOf(error: unknown): SavedState | null;
}

export class Outbox {
  #letters: Letter[] = [];
  #sending: Promise<void> | null = null;
  #wait = 1000;
  /** Letters that another window, or this one before it was loaded again, had not sent yet. */
  readonly #adopted = new Set<string>();
  /** All letters that this window answers for: what others keep is not touched. */
  readonly #own = new Set<string>();

  /** `name`: whose letters are kept; somebody else at the same machine has their own. */
  constructor(private readonly post: Post, private readonly store: Pick<Storage, "getItem" | "setItem"> | null, private readonly name: string) {
    this.#letters = this.#kept();
    for (const { id } of this.#letters) {
      this.#adopted.add(id);
      this.#own.add(id);
    }
  }

  #kept(): Letter[] {
    try {
      const kept = JSON.parse(this.store?.getItem(this.name) ?? "[]") as Letter[];
      return kept.map((one, i) => ({ ...one, id: one.id ?? `kept ${i}` }));
    } catch {
      return []; // what cannot be read was not written by us
    }
  }

  get length(): number {
    return this.#letters.length;
  }

  /** Return what waits to be sent about a piece of work: newer than what the server says. */
  pending(work: string): [string, Judgement][] {
    return this.#letters.filter((one) => one.work === work)
      .map((one) => [one.feature, { answer: one.answer, marks: parseMarks(one.marks) }]);
  }

  add(given: Omit<Letter, "id">): void {
    const letter: Letter = { ...given, id: `${Date.now()} ${Math.random()}` };
    this.#own.add(letter.id);
    // What has not left yet is replaced: only the first may be under way.
    const waiting = this.#letters.findIndex((one, i) =>
      (i > 0 || !this.#sending) && one.work === letter.work && one.feature === letter.feature);
    const old = this.#letters[waiting];
    if (old) this.#letters[waiting] = { ...letter, id: old.id, version: old.version, active_ms: old.active_ms + letter.active_ms };
    else this.#letters.push(letter);
    this.#keep();
    void this.flush();
  }

  /** Send everything; resolves when all is saved or the server cannot be reached. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => (this.#sending = null));
    return this.#sending;
  }

  async #send(): Promise<void> {
    let refused = "";
    for (let letter = this.#letters[0]; letter; letter = this.#letters[0]) {
      if (this.#adopted.has(letter.id) && !this.#kept().some((one) => one.id === letter!.id)) {
        this.#letters.shift(); // the window that made it has sent it
        continue;
      }
      this.post.status("saving …", false);
      try {
        this.#sent(letter, await this.#deliver(letter));
        this.#wait = 1000;
      } catch (error) {
        if (!this.post.isPassing(error)) {
          // say so, and go on with the others
          this.#letters.shift();
          this.#keep();
          refused = `not saved: ${error instanceof Error ? error.message : String(error)}`;
          this.post.refused(letter);
          continue;
        }
        this.post.status(this.waiting(error), true);
        setTimeout(() => void this.flush(), this.#wait);
        this.#wait = Math.min(30_000, 2 * this.#wait);
        return;
      }
    }
    this.post.status(refused || "saved", !!refused);
  }

  /** Say how many judgements are not saved yet, and what they wait for. */
  waiting(error: unknown): string {
    const n = this.#letters.length;
    const why = error instanceof Error && error.name === "ApiError" ? `. ${error.message}` : " for the server";
    return `not saved yet: ${n} ${n === 1 ? "judgement waits" : "judgements wait"}${why}`;
  }

  async #deliver(letter: Letter): Promise<SavedState> {
    try {
      return await this.post.send(letter);
    } catch (error) {
      const saved = this.post.savedOf(error);
      if (!saved) throw error;
      const mine = await this.post.conflict(letter, saved);
      if (mine) return this.#deliver(Object.assign(letter, { version: saved.version }));
      this.post.taken(letter, saved);
      return saved;
    }
  }

  #sent(letter: Letter, saved: SavedState): void {
    this.#letters.shift();
    for (const one of this.#letters) {
      if (one.work === letter.work && one.feature === letter.feature) one.version = saved.version;
    }
    this.#keep();
    const mine = { answer: letter.answer, marks: parseMarks(letter.marks) };
    this.seen(letter.work, letter.feature, saved.version);
    if (saved.note_version !== undefined && saved.note_version !== this.noteVersion(letter.work)) this.post.stale(letter.work);
    if (!sameJudgement(mine, { answer: saved.answer, marks: parseMarks(marksText(saved.marks)) })) {
      this.post.taken(letter, saved);
    }
  }

  /** The newest version the server told, by work and feature. */
  readonly #versions = new Map<string, Map<string, number>>();

  seen(work: string, feature: string, version: number): void {
    const own = this.#versions.get(work) ?? new Map<string, number>();
    this.#versions.set(work, own.set(feature, version));
  }

  /** Forget what the server told of a piece of work: it is told anew. */
  forget(work: string): void {
    this.#versions.delete(work);
  }

  version(work: string, feature: string): number {
    return this.#versions.get(work)?.get(feature) ?? 0;
  }

  /** Return the version of all judgements of a note together, as far as it is known here. */
  noteVersion(work: string): number {
    return [...(this.#versions.get(work)?.values() ?? [])].reduce((sum, one) => sum + one, 0);
  }

  #keep(): void {
    try {
      const others = this.#kept().filter((one) => !this.#own.has(one.id));
      this.store?.setItem(this.name, JSON.stringify([...others, ...this.#letters]));
    } catch {
      // the page itself still holds them
    }
  }
}
