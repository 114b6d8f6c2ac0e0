/** How a project stands: live counts, times and agreement. */

import { byId, el, type Child } from "../dom.ts";
import { begin, call } from "./api.ts";

/** A figure; too few notes, or all alike, give it no interval. */
interface Interval {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}
interface Progress {
  readonly notes: number;
  readonly state: string;
  readonly assignments: { readonly done: number; readonly total: number };
  readonly judgements: number;
  readonly unsure: number;
  readonly annotators: readonly { name: string; done: number; total: number; judgements: number; median_ms: number | null; last_at: string | null; stuck: boolean }[];
  readonly curation: { readonly open: number; readonly decided: number };
  readonly runs: readonly { id: string; name: string; state: string; open: number; done: number; audit: { seen: number; wrong: number; rate: Interval | null } | null }[];
  readonly head: string;
}
interface Agreement {
  readonly at: string;
  readonly notes: number;
  readonly presence_f1: Interval | null;
  readonly presence_kappa: number | null;
  readonly characters_f1: Interval | null;
  readonly features: readonly { feature: string; text: string; notes: number; presence_f1: Interval | null; characters_f1: Interval | null }[];
}

const project = document.body.dataset["project"] ?? "";
const roles = (document.body.dataset["roles"] ?? "").split(" ");
const isManager = roles.includes("manager");
const isReviewer = roles.includes("reviewer");
const parts = { tiles: el("div", { class: "tiles" }), people: el("div"), agreement: el("div", { class: "agreement" }), runs: el("div"), tools: el("div", { class: "row" }) };
const live = el("p", { class: "quiet", role: "status", id: "live" }, "connecting …");

function tile(title: string, value: string, more: string, done?: [number, number]): HTMLElement {
  return el("section", { class: "tile" }, el("h2", {}, title), el("p", { class: "big" }, value),
    done ? el("progress", { value: done[0], max: Math.max(1, done[1]), "aria-label": title }) : "", el("p", { class: "quiet" }, more));
}

function table(caption: string, head: string[], rows: Child[][]): HTMLElement {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, el("table", { class: "table" },
    el("caption", {}, caption), el("thead", {}, el("tr", {}, ...head.map((one) => el("th", { scope: "col" }, one)))),
    el("tbody", {}, ...rows.map(([first, ...others]) => el("tr", {}, el("th", { scope: "row" }, first ?? ""), ...others.map((one) => el("td", {}, one ?? "")))))));
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

function between(one: Interval | null, shown = (value: number) => value.toFixed(3)): string {
  if (!one) return "–";
  return one.low === null || one.high === null ? shown(one.value) : `${shown(one.value)} [${shown(one.low)}, ${shown(one.high)}]`;
}

/** An interval drawn on a line from 0 to 1; its numbers stand beside it. */
function bar(one: Interval | null): HTMLElement {
  const whole = el("span", { class: "range", "aria-hidden": "true" });
  if (!one) return whole;
  if (one.low !== null && one.high !== null) {
    const inside = el("span", { class: "reach" });
    inside.style.left = percent(one.low).replace(" ", "");
    inside.style.width = percent(Math.max(0.005, one.high - one.low)).replace(" ", "");
    whole.append(inside);
  }
  const point = el("span", { class: "point" });
  point.style.left = percent(one.value).replace(" ", "");
  whole.append(point);
  return whole;
}

function seconds(ms: number | null): string {
  return ms === null ? "–" : `${(ms / 1000).toFixed(1)} s`;
}

function when(at: string | null): string {
  return at ? at.slice(0, 16).replace("T", " ") : "–";
}

