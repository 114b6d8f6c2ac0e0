from __future__ import annotations

import numpy as np

from rubricate import CorpusBuilder, Feature, Note
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.inference import WINDOW
from rubricate.neural.learning_set import LearningSet, learning_set
from rubricate.neural.passes import ALL, Lessons, Taught, Variation, with_foreign_rows
from rubricate.neural.pieces import PieceMaker

PLAIN = Variation(features={ALL: 1.0}, sequences={ALL: 4}, phrase=0.0, masked=0.0)


def test_targets_are_where_the_words_are(
    data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    lessons = Lessons(data, range(6), special, maker.mask_id, variation=PLAIN, seed=0)
    cough = maker.cut(["cough"])[0].ids[0]
    age = maker.cut(["58"])[0].ids[0]
    lesson = lessons.lesson(0)
    marked = lesson.batch.note[:, None, :].repeat(lesson.targets.shape[1], 1)[lesson.targets > 0]
    assert {cough, age} <= set(marked.tolist())
    assert maker.stop_id not in marked


def test_the_same_step_gives_the_same_lesson(
    data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    first, second = (
        Lessons(data, range(6), special, maker.mask_id, variation=Variation(), seed=3).lesson(7)
        for _ in range(2)
    )
    assert np.array_equal(first.batch.note, second.batch.note)
    assert np.array_equal(first.targets, second.targets)


def test_a_teacher_judges_what_nobody_did(
    data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    # All features of this corpus are judged in all its notes: drop the last row of each note.
    kept = np.arange(len(data.row_feature)) % 3 != 2
    from dataclasses import replace

    sizes = np.diff(data.mark_first)[kept]
    fewer = replace(
        data,
        row_first=data.row_first // 3 * 2,
        row_feature=data.row_feature[kept],
        row_marked=data.row_marked[kept],
        mark_first=np.cumsum([0, *sizes]),
        marked=np.concatenate([data.marks(r)[0] for r in np.flatnonzero(kept)]),
        marked_after=np.concatenate([data.marks(r)[1] for r in np.flatnonzero(kept)]),
    )
    fewer = replace(
        fewer, row_feature=np.where(np.arange(12) < 6, 0, 1) * 1 + fewer.row_feature * 0
    )
    wider = with_foreign_rows(fewer, range(6), 1, seed=0)
    assert np.diff(wider.row_first).tolist() == [3] * 6
    taught = Taught(np.full(len(wider.marked), 0.25, np.float16), np.full(6, 2))
    variation = Variation({ALL: 1.0}, {ALL: 4}, phrase=0, masked=0, foreign=1.0, taught=0.0)
    lesson = Lessons(
        wider, range(6), special, maker.mask_id, variation=variation, seed=0, taught=taught
    ).lesson(0)
    values = set(np.unique(lesson.targets).tolist())
    assert 0.25 in values
    assert values <= {0.0, 0.25, 1.0}


def test_of_a_long_note_a_pass_has_any_part(special: SpecialPieces, maker: PieceMaker) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Cough"))
    text = "mild pain " * WINDOW + "cough"
    builder.add_note(Note("n", "c", text))
    builder.annotate("ann", "n", "f", [(len(text) - 5, len(text))])
    data = learning_set(builder.build(), "ann", maker)
    lessons = Lessons(data, [0], special, maker.mask_id, variation=PLAIN, seed=0)
    found = [lessons.lesson(step) for step in range(100)]
    assert all(one.batch.note.shape[1] == WINDOW + 2 for one in found)
    cough = maker.cut(["cough"])[0].ids[0]
    for one in found:
        assert np.array_equal(one.targets[:, 0] > 0, one.batch.note == cough)
    assert any(one.targets.any() for one in found)
