/** The keys: one table, which people may change or switch off, and the map that `?` shows. */

import { el } from "./dom.ts";

export interface Action {
  readonly id: string;
  readonly keys: readonly string[];
  readonly help: string;
  readonly run: (event: KeyboardEvent) => void;
}
export interface Kept {
  off: boolean;
  keys: Record<string, string>;
}

/** Action → its keys, and what it does in words. */
export type KeyTable = Readonly<Record<string, readonly [keys: readonly string[], help: string]>>;
export type KeyStore = Pick<Storage, "getItem" | "setItem">;

export function tableOf<T extends KeyTable>(table: T, runs: Record<keyof T & string, Action["run"]>): Action[] {
  return Object.entries(table).map(([id, [keys, help]]) => ({ id, keys, help, run: runs[id as keyof T & string] }));
}

export const arrow = (key: string): string[] => [key, `Shift+${key}`, `Alt+${key}`, `Alt+Shift+${key}`];
/** The keys of annotating: what does it, and in words. */
export const KEYMAP = {
  next: [["j"], "next feature"],
  previous: [["k"], "previous feature"],
  number: [[..."1234567890"], "feature with this number"],
  left: [arrow("ArrowLeft"), "word before (Shift: extend, Alt: by character)"],
  right: [arrow("ArrowRight"), "word after (Shift: extend, Alt: by character)"],
  up: [["ArrowUp", "Shift+ArrowUp"], "line above (Shift: extend)"],
  down: [["ArrowDown", "Shift+ArrowDown"], "line below (Shift: extend)"],
  mark: [["Enter"], "mark these words, then the next feature"],
  stay: [["Shift+Enter"], "mark these words and stay"],
  fragment: [["+"], "the next words are a fragment"],
  accept: [["a"], "accept what is suggested, or keep what is to be looked at again"],
  absent: [["x"], "absent"],
  unsure: [["u"], "unsure"],
  "start-left": [["[", "Alt+["], "start of the mark to the left (Alt: by character)"],
  "start-right": [["{", "Alt+{"], "start of the mark to the right"],
  "end-right": [["]", "Alt+]"], "end of the mark to the right"],
  "end-left": [["}", "Alt+}"], "end of the mark to the left"],
  remove: [["Delete", "Backspace"], "remove the mark, or the answer"],
  undo: [["Ctrl+z"], "undo"],
  redo: [["Ctrl+Shift+z", "Ctrl+y"], "redo"],
  done: [["Ctrl+Enter"], "note done"],
  "note-before": [["p", "PageUp"], "note before"],
  "note-after": [["n", "PageDown"], "note after"],
  cancel: [["Escape"], "clear the selection"],
  map: [["?"], "this map"],
} as const satisfies KeyTable;

export const STORE = "rubricate-keys";

/** Return the name of what was pressed: "x", "Ctrl+Enter", "Shift+ArrowLeft", "{". */
export function chordOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  const symbol = event.key.length === 1 && event.key.toLowerCase() === event.key.toUpperCase();
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // the shift of a symbol is in the symbol itself
  return [
    (event.ctrlKey || event.metaKey) && "Ctrl", event.altKey && "Alt", event.shiftKey && !symbol && "Shift", key,
  ].filter(Boolean).join("+");
}

/** Single characters can be pressed by mistake or by a voice: they are what "off" switches off. */
export function isSingle(chord: string): boolean {
  return [...chord].length === 1 || chord === "Space" || chord === "Delete";
}

export class Keys {
  #kept: Kept = { off: false, keys: {} };
  #chords = new Map<string, Action>();

  constructor(private readonly actions: readonly Action[], private readonly store: KeyStore | null) {
    try {
      const kept = JSON.parse(store?.getItem(STORE) ?? "{}") as Partial<Kept>;
      this.#kept = { off: !!kept.off, keys: { ...kept.keys } };
    } catch {
      // what was kept cannot be read: the table as it comes
    }
    this.#index();
  }

  get off(): boolean {
    return this.#kept.off;
  }

