/** The features of a note as they stand: what the run found, and what is decided on the page. */

import { el, type Child } from "../dom.ts";
import { parseMarks, type Mark } from "../offsets.ts";
import { mostPoints, pointsOf, sumOf, totalOf } from "../points.ts";
import type { Feature, ItemRow, Note } from "./data.ts";
import type { Decision } from "./decisions.ts";
import { COLOURS } from "./text.ts";

export interface Item {
  readonly feature: Feature;
  readonly found: boolean | null;
  readonly sure: number | null;
  /** The words it rests on, and after them those that contradict it. */
  readonly marked: readonly Mark[];
  readonly against: readonly Mark[];
  readonly said: string;
  readonly reason: string;
  readonly ask: string;
  readonly by: string;
  readonly when: string;
  readonly comment: string;
  readonly own: Decision | null;
}

/** Words longer than this are folded. */
const LONG = 90;

export function itemOf(feature: Feature, row: ItemRow, decision: Decision | undefined): Item {
  const [before, sure, spans, reason, ask, by, when, comment, contradicting, said] = row;
  // What was handed in since is in the run, or a later decision is.
  const handedIn = !!decision && !!when && (Date.parse(when) >= Date.parse(decision.at) || when === decision.at);
  const own = decision && !handedIn ? decision : null;
  const found = own ? own.found : before === null ? null : before === 1;
  const asFound = own?.found && own.spans === null && before === 1;
  const words = parseMarks(own && !asFound ? (own.found && own.spans) || "" : spans);
  const against = found ? [] : parseMarks(contradicting);
  return { feature, found, sure, marked: [...words, ...against], against, said, reason, ask, by, when, comment, own };
}

export function stateOf(item: Item): string {
  if (item.found === null) return "? undecided";
  const said = item.found ? "✓ stated" : item.against.length ? "✗ contradicted" : "– not mentioned";
  if (item.own) return `${said} · by you`;
  if (item.by) return `${said} · by hand`;
  return item.sure === null ? said : `${said} · ${Math.round(100 * item.sure)} % sure`;
}

function plain(value: number): string {
  return String(value).replace("-", "−");
}

function unit(weight: number): string {
  return `${plain(weight)} ${Math.abs(weight) === 1 ? "point" : "points"}`;
}

/** Say what a feature is worth here, so that a person can add up the score. */
function worthOf(items: readonly Item[], number: number, points: readonly number[]): string {
  const { feature: { weight, group }, found } = items[number]!;
  const once = group ? `; group “${group}” counts once` : "";
  if (found === null) return `– of ${unit(weight)}${once}`;
  if (weight < 0) return found ? `${unit(weight)}: a penalty` : `no penalty (${unit(weight)})`;
  if (!group || !found || points[number]) return `${plain(points[number] ?? 0)} of ${unit(weight)}${once}`;
  const counts = items.findIndex((other, i) => other.feature.group === group && points[i]);
  return `0 of ${unit(weight)}${once}: by feature ${counts + 1}`;
}

function folded(text: string, name: string): HTMLElement {
  if (text.length <= LONG) return el("span", { class: name }, text);
  const blank = text.lastIndexOf(" ", LONG - 20);
  const cut = blank > 30 ? blank : LONG - 20;
  return el("details", { class: name }, el("summary", {}, `${text.slice(0, cut)} …`), text.slice(cut));
}

export function drawItems(box: HTMLElement, items: readonly Item[]): void {
  const points = pointsOf(items.map((item) => item.feature), items.map((item) => item.found));
  box.replaceChildren(...items.map((item, number) => {
    const against = item.against.length > 0;
    const parts: Child[] = [
      el("span", { class: item.marked.length ? `n c${number % COLOURS}` : "n" }, String(number + 1)),
      el("span", {}, item.feature.text),
      el("span", { class: item.found ? "state" : against ? "state otherwise" : "state absent" }, stateOf(item)),
      el("span", { class: `worth${points[number] ? " counts" : ""}` }, worthOf(items, number, points)),
    ];
    if (against && item.said) parts.push(folded(`Contradicted: ${item.said}`, "why"));
    if (item.own) {
      const places = item.own.spans ? item.own.spans.split("|").length : 0;
      const where = places ? `, ${places === 1 ? "words" : `${places} places`} marked` : "";
      const why = item.own.comment ? `: ${item.own.comment}` : "";
      parts.push(el("span", { class: "own" }, `Decided here by ${item.own.by}${where}${why}. Not in the scores yet.`));
    } else if (item.by) {
      const when = item.when ? `, ${item.when.replace("T", " ")}` : "";
      parts.push(el("span", { class: "why" }, `Decided by ${item.by}${when}${item.comment ? `: ${item.comment}` : ""}`));
    }
    if (item.reason && !item.own && !item.by) parts.push(folded(item.reason, "why"));
    if (item.ask && !item.own && item.found !== null) parts.push(folded(`Review: ${item.ask}`, "ask"));
    return el("li", { "data-f": number, id: `f${number}`, tabindex: "-1", class: item.own && "mine" }, ...parts);
  }));
}

/** Write the sum of the points as a person would add it up. */
export function drawSum(box: HTMLElement, note: Note, items: readonly Item[]): void {
  const features = items.map((item) => item.feature);
  const points = pointsOf(features, items.map((item) => item.found));
  const sum = sumOf(points);
  const total = totalOf(points, note.case.floor);
  const added = points.filter((one) => one !== 0)
    .map((one, i) => (one < 0 ? (i ? ` − ${-one}` : `−${-one}`) : i ? ` + ${one}` : String(one)));
  const said = added.length > 1 ? `${added.join("")} = ` : "";
  const raised = total === sum ? "" : `${said}${plain(sum)}; no score is below 0: `;
  const own = items.some((item) => item.own);
  let after = "";
  if (note.score === null) after = own ? " with your decisions." : "";
  else if (total !== note.score) after = own ? ` with your decisions; the run says ${note.score}.` : ` here; the table says ${note.score}.`;
  if (!items.length) box.replaceChildren();
  else if (items.some((item) => item.found === null)) box.replaceChildren("There is no sum, because some features are undecided.");
  else box.replaceChildren(el("strong", {}, `${raised || said}${plain(total)} of ${note.most ?? mostPoints(features)} points`), after);
}

export function summaryOf(note: Note, items: readonly Item[], score: string): string {
  const undecided = items.filter((item) => item.found === null).length;
  const against = items.filter((item) => item.found === false && item.against.length).length;
  const asked = items.filter((item) => item.ask && !item.own).length;
  return [
    note.case.title,
    score,
    items.length > undecided && `${items.filter((item) => item.found).length} of ${items.length} features stated`,
    undecided && `${undecided} of ${items.length} features undecided`,
    against && `${against} contradicted`,
    asked && `${asked} to review`,
  ].filter(Boolean).join(" · ");
}
