import numpy as np
import pytest

from rubricate import CorpusBuilder, Feature, Note, Score
from rubricate.errors import InputError
from rubricate.trust import run_of_corpus, run_of_scores


def test_only_notes_judged_in_full_have_a_score() -> None:
    builder = CorpusBuilder()
    for name in ("a", "b"):
        builder.add_note(Note(name, "c", "no fever"))
    for name in ("f", "g"):
        builder.add_feature(Feature(name, "c", name))
    builder.annotate("ann", "a", "f", [(0, 2)])
    builder.judge("ann", "a", "g")
    builder.annotate("ann", "b", "f", [(0, 2)])
    builder.add_score(Score("a", "x", 1, 4))
    builder.add_score(Score("a", "y", 3, 4))
    corpus = builder.build()
    assert run_of_corpus(corpus).percentage.tolist() == pytest.approx([50.0, np.nan], nan_ok=True)
    assert run_of_scores(corpus).score[0] == 2.0
    assert run_of_scores(corpus, "y").score[0] == 3.0
    with pytest.raises(InputError, match="no scores by z"):
        run_of_scores(corpus, "z")
    with pytest.raises(InputError, match="there are: ann"):
        run_of_corpus(corpus, "bob")
