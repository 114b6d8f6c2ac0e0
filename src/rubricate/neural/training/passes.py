"""Which notes and features a network meets at each step of learning, and how they are varied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, F64, I32, I64, Bools
from rubricate.neural.encoder.inference import WINDOW
from rubricate.neural.encoder.pieces import Batch, Pass, SpecialPieces, make_batch
from rubricate.neural.recipe import ALL, EncoderRecipe
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Scored


@dataclass(frozen=True, eq=False, slots=True)
class Lesson:
    """A batch and what the network should say of it.

    ``targets`` is (pass, feature, place) with 1 on marked pieces, or a teacher's probability;
    ``judged`` is (pass, feature). With ``rehearsed`` it should say what it said before it learned.
    """

    batch: Batch
    targets: F32
    judged: Bools
    rehearsed: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Taught:
    """A teacher's outputs for the rows of a learning set.

    ``inside`` has one probability for each entry of ``LearningSet.marked``; the rows from
    ``row_first[i] + n_judged[i]`` on of note i were judged by nobody but the teacher.
    """

    inside: npt.NDArray[np.float16]
    n_judged: I64

    @classmethod
    def of(cls, data: LearningSet, scored: Scored, n_judged: I64) -> Taught:
        """Return a teacher's outputs for some rows, each probability in its row's place."""
        inside = np.zeros(len(data.marked), np.float16)
        place = 0
        for row in scored.rows.tolist():
            own = slice(int(data.mark_first[row]), int(data.mark_first[row + 1]))
            size = own.stop - own.start
            inside[own] = scored.inside[place : place + size]
            place += size
        return cls(inside, n_judged)


class Lessons:
    """Draws the passes of a step; the same seed and step give the same passes.

    Of a note longer than a window a pass has any part of that length, and learns whether a
    feature is in that part. With a ``rehearsal`` some steps are lessons of that instead.
    """

    def __init__(
        self,
        data: LearningSet,
        notes: Sequence[int],
        special: SpecialPieces,
        mask_id: int,
        *,
        recipe: EncoderRecipe,
        seed: int,
        taught: Taught | None = None,
        rehearsal: Lessons | None = None,
    ) -> None:
        self.taught = taught
        self.rehearsal = rehearsal
        self.data = data
        self.notes = np.asarray([i for i in notes if len(data.rows(i)) and len(data.note(i))])
        self.special = special
        self.mask_id = mask_id
        self.recipe = recipe
        self.seed = seed
        self._phrases = _phrases(data, self.notes)
        self._chance = self._chances()

    def lesson(self, step: int) -> Lesson:
        """Return the lesson of one step."""
        rng = np.random.default_rng([self.seed, step])
        if self.rehearsal is not None and rng.random() < self.recipe.rehearsal:
            return replace(self.rehearsal.lesson(step), rehearsed=True)
        kinds = list(self.recipe.shares)
        shares = np.array(list(self.recipe.shares.values()))
        kind = kinds[int(rng.choice(len(kinds), p=shares / shares.sum()))]
        notes = self._draw(step, self.recipe.n_passes(kind), rng)
        rows = [self._draw_rows(int(i), kind, rng) for i in notes]
        return self._lesson(notes, rows, rng)

    def _draw_rows(self, note: int, kind: int, rng: np.random.Generator) -> I64:
        """Draw the rows of a pass; those only a teacher judged come in as often as asked."""
        own = np.asarray(self.data.rows(note))
        n_judged = 0 if self.taught is None else int(self.taught.n_judged[note])
        # Without a teacher all rows were judged; of a note nobody judged all are the teacher's.
        n_judged = n_judged or len(own)
        judged, foreign = rng.permutation(own[:n_judged]), rng.permutation(own[n_judged:])
        if kind == ALL:
            extra = int(rng.integers(1, len(foreign) + 1)) if len(foreign) else 0
            extra = extra if rng.random() < self.recipe.foreign else 0
            # A rubric is seldom taught whole: the network must not rely on every feature's being
            # there.
            whole = rng.random() < 0.5
            size = n_judged if whole else int(rng.integers(max(1, n_judged // 2), n_judged + 1))
            return rng.permutation(np.concatenate([judged[:size], foreign[:extra]]))
        extra = int(rng.binomial(kind, self.recipe.foreign / 3)) if len(foreign) else 0
        return np.concatenate([judged[: kind - extra], foreign[:extra]])

    def _draw(self, step: int, size: int, rng: np.random.Generator) -> I64:
        """Draw notes: any, but alike in length, so that little of a batch is padding."""
        drawn = rng.choice(self.notes, size=4 * size, p=self._chance)
        length = np.diff(self.data.note_first)[drawn]
        start = int(rng.integers(0, 3 * size + 1))
        return np.asarray(drawn[np.argsort(length, kind="stable")][start : start + size])

    def _chances(self) -> F64 | None:
        """Return the probability of drawing each note; None if all are alike."""
        if self.taught is None or not self.recipe.pseudo:
            return None
        pseudo = self.taught.n_judged[self.notes] == 0
        if pseudo.all() or not pseudo.any():
            return None
        share = self.recipe.pseudo
        return np.asarray(
            np.where(pseudo, share / pseudo.sum(), (1 - share) / (~pseudo).sum()), np.float64
        )

    def _lesson(self, notes: I64, rows: list[I64], rng: np.random.Generator) -> Lesson:
        data, passes, windows = self.data, [], []
        for i, own in zip(notes.tolist(), rows, strict=True):
            pieces = data.note(i)
            first = int(rng.integers(0, max(len(pieces) - WINDOW, 0) + 1))
            windows.append(slice(first, first + WINDOW))
            pieces = pieces[windows[-1]]
            if self.recipe.masked:
                hidden = rng.random(len(pieces)) < self.recipe.masked
                pieces = np.where(hidden, self.mask_id, pieces).astype(np.int32)
            passes.append(Pass(pieces, tuple(self._feature_text(int(r), rng) for r in own)))
        batch = make_batch(passes, self.special)
        shape = (len(passes), batch.n_features)
        targets = np.zeros((*shape, batch.note.shape[1]), np.float32)
        judged = np.zeros(shape, bool)
        for n, (i, own) in enumerate(zip(notes.tolist(), rows, strict=True)):
            whole, _ = data.lengths(i)
            for k, r in enumerate(own.tolist()):
                seen = self._targets(i, r, whole)[windows[n]]
                targets[n, k, 1 : 1 + len(seen)] = seen
            judged[n, : len(own)] = True
        return Lesson(batch, targets, judged)

    def _targets(self, note: int, row: int, whole: I32) -> F32:
        data, taught = self.data, self.taught
        marked = (data.marks(row)[0] * 2 >= whole).astype(np.float32)
        if taught is None:
            return marked
        said = taught.inside[data.mark_first[row] : data.mark_first[row + 1]].astype(np.float32)
        is_judged = row - int(data.row_first[note]) < int(taught.n_judged[note])
        share = self.recipe.taught if is_judged else 1.0
        return (1 - share) * marked + share * said

    def _feature_text(self, row: int, rng: np.random.Generator) -> I32:
        feature = int(self.data.row_feature[row])
        if rng.random() < self.recipe.phrase:
            others = self._phrases.get(feature, [])
            if others:
                return others[int(rng.integers(len(others)))]
        return self.data.feature(feature)


def _phrases(data: LearningSet, notes: I64) -> dict[int, list[I32]]:
    """Return the words marked for each feature in these notes, as pieces."""
    phrases: dict[int, list[I32]] = {}
    for i in notes.tolist():
        pieces = data.note(i)
        for r in data.rows(i):
            if not data.row_marked[r]:
                continue
            inside = data.targets(i, r)
            if 0 < int(inside.sum()) <= 24:
                phrases.setdefault(int(data.row_feature[r]), []).append(pieces[inside])
    return phrases
