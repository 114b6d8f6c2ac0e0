"""Notes that are copies of each other, word for word or nearly."""

from __future__ import annotations

import hashlib
import re
import tempfile
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

import numpy as np

from rubricate.arrays import F64, I64, U64
from rubricate.corpus import Note
from rubricate.errors import ArgumentError
from rubricate.progress import Progress, silent, watched

Likeness = Literal["identical", "same words", "near"]
_WORD = re.compile(r"\w+")
#: A run shared by more sets than this links each of them to its nearest in size only.
_CROWD = 200
_NEIGHBOURS = 8
#: Pairs compared at a time.
_CHUNK = 2_000
#: Counters of how many sets hold a run.
_BUCKETS = 1 << 20


@dataclass(frozen=True, slots=True)
class Cluster:
    """Notes that are copies of each other."""

    kind: Likeness
    similarity: float
    cases: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def find_duplicates(
    notes: Iterable[Note],
    *,
    threshold: float = 0.8,
    same_case: bool = True,
    words: int = 3,
    progress: Progress = silent,
) -> tuple[Cluster, ...]:
    """Find identical and nearly identical notes.

    A note is the set of its runs of ``words`` words. Two notes are alike when the Jaccard index
    |A ∩ B| / |A ∪ B| of their sets is at least ``threshold`` (Broder 1997). Candidates come from
    an inverted index of each note's rarest runs: two notes that are alike must share one of their
    (1 - threshold) |A| + 1 rarest (prefix filter; Chaudhuri, Ganti & Kaushik 2006), so no pair is
    missed, but for one case: notes that share only runs that more than 200 notes have are compared
    with their nearest in size alone. Clusters are the notes linked by such pairs.

    >>> texts = ["No fever today, no cough", "no fever today; no cough", "Chest pain for a week"]
    >>> notes = [Note(str(i), "c", text) for i, text in enumerate(texts)]
    >>> [(c.kind, c.notes) for c in find_duplicates(notes)]
    [('same words', ('0', '1'))]
    """
    if not 0 < threshold <= 1 or words < 1:
        raise ArgumentError("need a threshold above 0 and up to 1, and runs of 1 word or more")
    seen = _Distinct(same_case, words)
    for note in watched(notes, progress, "reading word runs"):
        seen.add(note)
    first, second = _candidate_pairs(seen.sets, threshold)
    alike = _jaccard(seen.sets, first, second)
    linked = alike >= threshold - 1e-12
    root = _roots(len(seen.copies), first[linked], second[linked])
    lowest = np.ones(len(seen.copies))
    np.minimum.at(lowest, root[first[linked]], alike[linked])
    members: dict[int, list[_Copy]] = {}
    for i, own in enumerate(seen.copies):
        members.setdefault(int(root[i]), []).extend(own)
    clusters = [
        _cluster(sorted(own), float(lowest[place]))
        for place, own in members.items()
        if len(own) > 1
    ]
    return tuple(sorted(clusters, key=lambda c: (-len(c.notes), -c.similarity, c.notes)))


class _Copy(NamedTuple):
    """A note without its text: its number among all, a hash of its text and one of its words."""

    number: int
    note: str
    case: str
    text: bytes
    words: bytes


class _Distinct:
    """The notes that differ in words, and which notes each of them stands for."""

    def __init__(self, same_case: bool, words: int) -> None:
        self.copies: list[list[_Copy]] = []
        self.sets = _WordRuns()
        self._same_case = same_case
        self._words = words
        self._number: dict[str, int] = {}
        self._place: dict[tuple[str, bytes], int] = {}
        self._salt: dict[str, int] = {}
        self._n = 0

    def add(self, note: Note) -> None:
        forms = _WORD.findall(note.text.casefold())
        if not forms:
            return
        number = self._number
        ids = np.array([number.setdefault(form, len(number)) for form in forms], dtype=np.int64)
        digest = hashlib.blake2b(ids.tobytes(), digest_size=16).digest()
        case = note.case if self._same_case else ""
        place = self._place.setdefault((case, digest), len(self.copies))
        if place == len(self.copies):
            self.copies.append([])
            salt = self._salt.setdefault(case, len(self._salt))
            self.sets.add(_run_hashes(ids, salt, self._words))
        text = hashlib.blake2b(note.text.encode(errors="surrogatepass"), digest_size=16).digest()
        self.copies[place].append(_Copy(self._n, note.id, note.case, text, digest))
        self._n += 1


