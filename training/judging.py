"""Outputs of a network for whole notes, and their figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from learner import say, tensors
from lessons import WINDOW, Array, Cutter, batch, size
from net import Network
from note_sets import CONTRA, Note

#: Pieces that two windows of a long note share.
SHARED = 96


class Judged(NamedTuple):
    """A network's outputs for a note: probabilities by row, or by row and piece."""

    inside: Array
    presence: Array
    contra: Array
    against: Array
    edges: Array


def windows(n: int) -> list[int]:
    """Return the starts of the windows of a note with this many pieces."""
    if n <= WINDOW:
        return [0]
    count = -(-(n - SHARED) // (WINDOW - SHARED))
    return [round((n - WINDOW) * k / (count - 1)) for k in range(count)]


@torch.no_grad()
def judge(net: Network, notes: list[Note], cutter: Cutter, budget: int = 60000) -> list[Judged]:
    """Return the network's outputs for each note; of a long note the highest over its windows."""
    net.eval()
    items: list[Any] = []
    out = []
    for i, note in enumerate(notes):
        ids = cutter.note(note["text"])[0]
        features = [cutter.feature(row[0]) for row in note["rows"]]
        rows, total = len(features), len(ids)
        shapes = ((rows, total), rows, rows, (rows, total), (rows, total, 2))
        out.append(Judged(*(np.zeros(shape) for shape in shapes)))
        for first in windows(total):
            own = ids[first : first + WINDOW]
            no = np.zeros(len(own), bool)
            items.append(
                (own, [(f, no, no, False, -1, 0, False, False) for f in features], i, first)
            )
    items.sort(key=size)
    groups: list[list[Any]] = [[]]
    for item in items:
        if groups[-1] and size(item) * (len(groups[-1]) + 1) > budget:
            groups.append([])
        groups[-1].append(item)
    for group in groups if items else []:
        b = batch([(*item[:2], True) for item in group])
        pieces, verdict = (x.float().sigmoid().cpu().numpy() for x in say(net, tensors(b), b["F"]))
        for k, (ids, rows, i, first) in enumerate(group):
            own, n = slice(first, first + len(ids)), len(rows)
            said = pieces[k, :n, 1 : 1 + len(ids)]
            for whole, part in (
                (out[i].inside[:, own], said[..., 0]),
                (out[i].against[:, own], said[..., 3]),
                (out[i].edges[:, own], said[..., 1:3]),
                (out[i].presence, verdict[k, :n, 0]),
                (out[i].contra, verdict[k, :n, 1]),
            ):
                np.maximum(whole, part, out=whole)
    return out


def characters(said: Array, start: Array, end: Array, length: int) -> Array:
    """Return the marked characters of a note: those of the likely pieces."""
    marked = np.zeros(length, bool)
    inside = said >= 0.5
    if not inside.any():
        inside = said >= 0.5 * said.max()
    for j in np.flatnonzero(inside):
        marked[start[j] : end[j]] = True
        if j + 1 < len(start) and inside[j + 1]:
            marked[end[j] : start[j + 1]] = True
    return marked


def figures(net: Network, notes: list[Note], cutter: Cutter, at: float = 0.5) -> dict[str, Any]:
    """Return F1 of characters and of presence, and how often what is absent is credited."""
    both = mine = reference = 0
    rows = []
    for note, said in zip(notes, judge(net, notes, cutter), strict=True):
        _, start, end = cutter.note(note["text"])
        for k, (_, outcome, spans, _) in enumerate(note["rows"]):
            ref = np.zeros(len(note["text"]), bool)
            for a, z in spans:
                ref[a:z] = True
            pre = np.zeros_like(ref)
            if said.presence[k] >= at and len(start):
                pre = characters(said.inside[k], start, end, len(ref))
            both += int((ref & pre).sum())
            mine += int(pre.sum())
            reference += int(ref.sum())
            rows.append((bool(spans), said.presence[k], outcome, said.contra[k]))
    there, chance, outcome, contra = (np.array(column) for column in zip(*rows, strict=True))
    hit = chance >= at
    against = outcome == CONTRA
    out = {
        "chars": round(2 * both / max(1, mine + reference), 4),
        "presence": round(float(2 * (hit & there).sum() / max(1, hit.sum() + there.sum())), 4),
        "stated": round(float(hit[there].mean()), 3),
        "auc": round(area(there, chance), 4),
        "credited_absent": round(float(hit[~there].mean()), 3) if (~there).any() else None,
    }
    if against.any():
        out["contra"] = round(float(hit[against].mean()), 3)
        out["told_contra"] = round(float((contra[against] >= 0.5).mean()), 3)
        out["told_wrong"] = round(float((contra[~against] >= 0.5).mean()), 3)
    return out


def area(there: Array, chance: Array) -> float:
    """Return the area under the curve of presence."""
    if there.all() or not there.any():
        return float("nan")
    rank = np.empty(len(chance))
    rank[chance.argsort()] = np.arange(len(chance))
    return float((rank[there].mean() - (there.sum() - 1) / 2) / (~there).sum())
