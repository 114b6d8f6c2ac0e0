/** Curating: what annotators said, side by side and without names; one decision each. */

import { el, type Child } from "../dom.ts";
import type { Answer } from "../judgements.ts";
import type { KeyTable } from "../keys.ts";
import { wordsOf, type Mark } from "../offsets.ts";
import { begin } from "./api.ts";
import { choice, Deciding, type Decidable } from "./deciding.ts";

interface Decision {
  readonly choice: string;
  readonly marks: readonly Mark[];
  readonly comment: string;
  readonly at: string;
  readonly by: string;
}
interface Worded {
  readonly text: string;
  readonly note: string;
}
interface Disagreement extends Decidable {
  readonly reason: "differ" | "unsure" | "changed" | "rubric";
  readonly inputs: string;
  readonly feature: Worded;
  /** How it was worded when somebody judged it, where that means something else. */
  readonly former: Worded | null;
  readonly sides: readonly { letter: string; answer: Answer; marks: readonly Mark[] }[];
  readonly offers: { union: readonly Mark[]; intersection: readonly Mark[] };
  readonly decision: Decision | null;
  readonly history: readonly Decision[];
}

const project = document.body.dataset["project"] ?? "";
const LETTERS = [..."ABCDEFGH"];
const REASONS = { differ: "They differ.", unsure: "Somebody was unsure.", changed: "An annotator changed the judgement after it was decided.",
  rubric: "The rubric's words changed after it was decided." };
/** Keys go by place: the sides first, then union, intersection, none, own marks. */
const TABLE: KeyTable = Object.fromEntries(
  Array.from({ length: 9 }, (_, i) => [String(i + 1), [[String(i + 1)], `choice ${i + 1}`] as const]));

function choices(it: Disagreement): [value: string, words: string, marks: readonly Mark[]][] {
  return [
    ...it.sides.map((side): [string, string, readonly Mark[]] => [side.letter, `${side.letter}: ${side.answer}`, side.marks]),
    ["union", "Union", it.offers.union], ["intersection", "Intersection", it.offers.intersection],
    ["none", "None: absent", []], ["own", "Own marks", []],
  ];
}

function choose(number: number): void {
  const it = page.it;
  const chosen = it && choices(it)[number - 1];
  if (!it || !chosen) return;
  const [value, words] = chosen;
  const side = it.sides.find((one) => one.letter === value);
  if (side?.answer === "unsure") return page.announcer.say(`${value} was unsure: that is no decision`);
  if ((value === "union" || value === "intersection") && !chosen[2].length) {
    return page.announcer.say(`the ${value} is empty: choose none`);
  }
  if (value !== "own") return void page.decide({ choice: value, inputs: it.inputs }, () => `decided: ${words}`);
  page.own ??= [];
  page.refresh();
  page.announcer.say("mark the words, then save with Ctrl + Enter");
}

function quoted(marks: readonly Mark[]): Child[] {
  return marks.map((mark) => el("q", {}, wordsOf(mark, page.drawing.map)));
}

const page: Deciding<Disagreement> = new Deciding<Disagreement>({
  table: TABLE,
  runs: () => Object.fromEntries(Object.keys(TABLE).map((id) => [id, () => choose(Number(id))])),
  path: (id) => `/disagreements/${id}`,
  list: `/projects/${project}/disagreements`,
  ownLabel: "✓",
  draw: (it) => it.sides.flatMap((side) => side.marks.map((mark, k) => ({
    key: `${side.letter} ${k}`, label: side.letter, colour: LETTERS.indexOf(side.letter) === 0 ? 0 : LETTERS.indexOf(side.letter) === 1 ? 1 : 2 + LETTERS.indexOf(side.letter), mark }))),
  panel: (own, it) => [
    el("p", { class: "now" }, el("strong", {}, it.feature.text)),
    it.feature.note ? el("p", { class: "hint" }, it.feature.note) : null,
    it.former ? el("dl", {}, el("dt", {}, "Judged as"), el("dd", {}, [it.former.text, it.former.note].filter(Boolean).join(" · ")),
      el("dt", {}, "Now"), el("dd", {}, [it.feature.text, it.feature.note].filter(Boolean).join(" · "))) : null,
    el("p", { class: "hint" }, REASONS[it.reason]),
    el("div", { class: "choose" }, ...choices(it).map(([value, words, marks], i) => choice(own as unknown as Deciding<never>, String(i + 1),
      [el("strong", {}, words), " ", ...quoted(value === "own" ? [] : marks)], () => choose(i + 1), marks))),
    ...own.ownMarks(),
    el("p", { class: "field" }, el("label", { for: "comment" }, "Comment ", el("kbd", { "aria-hidden": "true" }, "c")), own.comment),
    ...[it.decision, ...it.history].filter((one) => !!one).map((one, i) => el("p", { class: "hint" },
      `${i ? "Before" : "Decided"}: ${one.choice} by ${one.by}, ${one.at.slice(0, 16).replace("T", " ")} `, ...quoted(one.marks),
      one.comment ? ` – ${one.comment}` : "")),
  ],
}, () => {
  if (!page.own?.length) return page.announcer.say("mark something first, or choose none");
  void page.decide({ choice: "own", marks: page.own, inputs: page.it?.inputs }, () => "decided: own marks");
});

await begin(() => page.start());
