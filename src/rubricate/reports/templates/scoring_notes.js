"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const index = JSON.parse(byId("index").textContent);
  const { notes, cases, size } = index;
  const ID = 0, CASE = 1, SCORE = 2, MOST = 3, BITS = 4, REVIEW = 5, FLAGS = 6;
  const FLAG = { corrected: 1, changed: 2, copied: 4, gaming: 8, failed: 16, unlike: 32 };
  const NAME = { unlike: "does not read like a note" };
  const PAGE = 100, LANES = 4, COLOURS = 8, LONG = 90;
  const mine = rubricateDecisions(index.run), selection = rubricateSelection(byId("text"));
  let items = [];
  const place = new Map();
  notes.forEach((note, i) => { if (!place.has(note[ID])) place.set(note[ID], i); });

  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const percent = (note) => note[MOST] > 0 ? 100 * note[SCORE] / note[MOST] : NaN;
  const points = (note) => note[SCORE] === null ? "not scored" : `${note[SCORE]} of ${note[MOST]}`;

  /* Filters */
  const field = Object.fromEntries(["search", "case", "show", "low", "high", "feature", "order"].map((n) => [n, byId(n)]));
  let shown = [], page = 0, current = -1, active = -1;

  cases.forEach((one, i) => field.case.append(make("option", { value: i }, one.title)));
  const listFeatures = () => {
    const one = field.case.value === "" ? null : cases[Number(field.case.value)];
    const before = field.feature.value;
    field.feature.replaceChildren(make("option", { value: "" }, "any"));
    byId("feature-label").hidden = !one;
    (one ? one.features : []).forEach((feature, i) => {
      field.feature.append(make("option", { value: `${i} 1` }, `${i + 1} stated: ${feature[1]}`));
      field.feature.append(make("option", { value: `${i} 0` }, `${i + 1} not stated: ${feature[1]}`));
      field.feature.append(make("option", { value: `${i} 2` }, `${i + 1} contradicted: ${feature[1]}`));
    });
    if ([...field.feature.options].some((option) => option.value === before)) field.feature.value = before;
  };
  const matches = () => {
    const wanted = field.search.value.trim().toLowerCase();
    const [feature, state] = field.feature.value.split(" ");
    const low = field.low.value === "" ? -Infinity : Number(field.low.value);
    const high = field.high.value === "" ? Infinity : Number(field.high.value);
    const show = field.show.value;
    const keep = (note) => {
      if (wanted && !note[ID].toLowerCase().includes(wanted)) return false;
      if (field.case.value !== "" && note[CASE] !== Number(field.case.value)) return false;
      const bit = feature ? note[BITS][Number(feature)] : "";
      // A contradicted feature is not stated either.
      if (feature && bit !== state && !(state === "0" && bit === "2")) return false;
      if (low !== -Infinity && !(percent(note) >= low - 1e-9)) return false;
      if (high !== Infinity && !(percent(note) <= high + 1e-9)) return false;
      if (show === "mine") return mine.count(note[ID]) > 0;
      if (show === "contradicted") return note[BITS].includes("2");
      if (show === "review") return note[REVIEW] > 0;
      if (show === "clear") return note[REVIEW] === 0 && !(note[FLAGS] & FLAG.failed);
      return !show || Boolean(note[FLAGS] & FLAG[show]);
    };
    const found = [];
    notes.forEach((note, i) => { if (keep(note)) found.push(i); });
    const key = { low: (n) => percent(n), high: (n) => -percent(n), review: (n) => -n[REVIEW] }[field.order.value];
    if (key) {
      const value = (i) => { const k = key(notes[i]); return Number.isNaN(k) ? Infinity : k; };
      found.sort((a, b) => (value(a) - value(b)) || a - b);
    }
    return found;
  };
  const link = (i) => {
    const note = notes[i];
    const more = [cases[note[CASE]].title];
    if (note[REVIEW]) more.push(`${note[REVIEW]} to review`);
    const own = mine.count(note[ID]);
    if (own) more.push(`${own} decided here`);
    for (const [name, flag] of Object.entries(FLAG)) if (note[FLAGS] & flag && name !== "failed") more.push(NAME[name] || name);
    if (note[BITS].includes("2")) more.push("contradicts");
    return make("li", {}, make("a", { href: `#n=${encodeURIComponent(note[ID])}`, "data-i": i, "aria-current": i === current ? "true" : null },
      make("span", { class: "id" }, note[ID]), make("span", { class: "points" }, points(note)),
      make("span", { class: "more" }, more.join(" · "))));
  };
  const drawList = () => {
    const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
    page = Math.min(Math.max(page, 0), last);
    byId("list").replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(link));
    byId("count").textContent = `${shown.length.toLocaleString("en")} of ${notes.length.toLocaleString("en")} notes`;
    byId("page").textContent = last ? `${page + 1} of ${last + 1}` : "";
    byId("less").disabled = page === 0;
    byId("more").disabled = page === last;
    drawSteps();
  };
  const drawSteps = () => {
    const at = shown.indexOf(current);
    byId("previous").disabled = at <= 0;
    byId("next").disabled = shown.length === 0 || at === shown.length - 1;
  };
  const refilter = () => { listFeatures(); shown = matches(); page = 0; drawList(); };

  /* Notes come in files of their own, loaded when one of them is looked at: fetch() does not work from a file */
  const chunks = new Map(), waiting = new Map();
  globalThis.rubricateChunk = (number, content) => {
    chunks.set(number, content);
    (waiting.get(number) || []).forEach((then) => then());
    waiting.delete(number);
  };
  const withNote = (i, then) => {
    const number = Math.floor(i / size);
    const go = () => then(chunks.get(number)[i % size]);
    if (chunks.has(number)) { go(); return; }
    if (waiting.has(number)) { waiting.get(number).push(go); return; }
    waiting.set(number, [go]);
    const script = make("script", { src: `notes/${String(number).padStart(4, "0")}.js` });
    script.addEventListener("error", () => {
      waiting.delete(number);
      byId("summary").textContent = "The text of this note could not be loaded. Keep the folder “report” beside report.html.";
    });
    document.head.append(script);
  };

  /* Evidence */
  const parse = (spans) => spans ? spans.split("|").map((one) => one.split(";").map((part) => part.split(" ").map(Number))) : [];
  const cut = (length, items) => {
    const edges = new Set([0, length]);
    items.forEach((item) => item.marked.forEach((one) => one.forEach(([s, e]) => { edges.add(s); edges.add(Math.min(e, length)); })));
    const ordered = [...edges].sort((a, b) => a - b);
    const pieces = ordered.slice(0, -1).map((start, k) => ({ start, end: ordered[k + 1], held: [], badges: [] }));
    const at = new Map(pieces.map((piece, k) => [piece.start, k]));
    items.forEach((item, number) => item.marked.forEach((one) => one.forEach(([s, e], part) => {
      for (let k = at.get(s); k < pieces.length && pieces[k].start < e; k += 1) {
        if (!pieces[k].held.includes(number)) pieces[k].held.push(number);
      }
      const badge = `${part ? "…" : ""}${number + 1}${part < one.length - 1 ? "…" : ""}`;
      if (at.has(s) && !pieces[at.get(s)].badges.includes(badge)) pieces[at.get(s)].badges.push(badge);
    })));
    return pieces;
  };
  const withLanes = (pieces) => {
    let held = new Map();
    pieces.forEach((piece) => {
      held = new Map([...held].filter(([number]) => piece.held.includes(number)));
      piece.held.sort((a, b) => a - b).forEach((number) => {
        if (held.has(number)) return;
        const taken = new Set(held.values());
        let lane = 0;
        while (taken.has(lane)) lane += 1;
        held.set(number, lane);
      });
      piece.lanes = new Map(held);
    });
    return pieces;
  };
  const words = (letters, start, end) => {
    const parts = [];
    let run = "";
    for (let k = start; k < end; k += 1) {
      run += letters[k];
      if (letters[k] === "\r" && letters[k + 1] !== "\n") { parts.push(run, make("br", {})); run = ""; }
    }
    return run ? [...parts, run] : parts;
  };
  const drawText = (text, items, features) => {
    const letters = Array.from(text);
    const box = byId("text");
    box.replaceChildren(...withLanes(cut(letters.length, items)).flatMap((piece) => {
      let inside = words(letters, piece.start, piece.end);
      if (!piece.held.length) return inside;
      const order = [...piece.held].sort((a, b) => piece.lanes.get(a) - piece.lanes.get(b));
      const style = (number) => `ev c${number % COLOURS} l${Math.min(piece.lanes.get(number), LANES - 1)}${items[number].ask ? " asked" : ""}${items[number].against.length ? " against" : ""}`;
      order.slice(1).reverse().forEach((number) => { inside = [make("span", { class: style(number) }, ...inside)]; });
      return [make("mark", {
        class: style(order[0]), "data-f": piece.held.join(" "), "data-n": piece.badges.length ? piece.badges.join(" ") : null,
        title: piece.held.map((number) => `${number + 1} ${items[number].against.length ? "contradicts: " : ""}${features[number][1]}`).join("\n"),
      }, ...inside)];
    }));
    box.hidden = false;
  };
  const plain = (value) => String(value).replace("-", "−");
  const unit = (weight) => `${plain(weight)} ${Math.abs(weight) === 1 ? "point" : "points"}`;
  const worth = (number, features, points) => {
    const [, , weight, group] = features[number], { found } = items[number];
    const once = group ? `; group “${group}” counts once` : "";
    if (found === null) return `– of ${unit(weight)}${once}`;
    if (weight < 0) return found ? `${unit(weight)}: a penalty` : `no penalty (${unit(weight)})`;
    if (!group || !found || points[number]) return `${plain(points[number])} of ${unit(weight)}${once}`;
    const counts = features.findIndex((other, i) => other[3] === group && points[i]);
    return `0 of ${unit(weight)}${once}: by feature ${counts + 1}`;
  };
  const folded = (text, name) => {
    if (text.length <= LONG) return make("span", { class: name }, text);
    const cutAt = text.lastIndexOf(" ", LONG - 20) > 30 ? text.lastIndexOf(" ", LONG - 20) : LONG - 20;
    return make("details", { class: name }, make("summary", {}, `${text.slice(0, cutAt)} …`), text.slice(cutAt));
  };
  const stateOf = (item) => {
    if (item.found === null) return "? undecided";
    const said = item.found ? "✓ stated" : item.against.length ? "✗ contradicted" : "– not mentioned";
    if (item.own) return `${said} · by you`;
    if (item.by) return `${said} · by hand`;
    return item.sure === null ? said : `${said} · ${Math.round(100 * item.sure)} % sure`;
  };
  const drawFeatures = (features) => {
    const points = rubricateScores.points(features, items.map((item) => item.found));
    byId("features").replaceChildren(...items.map((item, number) => {
      const against = item.against.length > 0;
      const parts = [
        make("span", { class: item.marked.length ? `n c${number % COLOURS}` : "n" }, String(number + 1)),
        make("span", {}, features[number][1]),
        make("span", { class: item.found ? "state" : against ? "state otherwise" : "state absent" }, stateOf(item)),
        make("span", { class: `worth${points[number] ? " counts" : ""}` }, worth(number, features, points)),
      ];
      if (against && item.said) parts.push(folded(`Contradicted: ${item.said}`, "why"));
      if (item.own) {
        const where = item.own.spans ? `, ${item.own.spans.split("|").length === 1 ? "words" : `${item.own.spans.split("|").length} places`} marked` : "";
        parts.push(make("span", { class: "own" }, `Decided here by ${item.own.by}${where}${item.own.comment ? `: ${item.own.comment}` : ""}. Not in the scores yet.`));
      } else if (item.by) {
        parts.push(make("span", { class: "why" }, `Decided by ${item.by}${item.when ? `, ${item.when.replace("T", " ")}` : ""}${item.comment ? `: ${item.comment}` : ""}`));
      }
      if (item.reason && !item.own && !item.by) parts.push(folded(item.reason, "why"));
      if (item.ask && !item.own && item.found !== null) parts.push(folded(`Review: ${item.ask}`, "ask"));
      return make("li", { "data-f": number, id: `f${number}`, tabindex: "-1", class: item.own ? "mine" : null }, ...parts);
    }));
    const note = notes[current], decided = items.every((item) => item.found !== null);
    const parts = points.filter((one) => one !== 0), sum = rubricateScores.sum(points);
    const total = rubricateScores.total(points, cases[note[CASE]].floor);
    const most = note[MOST] ?? rubricateScores.most(features);
    const added = parts.map((one, i) => (one < 0 ? (i ? ` − ${-one}` : `−${-one}`) : (i ? ` + ${one}` : String(one)))).join("");
    const said = parts.length > 1 ? `${added} = ` : "";
    const raised = total === sum ? "" : `${said}${plain(sum)}; no score is below 0: `;
    const differs = note[SCORE] !== null && total !== note[SCORE];
    const own = items.some((item) => item.own);
    byId("sum").replaceChildren(...(!items.length ? [] : !decided ? ["There is no sum, because some features are undecided."] : [
      make("strong", {}, `${raised || said}${plain(total)} of ${most} points`),
      differs ? (own ? ` with your decisions; the run says ${note[SCORE]}.` : ` here; the table says ${note[SCORE]}.`) : own && note[SCORE] === null ? " with your decisions." : "",
    ]));
  };
  const drawReview = () => {
    const item = items[active], feature = item && cases[notes[current][CASE]].features[active];
    byId("review-item").textContent = item ? `${active + 1} ${feature[1]}: ${stateOf(item).replace(/^\S+ /, "")}` : "Choose a feature to review it.";
    const said = (found) => (found ? "stated" : "not stated");
    const open = item && item.found === null;
    byId("accept").textContent = !item ? "Accept" : open ? "Stated" : `Accept: ${said(item.found)}`;
    byId("reject").textContent = !item ? "Reject" : open ? "Not stated" : `Reject: ${said(!item.found)}`;
    for (const id of ["accept", "reject", "mark"]) byId(id).disabled = !item;
    byId("undo").disabled = !item?.own;
    byId("save").disabled = mine.size === 0;
    const where = mine.kept ? "kept in this browser" : "not kept: save before you close the page";
    byId("review-state").textContent = mine.size ? `${mine.size} ${mine.size === 1 ? "decision" : "decisions"}, ${where}` : "";
  };
  const choose = (number, { scroll = true } = {}) => {
    active = number;
    byId("features").querySelectorAll("li").forEach((li) => {
      if (Number(li.dataset.f) === number) li.setAttribute("aria-current", "true"); else li.removeAttribute("aria-current");
    });
    let first = null;
    byId("text").querySelectorAll("mark").forEach((mark) => {
      const on = mark.dataset.f.split(" ").includes(String(number));
      mark.classList.toggle("on", on);
      if (on && !first) first = mark;
    });
    byId("why").value = items[number]?.own?.comment ?? "";
    drawReview();
    if (!scroll) return;
    // At once: of two smooth scrolls the second stops the first.
    byId(`f${number}`)?.scrollIntoView({ block: "nearest", behavior: "instant" });
    first?.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const draw = (i, then) => {
    const note = notes[i];
    byId("note-title").textContent = `Note ${note[ID]}`;
    document.title = `${note[ID]} – ${index.title}`;
    byId("remarks").replaceChildren();
    byId("features").replaceChildren();
    byId("sum").replaceChildren();
    byId("text").hidden = true;
    items = [];
    active = -1;
    selection.forget();
    drawReview();
    byId("summary").textContent = "Loading …";
    withNote(i, ([text, rows, remarks]) => {
      if (i !== current) return;
      rowsOfNote = rows;
      textOfNote = text;
      byId("remarks").replaceChildren(...remarks.map((remark) => make("li", {}, remark)));
      redraw();
      document.body.dataset.note = note[ID];
      then?.();
    });
  };
  let rowsOfNote = [], textOfNote = "";
  const redraw = () => {
    const note = notes[current], one = cases[note[CASE]];
    items = rowsOfNote.map(([found, sure, spans, reason, ask, by, when, comment, against, said], number) => {
      const own = ownDecision(note[ID], one.features[number][0], when);
      const decided = own ? own.found : found === null ? null : found === 1;
      const kept = own && own.found && own.spans === null && found === 1;
      const words = own && !kept ? (own.found ? parse(own.spans ?? "") : []) : parse(spans);
      const other = decided ? [] : parse(against);
      return { found: decided, sure, marked: [...words, ...other], against: other, said, reason, ask, by, when, comment, own, before: found === null ? null : found === 1 };
    });
    const parts = [one.title];
    if (note[SCORE] !== null) parts.push(`${points(note)} points${note[MOST] > 0 ? ` (${percent(note).toFixed(0)} %)` : ""}`);
    const undecided = items.filter((item) => item.found === null).length;
    if (items.length > undecided) parts.push(`${items.filter((item) => item.found).length} of ${items.length} features stated`);
    if (undecided) parts.push(`${undecided} of ${items.length} features undecided`);
    const against = items.filter((item) => item.found === false && item.against.length).length;
    if (against) parts.push(`${against} contradicted`);
    const asked = items.filter((item) => item.ask && !item.own).length;
    if (asked) parts.push(`${asked} to review`);
    byId("summary").textContent = parts.join(" · ");
    drawText(textOfNote, items, one.features);
    drawFeatures(one.features);
    if (active >= 0) choose(active, { scroll: false }); else drawReview();
  };

  /* Decisions */
  const ownDecision = (note, feature, when) => {
    const own = mine.get(note, feature);
    // What was handed in since is in the run, or a later decision is.
    return own && !(when && (Date.parse(when) >= Date.parse(own.at) || when === own.at)) ? own : null;
  };
  const decide = (found, spans) => {
    if (active < 0) return;
    if (!byId("by").value.trim()) {
      byId("review-state").textContent = "Write your name first, then decide.";
      byId("by").focus();
      return;
    }
    const note = notes[current], feature = cases[note[CASE]].features[active][0];
    mine.by = byId("by").value.trim();
    mine.set(note[ID], feature, { found, spans, by: mine.by, at: new Date().toISOString().replace(/\.\d+/, ""), comment: byId("why").value.trim() });
    redraw();
    drawList();
  };
  const accept = () => { const item = items[active]; if (item) decide(item.found === null ? true : item.found, item.own?.spans ?? null); };
  const reject = () => { const item = items[active]; if (item) decide(item.found === null ? false : !item.found, null); };
  const mark = () => {
    const item = items[active], span = selection.take();
    if (!item) return;
    if (!span) { byId("review-state").textContent = "Select the words in the note first."; return; }
    const before = item.own?.found && item.own.spans ? item.own.spans.split("|") : [];
    decide(true, [...before, span.join(" ")].join("|"));
  };
  const undo = () => {
    if (!items[active]?.own) return;
    mine.remove(notes[current][ID], cases[notes[current][CASE]].features[active][0]);
    redraw();
    drawList();
  };
  const save = () => {
    if (!mine.size) return;
    const address = URL.createObjectURL(new Blob([mine.csv()], { type: "text/csv" }));
    make("a", { href: address, download: "corrections.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    drawReview();
    byId("review-state").textContent = `Saved ${mine.size} as corrections.csv. Run the command again with --corrections corrections.csv.`;
  };
  const nextToReview = () => {
    const isOpen = (item) => item.ask && !item.own;
    const here = items.findIndex((item, number) => number > active && isOpen(item));
    if (here >= 0) { choose(here); return; }
    const at = shown.indexOf(current), next = shown.slice(at + 1).find((i) => notes[i][REVIEW] > mine.count(notes[i][ID]));
    if (next !== undefined) go(next, { then: () => choose(items.findIndex(isOpen)) });
  };
  const go = (i, { push = true, then = null } = {}) => {
    if (i === undefined || i < 0 || i >= notes.length) return;
    current = i;
    const at = shown.indexOf(i);
    if (at >= 0 && Math.floor(at / PAGE) !== page) { page = Math.floor(at / PAGE); drawList(); }
    byId("list").querySelectorAll("a").forEach((a) => {
      if (Number(a.dataset.i) === i) { a.setAttribute("aria-current", "true"); a.scrollIntoView({ block: "nearest" }); } else a.removeAttribute("aria-current");
    });
    drawSteps();
    if (push) history.replaceState(null, "", `#n=${encodeURIComponent(notes[i][ID])}`);
    draw(i, then);
  };
  const step = (by) => {
    const at = shown.indexOf(current);
    go(at < 0 ? shown[0] : shown[Math.min(Math.max(at + by, 0), shown.length - 1)]);
  };
  const stepFeature = (by) => {
    const n = byId("features").children.length;
    if (n) choose(active < 0 ? (by > 0 ? 0 : n - 1) : (active + by + n) % n);
  };

  /* Events */
  byId("filters").addEventListener("input", refilter);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(refilter));
  byId("less").addEventListener("click", () => { page -= 1; drawList(); });
  byId("more").addEventListener("click", () => { page += 1; drawList(); });
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("list").addEventListener("click", (event) => {
    const a = event.target.closest("a");
    if (!a) return;
    event.preventDefault();
    go(Number(a.dataset.i));
  });
  byId("features").addEventListener("click", (event) => {
    const li = event.target.closest("li");
    if (li && !event.target.closest("summary")) choose(Number(li.dataset.f));
  });
  byId("text").addEventListener("click", (event) => {
    const at = event.target.closest("mark");
    if (!at || !getSelection().isCollapsed) return;
    const held = at.dataset.f.split(" ").map(Number);
    choose(held[(held.indexOf(active) + 1) % held.length]);
  });
  const walk = (by, extend) => selection.step(by, extend, items[active]?.marked[0]?.[0][0] ?? 0);
  for (const [id, action] of Object.entries({ accept, reject, mark, undo, save })) {
    // The selection stays where it is.
    byId(id).addEventListener("mousedown", (event) => event.preventDefault());
    byId(id).addEventListener("click", action);
  }
  byId("by").value = mine.by;
  byId("by").addEventListener("change", () => { mine.by = byId("by").value.trim(); drawReview(); });
  byId("why").addEventListener("change", () => {
    const item = items[active];
    if (item?.own) decide(item.found, item.own.spans);
  });
  addEventListener("storage", () => { mine.reload(); if (current >= 0 && items.length) redraw(); drawList(); });
  addEventListener("beforeunload", (event) => { if (!mine.kept && mine.unsaved) event.preventDefault(); });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const actions = {
      j: () => stepFeature(1), ArrowDown: () => stepFeature(1), k: () => stepFeature(-1), ArrowUp: () => stepFeature(-1),
      n: () => step(1), p: () => step(-1), "/": () => field.search.focus(),
      a: accept, x: reject, m: mark, u: undo, s: save, r: nextToReview,
      ArrowRight: () => walk(1, event.shiftKey), ArrowLeft: () => walk(-1, event.shiftKey),
    };
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  const fromAddress = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    const title = asked.get("case");
    if (title !== null) field.case.value = String(cases.findIndex((one) => one.case === title));
    listFeatures();
    for (const name of ["show", "order", "low", "high", "feature"]) if (asked.has(name)) field[name].value = asked.get(name);
    refilter();
    const wanted = asked.has("n") ? place.get(asked.get("n")) : shown[0];
    go(wanted, { push: asked.has("n") });
  };
  addEventListener("hashchange", fromAddress);
  byId("finder").open = !matchMedia("(max-width: 52rem)").matches;
  fromAddress();
})();