function showProgress(now: Progress): void {
  const { done, total } = now.assignments;
  const times = now.annotators.map((one) => one.median_ms).filter((one) => one !== null).sort((a, b) => a - b);
  parts.tiles.replaceChildren(
    tile("Annotation", `${done} of ${total}`, `${now.notes} notes${now.state === "paused" ? ", paused" : ""}`, [done, total]),
    tile("Judgements", String(now.judgements), `${now.unsure} unsure`),
    tile("Time for a judgement", seconds(times[times.length >> 1] ?? null), "median of the annotators' medians"),
    tile("Curation", `${now.curation.open} open`, `${now.curation.decided} decided`, [now.curation.decided, now.curation.open + now.curation.decided]),
    tile("Review", `${now.runs.reduce((sum, one) => sum + one.open, 0)} open`, `${now.runs.reduce((sum, one) => sum + one.done, 0)} decided`));
  parts.people.replaceChildren(table("Annotators", ["Name", "Notes done", "Judgements", "Time, median", "Last at work (UTC)", "State"], now.annotators.map((one) => [
    one.name, `${one.done} of ${one.total}`, String(one.judgements), seconds(one.median_ms), when(one.last_at),
    one.stuck ? el("span", { class: "pill bad" }, "stuck") : one.judgements || !one.total ? "" : "not begun"])));
  parts.runs.replaceChildren(now.runs.length ? table("Scoring runs", ["Run", "State", "Open", "Decided", "Errors in the hidden sample"], now.runs.map((one) => [
    isReviewer ? el("a", { href: `/p/${project}/review/${one.id}` }, one.name) : one.name, one.state, String(one.open), String(one.done),
    one.audit ? `${one.audit.wrong} of ${one.audit.seen}${one.audit.rate ? `: ${between(one.audit.rate, percent)}` : ""}` : "–"])) : "");
  showTools(now);
}

let toolsFor = "";

function showTools(now: Progress): void {
  if (!isManager || toolsFor === now.state) return;
  toolsFor = now.state;
  const wanted = now.state === "paused" ? "open" : "paused";
  parts.tools.replaceChildren(
    el("button", { type: "button", id: "pause", click: () => void call("PATCH", `/projects/${project}`, { state: wanted }).then(refresh) },
      wanted === "paused" ? "Pause the project" : "Go on"),
    el("a", { class: "button", href: `/api/v1/projects/${project}/export?format=zip` }, "Download everything"),
    el("a", { class: "button", href: `/p/${project}/people` }, "People and notes"),
    el("a", { class: "button", href: `/p/${project}/audit` }, "Audit log"));
}

async function showAgreement(): Promise<void> {
  const now = await call<Agreement>("GET", `/projects/${project}/agreement`);
  const figure = (name: string, one: Interval | null): Child[] => [name, bar(one), between(one)];
  parts.agreement.replaceChildren(
    el("h2", {}, "Agreement between annotators"),
    now.notes ? table(`${now.notes} notes that two have finished; F1 with its interval`, ["Measure", "0 to 1", "Value"], [
      figure("Presence", now.presence_f1), figure("Characters", now.characters_f1),
      ...(now.presence_kappa === null ? [] : [["Presence, Cohen's kappa", "", now.presence_kappa.toFixed(3)]]),
    ]) : el("p", { class: "muted" }, "No note has been finished by two annotators yet."),
    now.features.length ? el("details", {}, el("summary", {}, "By feature"), table("By feature", ["Feature", "Notes", "Presence F1", "Characters F1"],
      now.features.map((one) => [one.text, String(one.notes), between(one.presence_f1), between(one.characters_f1)]))) : "");
}

async function refresh(): Promise<void> {
  showProgress(await call<Progress>("GET", `/projects/${project}/progress`));
}

byId("app").replaceChildren(parts.tools, live, parts.tiles, parts.agreement, parts.people, parts.runs);
await begin(async () => {
  await refresh();
  await showAgreement();
});
document.body.dataset["ready"] = "yes";
const events = new EventSource(`/api/v1/projects/${project}/events`);
let asked = Date.now();
events.addEventListener("progress", (event) => {
  live.textContent = `live, ${new Date().toLocaleTimeString()}`;
  showProgress(JSON.parse((event as MessageEvent<string>).data) as Progress);
  if (Date.now() - asked > 30_000) {
    asked = Date.now();
    void showAgreement();
  }
});
events.addEventListener("error", () => (live.textContent = "not live: the server cannot be reached; trying again"));
