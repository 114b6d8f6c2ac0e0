import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from nervaluate import Evaluator
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.evaluation import Evaluation, Matching, evaluate, evaluate_pairing
from rubricate.evaluation.counts import By
from rubricate.evaluation.pairing import Pairing

Make = Callable[..., Pairing]


def two_annotators() -> Corpus:
    builder = CorpusBuilder()
    for case in ("x", "y"):
        builder.add_feature(Feature(f"{case}1", case, "one"))
        builder.add_feature(Feature(f"{case}2", case, "two"))
    builder.add_note(Note("n1", "x", "no fever, no cough"))
    builder.add_note(Note("n2", "y", "no fever, no cough"))
    for note, case in (("n1", "x"), ("n2", "y")):
        for feature in (f"{case}1", f"{case}2"):
            builder.judge("ref", note, feature)
    builder.annotate("ref", "n1", "x1", [(0, 8)])
    builder.annotate("pred", "n1", "x1", [(3, 8)])
    builder.annotate("pred", "n1", "x1", [(0, 2)])
    builder.judge("pred", "n1", "x2")
    return builder.build()


def evaluated(corpus: Corpus, **options: Any) -> Evaluation:
    return evaluate(
        corpus, corpus, reference_annotator="ref", predicted_annotator="pred", **options
    )


def test_the_shape_of_the_result() -> None:
    result = evaluated(two_annotators()).to_dict()
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert (result["protocol"], result["unit"]) == ("one-to-one", "character")
    assert (result["n_notes"], result["n_rows"], result["n_missing_rows"]) == (2, 4, 2)
    assert set(result["spans"]) == {"exact", "one_side_boundary", "token_overlap"}
    for measured in (result["characters"], result["presence"], *result["spans"].values()):
        assert {"precision", "recall", "f1", "macro"} <= set(measured)
        assert {"features", "cases", "notes"} <= set(measured["macro"])
    assert {"jaccard", "kappa", "tp", "tn"} <= set(result["characters"])
    assert {"accuracy", "specificity", "kappa"} <= set(result["presence"])
    assert list(result["cases"]) == ["x", "y"]
    assert list(result["features"]) == ["x1", "x2", "y1", "y2"]
    assert set(result["features"]["x1"]) == {"characters", "presence", "spans"}


def test_values_by_hand() -> None:
    result = evaluated(two_annotators()).to_dict()
    # seven of eight characters found, none wrong
    assert result["characters"]["recall"] == 7 / 8
    assert result["characters"]["precision"] == 1
    assert result["cases"]["x"]["characters"]["recall"] == 7 / 8
    # nothing there on either side: undefined, not 0 and not 1
    assert result["cases"]["y"]["characters"]["f1"] is None
    assert result["cases"]["y"]["presence"]["accuracy"] == 1
    assert result["characters"]["macro"]["cases"]["recall"] == 7 / 8
    assert result["characters"]["macro"]["rows"]["jaccard"] == pytest.approx((7 / 8 + 3) / 4)
    assert result["features"]["x1"]["spans"]["one_side_boundary"]["precision"] == 0.5


def test_warnings_tell_of_missing_rows_and_recall_above_one() -> None:
    corpus = two_annotators()
    assert len(evaluated(corpus, missing="skip", matching=Matching("paper")).warnings()) == 3
    warnings = evaluated(corpus, matching=Matching("paper")).to_dict()["warnings"]
    assert len(warnings) == 3
    assert sum("exceed 1" in warning for warning in warnings) == 2
    assert len(evaluated(corpus).warnings()) == 1


@given(corpora(max_annotators=2, metadata=False, details=False))
def test_evaluations_of_parts_add_to_the_whole(corpus: Corpus) -> None:
    if len(corpus.annotators) < 2:
        return
    names = {
        "reference_annotator": corpus.annotators[0].id,
        "predicted_annotator": corpus.annotators[1].id,
    }
    whole = evaluate(corpus, corpus, **names)  # type: ignore[arg-type]
    parts = []
    for i in range(2):
        half = corpus.select(notes=[note.id for note in corpus.notes[i::2]])
        parts.append(evaluate(half, half, **names))  # type: ignore[arg-type]
    merged = parts[0] + parts[1]
    assert merged.coverage == whole.coverage
    bys: tuple[By, ...] = ("note", "feature", "case")
    for (path, table), (other_path, other) in zip(
        merged.tables.items(), whole.tables.items(), strict=True
    ):
        assert path == other_path
        for by in bys:
            one, two = table.by(by), other.by(by)
            assert dict(zip(one.ids, one.values.tolist(), strict=True)) == dict(
                zip(two.ids, two.values.tolist(), strict=True)
            )


