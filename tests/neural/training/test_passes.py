from __future__ import annotations

import numpy as np

from rubricate import CorpusBuilder, Feature, Note
from rubricate.neural.encoder.inference import WINDOW
from rubricate.neural.encoder.pieces import PieceMaker, SpecialPieces
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.learning_set import LearningSet, learning_set
from rubricate.neural.training.passes import Lessons

PLAIN = EncoderRecipe(features={"all": 1.0}, sequences={"all": 4}, phrase=0.0, masked=0.0)


def test_targets_are_where_the_words_are(
    data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    lessons = Lessons(data, range(6), special, maker.mask_id, recipe=PLAIN, seed=0)
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
        Lessons(data, range(6), special, maker.mask_id, recipe=EncoderRecipe(), seed=3).lesson(7)
        for _ in range(2)
    )
    assert np.array_equal(first.batch.note, second.batch.note)
    assert np.array_equal(first.targets, second.targets)


def test_of_a_long_note_a_pass_has_any_part(special: SpecialPieces, maker: PieceMaker) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Cough"))
    text = "mild pain " * WINDOW + "cough"
    builder.add_note(Note("n", "c", text))
    builder.annotate("ann", "n", "f", [(len(text) - 5, len(text))])
    data = learning_set(builder.build(), "ann", maker)
    lessons = Lessons(data, [0], special, maker.mask_id, recipe=PLAIN, seed=0)
    found = [lessons.lesson(step) for step in range(100)]
    assert all(one.batch.note.shape[1] == WINDOW + 2 for one in found)
    cough = maker.cut(["cough"])[0].ids[0]
    for one in found:
        assert np.array_equal(one.targets[:, 0] > 0, one.batch.note == cough)
    assert any(one.targets.any() for one in found)
