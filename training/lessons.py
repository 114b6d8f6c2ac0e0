"""Batches of drawn notes as arrays, alike in length, made by worker processes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from compose import Composer, Row
from note_sets import CONTRA, STATED, UNSAID, Spans
from tokenizers import Tokenizer

WINDOW, NOBODY = 448, -1
CLS, SEP, PAD, MASK = 101, 102, 0, 103
#: Notes that a worker draws before it sorts them by length, and the fewest notes of a batch.
DRAWN, FEWEST = 360, 3
#: The most notes of a batch: short ones would else take few steps.
MOST = 28

Array = np.ndarray[Any, Any]
#: Pieces of a note; of each row the pieces of its feature and what is to be learned of it; whether
#: the note has its usual style.
Item = tuple[Array, list[tuple[Any, ...]], bool]
Batch = dict[str, Any]


class Cutter:
    """Cuts notes and features into pieces."""

    def __init__(self, path: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.cache: dict[str, Array] = {}

    def note(self, text: str) -> tuple[Array, Array, Array]:
        """Return the pieces of a note and where each starts and ends."""
        found = self.tokenizer.encode(text, add_special_tokens=False)
        offsets = np.array(found.offsets, np.int64).reshape(-1, 2)
        return np.array(found.ids, np.int64), offsets[:, 0], offsets[:, 1]

    def feature(self, text: str) -> Array:
        """Return the pieces of a feature."""
        got = self.cache.get(text)
        if got is None:
            ids = self.tokenizer.encode(text, add_special_tokens=False).ids
            got = np.array(ids[:60], np.int64)
            if len(self.cache) < 60000:
                self.cache[text] = got
        return got


def marked(spans: Spans, start: Array, end: Array, length: int) -> Array:
    """Return a mask of the pieces that have half of their characters or more inside the spans."""
    inside = np.zeros(length + 1, np.int64)
    for a, z in spans:
        inside[a:z] = 1
    before = np.zeros(length + 1, np.int64)
    np.cumsum(inside[:-1], out=before[1:])
    return (before[end] - before[start]) * 2 >= np.maximum(end - start, 1)


def prepared(
    cutter: Cutter,
    text: str,
    rows: list[Row],
    rng: np.random.Generator | None = None,
    mask: float = 0.0,
    loose: bool = False,
    usual: bool = True,
) -> Item:
    """Return the pieces of a note (of a long one a window) and what each row is to teach.

    Of a `loose` note nothing is learned of which words of its generous spans matter.
    """
    ids, start, end = cutter.note(text)
    first = 0
    if len(ids) > WINDOW and rng is not None:
        first = int(rng.integers(0, len(ids) - WINDOW + 1))
    own = slice(first, first + WINDOW)
    ids, start, end = ids[own], start[own], end[own]
    whole = first == 0 and bool(start.size) and end[-1] >= len(text.rstrip()) - 1
    out = []
    for f, outcome, spans, against, soft in rows:
        nowhere = np.zeros(len(ids), bool)
        hit = marked(spans, start, end, len(text)) if spans else nowhere
        con = marked(against, start, end, len(text)) if against else nowhere
        present = bool(hit.any())
        seen = bool(con.any()) or (against is None and whole)
        contra, place = _contradiction(outcome, present, seen, against is not None)
        out.append((cutter.feature(f), hit, con, present, contra, place, soft, loose))
    if rng is not None and mask:
        ids = np.where(rng.random(len(ids)) < mask, MASK, ids)
    return ids, out, usual


def _contradiction(outcome: int, present: bool, seen: bool, placed: bool) -> tuple[int, int]:
    """Return the labels of contradiction (-1: not known) and a mask of the known places."""
    if outcome == CONTRA:
        return (1 if seen else 0 if placed else -1), int(placed)
    if outcome == STATED:
        return (0 if present else -1), 0
    return (0, 1) if outcome == UNSAID else (-1, 0)


def batch(items: list[Item]) -> Batch:
    """Return the items as arrays; ``F`` is how many rows there are at most."""
    b = _empty(items)
    for k, (ids, rows, usual) in enumerate(items):
        n = len(ids)
        b["usual"][k] = usual
        b["note"][k, 0] = CLS
        b["note"][k, 1 : n + 1] = ids
        b["note"][k, n + 1] = SEP
        b["length"][k] = n + 2
        at = 0
        for i, (f, hit, con, _, contra, place, soft, loose) in enumerate(rows):
            end = at + len(f)
            b["feature"][k, at:end] = f
            b["feature"][k, end] = SEP
            b["owner"][k, at : end + 1] = i
            b["position"][k, at : end + 1] = np.arange(len(f) + 1)
            at = end + 1
            b["target"][k, i, 1 : n + 1] = hit
            b["con"][k, i, 1 : n + 1] = con
            b["judged"][k, i] = True
            b["contra"][k, i] = contra
            b["place"][k, i] = place
            b["soft"][k, i] = soft
            b["loose"][k, i] = loose
    return b


def _empty(items: list[Item]) -> Batch:
    """Return arrays large enough for the items."""
    count = len(items)
    long = max(len(ids) for ids, _, _ in items) + 2
    long = -(-long // 16) * 16
    wide = max(sum(len(row[0]) + 1 for row in rows) for _, rows, _ in items)
    wide += (-(long + wide)) % 16
    most = max(len(rows) for _, rows, _ in items)
    return {
        "note": np.full((count, long), PAD, np.int64),
        "length": np.zeros(count, np.int64),
        "feature": np.full((count, wide), PAD, np.int64),
        "owner": np.full((count, wide), NOBODY, np.int64),
        "position": np.zeros((count, wide), np.int64),
        "target": np.zeros((count, most, long), bool),
        "con": np.zeros((count, most, long), bool),
        "judged": np.zeros((count, most), bool),
        "contra": np.full((count, most), -1, np.int8),
        "place": np.zeros((count, most), bool),
        "soft": np.zeros((count, most), bool),
        "loose": np.zeros((count, most), bool),
        "usual": np.zeros(count, bool),
        "F": most,
    }


def size(item: Item) -> int:
    """Return the number of places that an item takes."""
    return len(item[0]) + 2 + sum(len(row[0]) + 1 for row in item[1])


def grouped(items: list[Item], budget: int) -> list[list[Item]]:
    """Return the items, sorted by length, in groups of at most so many places."""
    groups, now, most = [], [], 0
    for item in sorted(items, key=size):
        m = max(most, size(item))
        if now and (m * (len(now) + 1) > budget or len(now) >= MOST):
            groups.append(now)
            now, m = [], size(item)
        now.append(item)
        most = m
    return [*groups, now]


def stream(
    make_composer: Callable[[int], Composer],
    tokenizer: Path,
    seed: int,
    budget: int,
    queue: Any,
    mask: float = 0.05,
) -> None:
    """Put batches of drawn notes into the queue, for ever: the work of one process."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    composer, cutter, rng = make_composer(seed), Cutter(tokenizer), np.random.default_rng(seed)
    while True:
        items = []
        for _ in range(DRAWN):
            try:
                text, rows, loose, usual = composer.draw()
                item = prepared(cutter, text, rows, rng, mask, loose, usual)
                if len(item[0]) and item[1]:
                    items.append(item)
            except Exception as error:  # a bad draw must not stop a run
                queue.put(("error", repr(error)))
        groups = grouped(items, budget)
        random.Random(int(rng.integers(1 << 30))).shuffle(groups)
        for group in groups:
            if len(group) >= FEWEST:
                queue.put(("batch", batch(group)))
