"use strict";
/* What a person decides on the page: kept in the browser and saved as corrections.csv; no server takes part. */
const rubricateScores = {
  /* A group counts once: by its heaviest member that was found, the first of them. */
  points: (features, found) => {
    const best = new Map();
    features.forEach(([, , weight, group], i) => {
      if (!found[i]) return;
      const key = group ? `group ${group}` : `feature ${i}`;
      if (!best.has(key) || weight > features[best.get(key)][2]) best.set(key, i);
    });
    const counted = new Set(best.values());
    return features.map((feature, i) => (counted.has(i) ? feature[2] : 0));
  },
  most: (features) => {
    const most = new Map();
    features.forEach(([, , weight, group], i) => {
      const key = group ? `group ${group}` : `feature ${i}`;
      most.set(key, Math.max(most.get(key) ?? 0, weight));
    });
    return rubricateScores.sum([...most.values()]);
  },
  sum: (values) => Number(values.reduce((a, b) => a + b, 0).toFixed(10)),
  /* Penalties take a score down to 0 and no further, unless the rubric has no floor. */
  total: (points, floor) => (floor ? Math.max(0, rubricateScores.sum(points)) : rubricateScores.sum(points)),
};

const rubricateDecisions = (run) => {
  const KEY = `rubricate decisions ${run}`, NAME = "rubricate reviewer";
  let held = new Map(), kept = true, unsaved = 0;
  const key = (note, feature) => JSON.stringify([note, feature]);
  const read = (name) => { try { return JSON.parse(localStorage.getItem(name)); } catch { kept = false; return null; } };
  const write = (name, value) => { try { localStorage.setItem(name, JSON.stringify(value)); kept = true; } catch { kept = false; } };
  const load = () => { const stored = read(KEY); if (Array.isArray(stored)) held = new Map(stored); };
  // Another tab may have decided since: what is stored is read first.
  const change = (how) => { load(); how(held); unsaved += 1; write(KEY, [...held]); };
  load();
  let name = read(NAME);
  name = typeof name === "string" ? name : "";
  const cell = (value) => {
    const text = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return {
    get: (note, feature) => held.get(key(note, feature)),
    set: (note, feature, decision) => change((all) => all.set(key(note, feature), decision)),
    remove: (note, feature) => change((all) => all.delete(key(note, feature))),
    count: (note) => [...held.keys()].filter((one) => JSON.parse(one)[0] === note).length,
    get size() { return held.size; },
    get kept() { return kept; },
    get unsaved() { return unsaved > 0; },
    get by() { return name; },
    set by(value) { name = value; write(NAME, value); },
    reload: load,
    csv: () => {
      unsaved = 0;
      const rows = [...held].map(([one, { found, spans, by, at, comment }]) =>
        [...JSON.parse(one), found ? "yes" : "no", found ? spans ?? "" : "", by, at, comment].map(cell).join(","));
      return `\ufeff${["note,feature,found,spans,by,at,comment", ...rows].join("\r\n")}\r\n`;
    },
  };
};

/* The words selected in the note, as half-open code points; by mouse, by touch, or word by word with the keyboard. */
const rubricateSelection = (box) => {
  let last = null;
  const length = (text) => Array.from(text).length;
  const current = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!box.contains(range.commonAncestorContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(box);
    before.setEnd(range.startContainer, range.startOffset);
    const text = range.toString(), words = text.trim();
    if (!words) return null;
    const start = length(before.toString()) + length(text) - length(text.trimStart());
    return [start, start + length(words)];
  };
  const point = (units) => {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode(), left = units;
    while (node && left > node.data.length) { left -= node.data.length; node = walker.nextNode(); }
    return node ? [node, left] : [box, 0];
  };
  const select = (start, end) => getSelection().setBaseAndExtent(...point(start), ...point(end));
  // A tap on a button takes the selection away on a phone: what was selected last is kept.
  document.addEventListener("selectionchange", () => { last = current() ?? last; });
  return {
    take: () => { const found = current() ?? last; last = null; getSelection().removeAllRanges(); return found; },
    forget: () => { last = null; getSelection().removeAllRanges(); },
    /* Move to the next or previous word, or with `extend` let the selection grow or shrink by one at its end. */
    step: (by, extend, from) => {
      const text = box.textContent;
      const words = [...text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)].map((m) => [m.index, m.index + m[0].length]);
      if (!words.length) return;
      const held = current();
      const units = (points) => Array.from(text).slice(0, points).join("").length;
      const [start, end] = held ? held.map(units) : [units(from), units(from)];
      const first = words.findIndex((word) => word[1] > start);
      const final = held ? words.findLastIndex((word) => word[0] < end) : first;
      const clamp = (i) => Math.min(Math.max(i, 0), words.length - 1);
      if (!held) select(...words[clamp(first)]);
      else if (extend) select(words[first][0], words[Math.max(clamp(final + by), first)][1]);
      else select(...words[clamp((by > 0 ? final : first) + by)]);
      getSelection().focusNode.parentElement?.scrollIntoView({ block: "nearest" });
    },
  };
};