def test_nothing_against_nothing(make_pairing: Make) -> None:
    result = evaluate_pairing(make_pairing([([], []), ([], [])])).to_dict()
    assert result["characters"]["f1"] is None
    assert result["presence"]["f1"] is None
    assert result["presence"]["accuracy"] == 1
    assert result["characters"]["macro"]["rows"] == {"f1": 1.0, "jaccard": 1.0}
    assert result["spans"]["exact"]["f1"] is None


def test_parts_counted_differently_do_not_add(make_pairing: Make) -> None:
    pairing = make_pairing([([[(0, 3)]], [])])
    with pytest.raises(ValueError, match="cannot be added"):
        evaluate_pairing(pairing) + evaluate_pairing(pairing, Matching("paper"))


def test_a_prediction_that_found_nothing_is_warned_of() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    for i in range(5):
        builder.add_note(Note(str(i), "c", "fever"))
        builder.annotate("ref", str(i), "f", [(0, 5)])
        builder.judge("pred", str(i), "f")
    corpus = builder.build()
    found = evaluate(corpus, corpus, reference_annotator="ref", predicted_annotator="pred")
    assert any("nothing was found in any of 5 rows" in warning for warning in found.warnings())
    turned = evaluate(corpus, corpus, reference_annotator="pred", predicted_annotator="ref")
    assert turned.warnings() == []


def test_spans_meet_as_nervaluate_counts_them() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    builder.add_note(Note("n", "c", "aaaa bbbb cccc dddd eeee"))
    for span in ((0, 4), (5, 9), (15, 19)):
        builder.annotate("ref", "n", "f", [span])
    for span in ((0, 4), (5, 14), (20, 24)):
        builder.annotate("pred", "n", "f", [span])
    corpus = builder.build()
    found = evaluate(
        corpus, corpus, reference_annotator="ref", predicted_annotator="pred",
        matching=Matching(unit="token"),
    )  # fmt: skip
    # One the same, one in part (half a point), one missed, one spurious: 2 * 1.5 / 6.
    assert found.span_outcomes() == {
        "correct": 1, "partial": 1, "incorrect": 1, "missed": 1, "spurious": 1, "f1": 0.5,
        "strict_f1": pytest.approx(1 / 3),
    }  # fmt: skip
    assert found.to_dict()["span_outcomes"]["missed"] == 1


def test_spans_are_counted_as_nervaluate_itself_does() -> None:
    rng = np.random.default_rng(7)
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    sides: dict[str, list[list[dict]]] = {"ref": [], "pred": []}
    for i in range(60):
        builder.add_note(Note(str(i), "c", "x" * 100))
        for who, found in sides.items():
            builder.judge(who, str(i), "f")
            found.append([])
        # Places 20 apart: spans of other places never meet, which nervaluate settles otherwise.
        for place in range(0, 100, 20):
            start, end = place, place + int(rng.integers(4, 9))
            for who, found in sides.items():
                if rng.random() < 0.7:
                    last = end if who == "ref" else end + int(rng.integers(0, 3))
                    builder.annotate(who, str(i), "f", [(start, last)])
                    found[-1].append({"label": "F", "start": start, "end": last})
    corpus = builder.build()
    ours = evaluate(
        corpus, corpus, reference_annotator="ref", predicted_annotator="pred",
    ).span_outcomes()  # fmt: skip
    known = Evaluator(sides["ref"], sides["pred"], tags=["F"], loader="dict").evaluate()["overall"]
    strict, partial = known["strict"], known["partial"]
    for name in ("correct", "missed", "spurious"):
        assert ours[name] == getattr(strict, name) == getattr(partial, name)
    assert ours["incorrect"] == strict.incorrect > 0
    assert ours["partial"] == partial.partial
    assert ours["f1"] == pytest.approx(partial.f1)
    assert ours["strict_f1"] == pytest.approx(strict.f1)
