from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from rubricate import Corpus
from rubricate.evaluation import evaluate
from rubricate.matchers.predictions import Found, NoteFindings, predict_corpus
from rubricate.neural.encoder.decoding import Opinion, Thresholds, decode_pieces
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Ruler, Scored


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "at",
    [
        Thresholds(),
        Thresholds(0.8, 0.3, 0.9),
        Thresholds(edges=1.0),
        Thresholds(0.4, 0.2, 0.5, 0.5, 2.0),
    ],
)
def test_figures_are_those_of_the_spans(
    data: LearningSet, corpus: Corpus, maker: PieceMaker, seed: int, at: Thresholds
) -> None:
    rng = np.random.default_rng(seed)
    ruler = Ruler(data, range(data.n_notes))
    scored = Scored(
        ruler.rows,
        rng.random((int(ruler.first[-1]), 3)).astype(np.float32),
        rng.random(len(ruler.rows)).astype(np.float32),
    )
    rows = iter(range(len(ruler.rows)))
    pieces = dict(zip(corpus.note_index, maker.cut([n.text for n in corpus.notes]), strict=True))

    def find(rubric, notes):  # type: ignore[no-untyped-def]
        for note in notes:
            found = []
            for feature in rubric:
                r = next(rows)
                own = slice(ruler.first[r], ruler.first[r + 1])
                inside, edges = scored.inside[None, own], scored.pieces[None, own, 1:]
                said = Opinion(pieces[note.id], inside, 1.0, edges)
                (decoded,) = decode_pieces(said, [float(scored.presence[r])], [at])
                found += [Found(feature.id, ((a, b),), c, "") for a, b, c in decoded]
            yield NoteFindings(found, {})

    spans = evaluate(corpus, predict_corpus(corpus, "x", find)).to_dict()
    figures = ruler.figures(scored, at)
    assert figures.characters == pytest.approx(spans["characters"]["f1"])
    assert figures.presence == pytest.approx(spans["presence"]["f1"])
    assert figures.runs == pytest.approx(spans["spans"]["exact"]["f1"])


def test_perfect_probabilities_are_perfect(data: LearningSet) -> None:
    notes = range(data.n_notes)
    ruler = Ruler(data, notes)
    inside = np.concatenate([data.targets(i, r) for i in notes for r in data.rows(i)])
    present = data.row_marked[ruler.rows] > 0
    pieces = np.full((len(inside), 3), 0.5, np.float32)
    pieces[:, 0] = inside
    scored = Scored(ruler.rows, pieces, present.astype(np.float32))
    assert astuple(ruler.figures(scored, ruler.best_thresholds(scored))) == (1.0, 1.0, 1.0)
