/** Calls to the workbench's server. */

import { byId, el } from "../dom.ts";
import { STORE, type Kept, type KeyStore, localStore } from "../keys.ts";

export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly saved: unknown) {
    super(message);
    this.name = "ApiError";
  }
}

/** Call the server; an answer that is none is an `ApiError`, a network that fails a TypeError. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`/api/v1${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  if (response.status === 401) {
    document.body.dataset["leaving"] = "yes"; // what was not sent is kept, and sent after signing in
    location.assign(`/signin?next=${encodeURIComponent(location.pathname)}`);
    throw new ApiError(401, "not_signed_in", "sign in again", null);
  }
  const answer: unknown = response.status === 204 ? null : await response.json();
  if (response.ok) return answer as T;
  const { error, saved } = answer as { error: { code: string; message: string; saved?: unknown }; saved?: unknown };
  throw new ApiError(response.status, error.code, error.message, saved ?? error.saved);
}

/** Fill the page; where the server cannot do it now, say why instead of loading for ever. */
export async function begin(start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    // A SyntaxError: a proxy in front of the server answers with a page of its own.
    if (![ApiError, TypeError, SyntaxError].some((kind) => error instanceof kind)) throw error;
    if (error instanceof ApiError && error.status === 401) return; // it leads to the form for signing in
    const why = error instanceof ApiError ? error.message : "The server cannot be reached.";
    byId("app").replaceChildren(el("section", { class: "card" }, el("h2", {}, "This page cannot be shown now"),
      el("p", { role: "alert" }, why),
      el("p", {}, el("button", { type: "button", class: "first", click: () => location.reload() }, "Try again"))));
  }
}

export interface NoteText {
  readonly id: string;
  readonly case: string;
  readonly text: string;
  readonly sha256: string;
}

/** Tell whether the call may be made again: no network, a busy server, a pause, a session that ended. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500 || [401, 429].includes(error.status) || error.code === "paused";
}

/** Keep the key map with the account, so that it is the same on every machine. */
export async function accountKeys(): Promise<KeyStore | null> {
  const local = localStore();
  try {
    const { preferences } = await call<{ preferences: { keys_on?: boolean; keys?: Kept["keys"] } }>("GET", "/me");
    const kept: Kept = { off: preferences.keys_on === false, keys: preferences.keys ?? {} };
    local?.setItem(STORE, JSON.stringify(kept));
  } catch {
    // what this browser kept will do
  }
  return {
    getItem: (name) => local?.getItem(name) ?? null,
    setItem: (name, value) => {
      local?.setItem(name, value);
      const { off, keys } = JSON.parse(value) as Kept;
      void call("PUT", "/me/preferences", { keys_on: !off, keys }).catch(() => {});
    },
  };
}

/** Counts the time a person is at work: hidden pages and pauses over a minute are left out. */
export class ActiveClock {
  #active = 0;
  #last = performance.now();

  constructor() {
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "visibilitychange"]) {
      document.addEventListener(name, () => this.#tick(), { passive: true, capture: true });
    }
  }

  /** Return the milliseconds since the last time, and begin again. */
  take(): number {
    this.#tick();
    const taken = Math.round(this.#active);
    this.#active = 0;
    return taken;
  }

  #tick(): void {
    const now = performance.now();
    const passed = now - this.#last;
    this.#last = now;
    if (passed < 60_000 && document.visibilityState === "visible") this.#active += passed;
  }
}
