"use strict";
(() => {
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v ?? cell.textContent.trim();
  };
  const compare = (a, b, direction) => {
    const x = Number(a), y = Number(b);
    if (a === "nan" || b === "nan") return (a === "nan") - (b === "nan");
    if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return direction * (x - y);
    return direction * a.localeCompare(b, undefined, { numeric: true });
  };
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const heads = [...table.tHead.rows[0].cells];
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
        const rows = [...body.rows];
        rows.sort((a, b) => compare(value(a, column), value(b, column), down ? -1 : 1));
        body.append(...rows);
      });
    });
  }

  const clear = (root) => root.querySelectorAll(".linked").forEach((e) => e.classList.remove("linked"));
  const link = (root, wanted) => {
    clear(root);
    for (const mark of root.querySelectorAll("mark[data-a]")) {
      if (mark.dataset.a.split(" ").some(wanted)) mark.classList.add("linked");
    }
  };
  for (const root of document.querySelectorAll("[data-note]")) {
    const over = (event) => {
      const mark = event.target.closest("mark[data-a]");
      const row = event.target.closest("[data-f]");
      if (mark) {
        const own = new Set(mark.dataset.a.split(" "));
        link(root, (token) => own.has(token));
      } else if (row) {
        link(root, (token) => token.match(/^\d+/)[0] === row.dataset.f);
        row.classList.add("linked");
      } else {
        clear(root);
      }
    };
    root.addEventListener("mouseover", over);
    root.addEventListener("focusin", over);
    root.addEventListener("mouseleave", () => clear(root));
  }

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.printed:not([open])")];
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
})();