class _WordRuns:
    """Sets of word runs, hashed, in a temporary file; in memory are their sizes alone.

    How many sets hold a run is counted by a part of its hash: near enough to tell rare runs.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._first = array("q", [0])
        self._spread = np.zeros(_BUCKETS, dtype=np.uint32)

    def __del__(self) -> None:
        self._file.close()

    def add(self, hashes: U64) -> None:
        """Add a set."""
        self._first.append(self._first[-1] + len(hashes))
        np.add.at(self._spread, hashes % _BUCKETS, 1)
        self._file.write(hashes.tobytes())

    def __len__(self) -> int:
        return len(self._first) - 1

    @property
    def sizes(self) -> I64:
        """Number of members of each set."""
        first: I64 = np.array(self._first, dtype=np.int64)
        return first[1:] - first[:-1]

    def __getitem__(self, place: int) -> U64:
        start, end = self._first[place], self._first[place + 1]
        self._file.seek(8 * start)
        return np.frombuffer(self._file.read(8 * (end - start)), dtype=np.uint64)

    def rarest(self, place: int, n: int) -> U64:
        """Return the n rarest members of a set, but for those no other set can hold."""
        own = self[place]
        spread = self._spread[own % _BUCKETS]
        kept: U64 = own[np.lexsort((own, spread))[:n]]
        return kept[self._spread[kept % _BUCKETS] > 1]


def _run_hashes(ids: I64, salt: int, words: int) -> U64:
    """Return the runs of ``words`` words of a text, hashed; a shorter text is one run."""
    run = min(words, len(ids))
    mixed = _mix(ids.astype(np.uint64) + np.uint64(1))
    value = np.full(len(ids) - run + 1, np.uint64(salt + 1), dtype=np.uint64)
    for k in range(run):
        value = _mix(value * np.uint64(31) + mixed[k : len(ids) - run + 1 + k])
    return np.unique(value)


def _candidate_pairs(sets: _WordRuns, threshold: float) -> tuple[I64, I64]:
    """Return pairs of sets that share one of their rarest members and fit in size."""
    sizes = sets.sizes
    prefix = (sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1).tolist()
    rare = [sets.rarest(place, n) for place, n in enumerate(prefix)]
    own = np.repeat(np.arange(len(rare)), [len(one) for one in rare])
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *rare])
    del rare
    _, member, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    order = np.lexsort((own, sizes[own], member))
    member, own = member[order], own[order]
    crowd = counts[member] > _CROWD
    found: list[I64] = []
    for gap in range(1, _CROWD):
        if gap >= len(own):
            break
        joined = member[gap:] == member[:-gap]
        if gap > _NEIGHBOURS:
            joined &= ~crowd[gap:]
        if not joined.any():
            break
        low, high = own[:-gap][joined], own[gap:][joined]
        # Sets lie in order of size: the smaller one must reach the share of the larger
        fits = sizes[low] >= threshold * sizes[high] - 1e-9
        # One number per pair, and each pair once: copies share many members.
        number = np.minimum(low, high) * len(sizes) + np.maximum(low, high)
        found.append(np.unique(number[fits]))
    pairs = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
    return pairs // max(len(sizes), 1), pairs % max(len(sizes), 1)


def _jaccard(sets: _WordRuns, first: I64, second: I64) -> F64:
    """Return |A ∩ B| / |A ∪ B| of each pair of sets."""
    if not len(first):
        # Most runs have no copies: the libraries below take long to load.
        return np.zeros(0)
    from scipy.sparse import csr_array

    both = np.zeros(len(first))
    for start in range(0, len(first), _CHUNK):
        part = slice(start, start + _CHUNK)
        places, pair = np.unique(np.stack([first[part], second[part]]), return_inverse=True)
        own = [sets[place] for place in places.tolist()]
        bounds = np.cumsum([0, *(len(one) for one in own)])
        columns, member = np.unique(np.concatenate(own), return_inverse=True)
        ones = np.ones(len(member), dtype=np.int32)
        table = csr_array((ones, member, bounds), shape=(len(places), len(columns)))
        one, other = pair.reshape(2, -1)
        both[part] = table[one].multiply(table[other]).sum(axis=1)
    sizes = sets.sizes
    return np.asarray(both / (sizes[first] + sizes[second] - both))


def _mix(value: U64) -> U64:
    """Scatter numbers over 64 bits (the finaliser of splitmix64, Steele et al. 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _roots(n: int, first: I64, second: I64) -> I64:
    """Return, for each place, the number of the connected part it is in."""
    if not len(first):
        return np.arange(n, dtype=np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _cluster(copies: Sequence[_Copy], similarity: float) -> Cluster:
    kind: Likeness = "near"
    if len({copy.text for copy in copies}) == 1:
        kind = "identical"
    elif len({copy.words for copy in copies}) == 1:
        kind = "same words"
    cases = tuple(dict.fromkeys(copy.case for copy in copies))
    return Cluster(kind, similarity, cases, tuple(copy.note for copy in copies))
