/** Elements made by code: text is only ever text. */

export type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | null | undefined>;

/** Make an element; functions are listeners, true an empty attribute, null and false none. */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child): child is Node | string => !!child || child === ""));
  return made;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
}

/** Read the JSON a page carries. */
export function pageData<T>(id = "data"): T {
  return JSON.parse(byId(id).textContent ?? "null") as T;
}

/** A line that screen readers speak whenever it changes. */
export class Announcer {
  readonly element = el("p", { class: "said", role: "status", "aria-live": "polite" });

  say(words: string): void {
    this.element.textContent = words;
  }
}

/** Ask in a dialog; resolves to the value of the button pressed, "" when it was closed. */
export function ask(
  title: string, body: readonly Child[], choices: readonly (readonly [value: string, words: string])[],
): Promise<string> {
  const buttons = choices.map(([value, words], i) =>
    el("button", { value, class: i ? "" : "first" }, words));
  const heading = el("h2", { id: "ask-title" }, title);
  const form = el("form", { method: "dialog" }, heading, ...body, el("p", { class: "choices" }, ...buttons));
  const dialog = el("dialog", { class: "ask", "aria-labelledby": "ask-title" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/** Put focus where it was not asked for without moving the page. */
export function focusQuietly(element: HTMLElement): void {
  element.focus({ preventScroll: true });
}
