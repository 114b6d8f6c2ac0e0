/** Reviewing what a scoring run asked people about, with the score as it changes. */

import { el, type Child } from "../dom.ts";
import type { KeyTable } from "../keys.ts";
import { wordsOf, type Mark } from "../offsets.ts";
import { ActiveClock, begin } from "./api.ts";
import { choice, Deciding, type Decidable } from "./deciding.ts";

interface Item extends Decidable {
  readonly feature: { readonly id: string; readonly text: string; readonly note: string; readonly group: string; readonly weight: number };
  /** Null: the note was not scored, so the machine decided nothing. */
  readonly found: boolean | null;
  readonly marks: readonly Mark[];
  readonly reason: string;
  readonly against: { readonly marks: readonly Mark[]; readonly reason: string } | null;
  readonly score: { readonly before: number; readonly now: number; readonly maximum: number };
  readonly items: readonly { feature: string; text: string; found: boolean; points: number; marks: readonly Mark[]; corrected: boolean }[];
  readonly correction: { found: boolean; marks: readonly Mark[]; against: readonly Mark[]; comment: string; by: string; at: string } | null;
  readonly why: string | null;
  readonly risk: number | null;
}

const TABLE = {
  accept: [["a"], "accept what the machine decided"],
  absent: [["x"], "absent"],
  contradicted: [["d"], "contradicted: the marked words contradict the feature"],
  edit: [["e"], "mark the evidence yourself"],
  all: [["i"], "all features of this note"],
} as const satisfies KeyTable;
const run = document.body.dataset["run"] ?? "";
const clock = new ActiveClock();

function decide(found: boolean, marks: readonly Mark[] | null): void {
  void page.decide({ found, marks, active_ms: clock.take() }, (saved) =>
    `${saved.feature.text}: ${verdict(saved.correction)}; score of ${saved.note.id} ${points(saved.score.now)} of ${points(saved.score.maximum)}` +
    (saved.why ? `; it was asked because ${saved.why}` : ""));
}

function points(value: number): string {
  return String(Math.round(100 * value) / 100);
}

function verdict(said: Item["correction"]): string {
  return said?.found ? "present" : said?.against.length ? "contradicted" : "absent";
}

function isBlank(it: Item): boolean {
  return !it.note.text.trim();
}

function accept(): void {
  if (!page.it) return;
  if (page.it.found === null) page.announcer.say("the machine made no decision here: choose absent, or mark the evidence");
  else decide(page.it.found, null);
}

/** Say that the note says otherwise: the words marked, or those that the machine found. */
function contradicted(): void {
  if (!page.it || isBlank(page.it)) return;
  const marks = page.own?.length ? page.own : (page.it.against?.marks ?? []);
  if (marks.length) return decide(false, marks);
  page.own ??= [];
  page.refresh();
  page.announcer.say(`mark the words that contradict the feature, then press ${page.keys.keysOf("contradicted")[0] ?? ""}`);
}

function all(): void {
  const details = page.panel.querySelector("details");
  if (details) details.open = !details.open;
  details?.querySelector("summary")?.focus();
}

function absent(): void {
  decide(false, []);
}

function edit(): void {
  if (!page.it || isBlank(page.it)) return page.announcer.say("this note has no text to mark");
  page.own ??= [];
  page.refresh();
  page.announcer.say("mark the words, then save with Ctrl + Enter");
}

function quoted(marks: readonly Mark[]): Child[] {
  return marks.map((mark) => el("q", {}, wordsOf(mark, page.drawing.map)));
}

const page: Deciding<Item> = new Deciding<Item>({
  table: TABLE,
  runs: () => ({ accept, absent, contradicted, edit, all }),
  path: (id) => `/items/${id}`,
  list: `/runs/${run}/items`,
  ownLabel: "✓",
  settles: (saved, one) => isBlank(saved) && one.note === saved.note.id,
  draw: (it) => [
    ...(it.correction?.marks ?? it.marks).map((mark, k) => ({ key: `own ${k} it`, label: "", colour: 0, mark, style: "active" })),
    ...(it.correction?.against.length ? it.correction.against : (it.against?.marks ?? [])).map((mark, k) => ({ key: `against ${k}`, label: "≠", colour: 1, mark, style: "suggested" })),
  ],
  panel: (own, it) => {
    const { before, now, maximum } = it.score;
    const shown = own as unknown as Deciding<never>;
    return [
      el("p", { class: "score" }, "Score ", el("strong", {}, points(now)), ` of ${points(maximum)}`,
        now !== before ? el("span", { class: "quiet" }, ` (machine: ${points(before)})`) : ""),
      el("p", { class: "now" }, el("strong", {}, it.feature.text)),
      el("p", { class: "hint" }, [it.feature.note, it.feature.weight !== 1 && `${points(it.feature.weight)} points`, it.feature.group && `any of: ${it.feature.group}`].filter(Boolean).join(" · ")),
      isBlank(it) ? el("p", {}, el("strong", {}, "This note has no text."), " One answer is enough for all of its features.")
        : el("p", {}, el("strong", {}, it.found ? "Stated: " : it.found === null ? "Not scored. " : "Not stated. "), ...quoted(it.marks)),
      it.reason ? el("p", { class: "hint" }, it.reason) : null,
      it.against ? el("p", { class: "hint" }, "Contradicted by: ", ...quoted(it.against.marks), ` ${it.against.reason}`) : null,
      el("div", { class: "choose" },
        it.found === null ? "" : choice(shown, "accept", [el("strong", {}, it.found ? "Accept" : it.against ? "Accept: contradicted" : "Accept: absent")], accept),
        it.found === false ? "" : choice(shown, "absent", [el("strong", {}, isBlank(it) ? "Nothing to find: all absent" : "Absent")], absent),
        ...(isBlank(it) ? [] : [
          choice(shown, "contradicted", [el("strong", {}, "Contradicted")], contradicted),
          choice(shown, "edit", [el("strong", {}, it.found ? "Change the marks" : "Mark the evidence")], edit)])),
      ...own.ownMarks(),
      el("p", { class: "field" }, el("label", { for: "comment" }, "Comment ", el("kbd", { "aria-hidden": "true" }, "c")), own.comment),
      it.correction ? el("p", { class: "hint" }, `Decided: ${verdict(it.correction)} by ${it.correction.by}, ` +
        `${it.correction.at.slice(0, 16).replace("T", " ")} ${it.correction.comment}`) : null,
      it.why ? el("p", { class: "hint" }, `Asked because ${it.why}${it.risk === null ? "" : `, risk ${it.risk.toFixed(2)}`}`) : null,
      el("details", {}, el("summary", {}, `All ${it.items.length} features of this note`),
        el("ul", { class: "items" }, ...it.items.map((one) => el("li", {},
          el("span", { class: one.found ? "good" : "quiet" }, one.found ? `+${points(one.points)} ` : "– "), one.text,
          one.corrected ? el("span", { class: "quiet" }, " corrected") : "")))),
    ];
  },
}, () => {
  if (!page.own?.length) return page.announcer.say("mark something first, or choose absent");
  decide(true, page.own);
});

await begin(() => page.start());
