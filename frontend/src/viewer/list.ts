/** The list of notes: filters, order and pages. */

import { byId, el } from "../dom.ts";
import { FLAG, percentOf, pointsText, type Case, type Note } from "./data.ts";

/** Notes on one page of the list. */
const PAGE = 100;
const FLAG_WORDS: Record<string, string> = { unlike: "does not read like a note" };
const ORDERS: Record<string, (note: Note) => number> = {
  low: percentOf, high: (note) => -percentOf(note), review: (note) => -note.review,
};
const FIELDS = ["search", "case", "show", "low", "high", "feature", "order"] as const;
type Name = (typeof FIELDS)[number];

export class NoteList {
  readonly fields = Object.fromEntries(FIELDS.map((name) => [name, byId<HTMLInputElement & HTMLSelectElement>(name)])) as
    Record<Name, HTMLInputElement & HTMLSelectElement>;
  shown: Note[] = [];
  current: Note | null = null;
  #page = 0;

  constructor(
    private readonly notes: readonly Note[], private readonly cases: readonly Case[],
    private readonly decided: (note: string) => number, open: (note: Note) => void,
  ) {
    cases.forEach((one, i) => this.fields.case.append(el("option", { value: i }, one.title)));
    const filters = byId("filters");
    filters.addEventListener("input", () => this.refilter());
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("reset", () => setTimeout(() => this.refilter()));
    byId("less").addEventListener("click", () => this.#turn(this.#page - 1));
    byId("more").addEventListener("click", () => this.#turn(this.#page + 1));
    byId("list").addEventListener("click", (event) => {
      const link = (event.target as Element).closest("a");
      if (!link) return;
      event.preventDefault();
      open(notes[Number(link.dataset["i"])]!);
    });
  }

  /** Set the filters that an address names. */
  set(asked: URLSearchParams): void {
    const wanted = asked.get("case");
    if (wanted !== null) this.fields.case.value = String(this.cases.findIndex((one) => one.case === wanted));
    this.#listFeatures();
    for (const name of ["show", "order", "low", "high", "feature"] as const) {
      const value = asked.get(name);
      if (value !== null) this.fields[name].value = value;
    }
    this.refilter();
  }

  refilter(): void {
    this.#listFeatures();
    this.shown = this.#matching();
    this.#turn(0);
  }

  /** Return the note some steps further in the list. */
  step(by: number): Note | undefined {
    const at = this.#place();
    return this.shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), this.shown.length - 1)];
  }

  /** Return the next note with something that is neither decided in the run nor here. */
  nextOpen(): Note | undefined {
    return this.shown.slice(this.#place() + 1).find((note) => note.review > this.decided(note.id));
  }

  /** Show that this note is open. */
  choose(note: Note): void {
    this.current = note;
    const at = this.#place();
    if (at >= 0 && Math.floor(at / PAGE) !== this.#page) this.#turn(Math.floor(at / PAGE));
    for (const link of byId("list").querySelectorAll("a")) {
      if (Number(link.dataset["i"]) !== note.at) link.removeAttribute("aria-current");
      else {
        link.setAttribute("aria-current", "true");
        link.scrollIntoView({ block: "nearest" });
      }
    }
    this.#drawSteps();
  }

  draw(): void {
    this.#turn(this.#page);
  }

  #place(): number {
    return this.current ? this.shown.indexOf(this.current) : -1;
  }

  #listFeatures(): void {
    const { case: chosen, feature } = this.fields;
    const one = chosen.value === "" ? undefined : this.cases[Number(chosen.value)];
    const before = feature.value;
    byId("feature-label").hidden = !one;
    const states = [["1", "stated"], ["0", "not stated"], ["2", "contradicted"]] as const;
    feature.replaceChildren(el("option", { value: "" }, "any"), ...(one?.features ?? []).flatMap(({ text }, i) =>
      states.map(([sign, words]) => el("option", { value: `${i} ${sign}` }, `${i + 1} ${words}: ${text}`))));
    if ([...feature.options].some((option) => option.value === before)) feature.value = before;
  }

  #matching(): Note[] {
    const { search, case: chosen, show, low, high, feature, order } = this.fields;
    const wanted = search.value.trim().toLowerCase();
    const ofCase = chosen.value === "" ? null : this.cases[Number(chosen.value)];
    const [number, sign] = feature.value.split(" ");
    const least = low.value === "" ? null : Number(low.value) - 1e-9;
    const most = high.value === "" ? null : Number(high.value) + 1e-9;
    const flag = FLAG[show.value as keyof typeof FLAG];
    const found = this.notes.filter((note) => {
      if (wanted && !note.id.toLowerCase().includes(wanted)) return false;
      if (ofCase !== null && note.case !== ofCase) return false;
      const own = number ? note.signs[Number(number)] : sign;
      // A contradicted feature is not stated either.
      if (number && own !== sign && !(sign === "0" && own === "2")) return false;
      if (least !== null && !(percentOf(note) >= least)) return false;
      if (most !== null && !(percentOf(note) <= most)) return false;
      if (show.value === "mine") return this.decided(note.id) > 0;
      if (show.value === "contradicted") return note.signs.includes("2");
      if (show.value === "review") return note.review > 0;
      if (show.value === "clear") return note.review === 0 && !(note.flags & FLAG.failed);
      return !show.value || Boolean(note.flags & flag);
    });
    const key = ORDERS[order.value];
    if (key) {
      const value = (note: Note): number => (Number.isNaN(key(note)) ? Infinity : key(note));
      found.sort((a, b) => (value(a) === value(b) ? a.at - b.at : value(a) - value(b)));
    }
    return found;
  }

  #turn(page: number): void {
    const last = Math.max(0, Math.ceil(this.shown.length / PAGE) - 1);
    this.#page = Math.min(Math.max(page, 0), last);
    byId("list").replaceChildren(...this.shown.slice(this.#page * PAGE, (this.#page + 1) * PAGE).map((note) => this.#line(note)));
    byId("count").textContent = `${this.shown.length.toLocaleString("en")} of ${this.notes.length.toLocaleString("en")} notes`;
    byId("page").textContent = last ? `${this.#page + 1} of ${last + 1}` : "";
    byId<HTMLButtonElement>("less").disabled = this.#page === 0;
    byId<HTMLButtonElement>("more").disabled = this.#page === last;
    this.#drawSteps();
  }

  #drawSteps(): void {
    const at = this.#place();
    byId<HTMLButtonElement>("previous").disabled = at <= 0;
    byId<HTMLButtonElement>("next").disabled = !this.shown.length || at === this.shown.length - 1;
  }

  #line(note: Note): HTMLElement {
    const own = this.decided(note.id);
    const flags = Object.entries(FLAG).filter(([name, flag]) => note.flags & flag && name !== "failed");
    const more = [
      note.case.title,
      note.review && `${note.review} to review`,
      own && `${own} decided here`,
      ...flags.map(([name]) => FLAG_WORDS[name] ?? name),
      note.signs.includes("2") && "contradicts",
    ];
    return el("li", {}, el("a", {
      href: addressOf(note), "data-i": note.at, "aria-current": note === this.current ? "true" : null,
    }, el("span", { class: "id" }, note.id), el("span", { class: "points" }, pointsText(note)),
    el("span", { class: "more" }, more.filter(Boolean).join(" · "))));
  }
}

export function addressOf(note: Note): string {
  return `#n=${encodeURIComponent(note.id)}`;
}
