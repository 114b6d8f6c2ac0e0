"""Notes that are copies of each other, word for word or nearly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rubricate.corpus import Note
from rubricate.errors import InputError
from rubricate.trust.shingles import Sets, candidate_pairs, jaccard, shingle_sets

Kind = Literal["identical", "same words", "near"]
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Notes that are copies of each other.

    Parameters
    ----------
    kind : {"identical", "same words", "near"}
        Whether all texts are the same to the character, the same but for case, spaces and
        punctuation, or only alike.
    similarity : float
        The lowest Jaccard index among the links that hold the cluster together.
    cases : tuple of str
        Cases of the notes.
    notes : tuple of str
        Ids, in the order given.
    """

    kind: Kind
    similarity: float
    cases: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def find_duplicates(
    notes: Iterable[Note], *, threshold: float = 0.8, same_case: bool = True, words: int = 3
) -> tuple[Cluster, ...]:
    """Find identical and nearly identical notes.

    A note is the set of its runs of ``words`` words. Two notes are alike when the Jaccard index
    |A ∩ B| / |A ∪ B| of their sets is at least ``threshold`` (Broder 1997). Candidates come from
    an inverted index of each note's rarest runs: two notes that are alike must share one of their
    (1 - threshold) |A| + 1 rarest (prefix filter; Chaudhuri, Ganti & Kaushik 2006), so no pair is
    missed, but for one case: notes that share only runs that more than 200 notes have are compared
    with their nearest in size alone. Clusters are the notes linked by such pairs.

    Parameters
    ----------
    notes : iterable of Note
        Any number; empty ones are left out.
    threshold : float
        Least Jaccard index of a pair, above 0 to 1.
    same_case : bool
        Whether only notes of the same case are compared.
    words : int
        Words of a run. Changing one word changes this many runs.

    Returns
    -------
    tuple of Cluster
        The largest first.

    Raises
    ------
    InputError
        If ``threshold`` or ``words`` is not allowed.

    Examples
    --------
    >>> texts = ["No fever today, no cough", "no fever today; no cough", "Chest pain for a week"]
    >>> notes = [Note(str(i), "c", text) for i, text in enumerate(texts)]
    >>> [(c.kind, c.notes) for c in find_duplicates(notes)]
    [('same words', ('0', '1'))]
    """
    if not 0 < threshold <= 1 or words < 1:
        raise InputError("need a threshold above 0 and up to 1, and runs of 1 word or more")
    kept = [note for note in notes if _WORD.search(note.text)]
    sets, copies = _distinct(kept, same_case, words)
    first, second = candidate_pairs(sets, threshold)
    alike = jaccard(sets, first, second)
    linked = alike >= threshold - 1e-12
    root = _roots(len(copies), first[linked], second[linked])
    lowest = np.ones(len(copies))
    np.minimum.at(lowest, root[first[linked]], alike[linked])
    members: dict[int, list[int]] = {}
    for i, own in enumerate(copies):
        members.setdefault(int(root[i]), []).extend(own)
    clusters = [
        _cluster([kept[i] for i in sorted(own)], float(lowest[place]))
        for place, own in members.items()
        if len(own) > 1
    ]
    return tuple(sorted(clusters, key=lambda c: (-len(c.notes), -c.similarity, c.notes)))


def _distinct(notes: list[Note], same_case: bool, words: int) -> tuple[Sets, list[list[int]]]:
    """Return the sets of the notes that differ in words, and which notes each stands for."""
    number: dict[str, int] = {}
    seen: dict[tuple[str, bytes], int] = {}
    copies: list[list[int]] = []
    texts: list[npt.NDArray[np.int64]] = []
    salts: list[int] = []
    cases: dict[str, int] = {}
    for i, note in enumerate(notes):
        forms = _WORD.findall(note.text.casefold())
        ids = np.array([number.setdefault(form, len(number)) for form in forms], dtype=np.int64)
        case = note.case if same_case else ""
        place = seen.setdefault((case, ids.tobytes()), len(copies))
        if place == len(copies):
            copies.append([])
            texts.append(ids)
            salts.append(cases.setdefault(case, len(cases)))
        copies[place].append(i)
    return shingle_sets(texts, np.array(salts, dtype=np.int64), words), copies


def _roots(
    n: int, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return, for each place, the number of the connected part it is in."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _cluster(notes: list[Note], similarity: float) -> Cluster:
    kind: Kind = "near"
    if len({note.text for note in notes}) == 1:
        kind = "identical"
    elif len({tuple(_WORD.findall(note.text.casefold())) for note in notes}) == 1:
        kind = "same words"
    cases = tuple(dict.fromkeys(note.case for note in notes))
    return Cluster(kind, similarity, cases, tuple(note.id for note in notes))
