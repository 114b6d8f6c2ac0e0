/** Reports: tables sort by their headers, fragments of one mark light up together, folds open in print. */

function valueOf(row: HTMLTableRowElement, column: number): string {
  const cell = row.cells[column];
  return cell?.dataset["v"] ?? cell?.textContent?.trim() ?? "";
}

/** Numbers by size, texts as people order them, and what is undefined last. */
function compare(a: string, b: string, direction: number): number {
  const [x, y] = [Number(a), Number(b)];
  if (a === "nan" || b === "nan") return Number(a === "nan") - Number(b === "nan");
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return direction * (x - y);
  return direction * a.localeCompare(b, undefined, { numeric: true });
}

for (const table of document.querySelectorAll<HTMLTableElement>("table[data-sort]")) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...(body?.rows ?? [])];
      rows.sort((a, b) => compare(valueOf(a, column), valueOf(b, column), down ? -1 : 1));
      body?.append(...rows);
    });
  });
}

function clear(root: Element): void {
  root.querySelectorAll(".linked").forEach((one) => one.classList.remove("linked"));
}

function link(root: Element, wanted: (token: string) => boolean): void {
  clear(root);
  for (const mark of root.querySelectorAll<HTMLElement>("mark[data-a]")) {
    if (mark.dataset["a"]?.split(" ").some(wanted)) mark.classList.add("linked");
  }
}

for (const root of document.querySelectorAll("[data-note]")) {
  const over = (event: Event): void => {
    const target = event.target instanceof Element ? event.target : null;
    const mark = target?.closest<HTMLElement>("mark[data-a]");
    const row = target?.closest<HTMLElement>("[data-f]");
    if (mark) {
      const own = new Set(mark.dataset["a"]?.split(" "));
      link(root, (token) => own.has(token));
    } else if (row) {
      link(root, (token) => /^\d+/.exec(token)?.[0] === row.dataset["f"]);
      row.classList.add("linked");
    } else clear(root);
  };
  root.addEventListener("mouseover", over);
  root.addEventListener("focusin", over);
  root.addEventListener("mouseleave", () => clear(root));
}

let closed: HTMLDetailsElement[] = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll<HTMLDetailsElement>("details.printed:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

export {};