  set off(value: boolean) {
    this.#kept.off = value;
    this.#keep();
  }

  keysOf(id: string): readonly string[] {
    const changed = this.#kept.keys[id];
    return changed ? [changed] : (this.actions.find((one) => one.id === id)?.keys ?? []);
  }

  /** Give an action another key; one that is taken changes hands. Null: as it comes. */
  remap(id: string, chord: string | null): void {
    if (chord === null) delete this.#kept.keys[id];
    else this.#kept.keys[id] = chord;
    this.#keep();
  }

  /** Return the action of a key press, if there is one and it may run now. */
  find(event: KeyboardEvent): Action | null {
    const chord = chordOf(event);
    const target = event.target instanceof Element ? event.target : null;
    if (event.defaultPrevented || target?.closest("input, textarea, select, dialog")) return null;
    if (target?.closest("button, a, summary") && ["Enter", "Space", "Shift+Enter"].includes(chord)) return null;
    if (this.#kept.off && isSingle(chord)) return null;
    return this.#chords.get(chord) ?? null;
  }

  listen(): void {
    document.addEventListener("keydown", (event) => {
      const action = this.find(event);
      if (!action) return;
      event.preventDefault();
      action.run(event);
    });
  }

  /** Show the map; a key is changed by its button and the next key pressed. */
  show(): void {
    const off = el("input", { type: "checkbox" });
    off.checked = this.#kept.off;
    off.addEventListener("change", () => (this.off = off.checked));
    const body = el("tbody");
    const fill = (): void => {
      body.replaceChildren(...this.actions.map((action) => {
        const keys = this.keysOf(action.id).map((key) => el("kbd", {}, shownKey(key)));
        const change = el("button", { type: "button", "data-change": action.id, "aria-label": `Change the key: ${action.help}` }, "change");
        change.addEventListener("click", () => {
          change.textContent = "press a key …";
          change.addEventListener("keydown", (event) => {
            if (["Shift", "Control", "Alt", "Meta", "Tab"].includes(event.key)) return;
            event.preventDefault();
            event.stopPropagation();
            if (event.key !== "Escape") this.remap(action.id, chordOf(event));
            fill();
            body.querySelector<HTMLElement>(`[data-change="${action.id}"]`)?.focus();
          });
        });
        return el("tr", {}, el("th", { scope: "row" }, action.help), el("td", {}, ...keys), el("td", {}, change));
      }));
    };
    fill();
    const reset = el("button", { type: "button", click: () => {
      this.#kept.keys = {};
      this.#keep();
      fill();
    } }, "Restore all keys");
    const heading = el("h2", { id: "keys-title" }, "Keys");
    const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title", close: () => dialog.remove() },
      heading,
      el("p", {}, el("label", {}, off, " Switch off keys that are a single character")),
      el("p", {}, "With the mouse: drag over words, or click the first and the last. With Ctrl the feature stays; " +
        "with Shift the words become a fragment of the last mark; with Alt single characters are taken."),
      el("table", {}, body),
      el("form", { method: "dialog", class: "choices" }, el("button", { class: "first" }, "Close"), reset));
    document.body.append(dialog);
    dialog.showModal();
  }

  #keep(): void {
    this.#index();
    try {
      this.store?.setItem(STORE, JSON.stringify(this.#kept));
    } catch {
      // a full or forbidden storage: the change holds until the page is closed
    }
  }

  #index(): void {
    this.#chords.clear();
    const changed = this.actions.filter((action) => action.id in this.#kept.keys);
    for (const action of [...this.actions.filter((one) => !changed.includes(one)), ...changed]) {
      for (const chord of this.keysOf(action.id)) this.#chords.set(chord, action);
    }
  }
}

const SHOWN: Record<string, string> = {
  ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc",
};

export function shownKey(chord: string): string {
  return chord.split(/(?<=.)\+(?=.)/).map((part) => SHOWN[part] ?? part).join(" + ");
}

/** Return the browser's storage, or null where it is forbidden. */
export function localStore(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
