/** The key map on the account page. */

import { byId, el } from "../dom.ts";
import { KEYMAP, Keys, tableOf, type Action } from "../keys.ts";
import { accountKeys } from "./api.ts";

const none = Object.fromEntries(Object.keys(KEYMAP).map((id) => [id, () => {}])) as unknown as Record<keyof typeof KEYMAP, Action["run"]>;
const keys = new Keys(tableOf(KEYMAP, none), await accountKeys());
byId("keymap").replaceChildren(el("section", { class: "card" }, el("h2", {}, "Keys"),
  el("p", {}, "Every action has a key. Change them, or switch the single characters off; it holds on every machine."),
  el("p", {}, el("button", { type: "button", id: "map", click: () => keys.show() }, "Show and change the keys"))));
