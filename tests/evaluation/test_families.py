from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, jaccard_score

from rubricate.evaluation import LABELS, Matching
from rubricate.evaluation.matching import FAMILIES, character_counts, count_rows, presence_counts
from rubricate.evaluation.pairing import Pairing

LENGTH = 24
SPAN = st.tuples(st.integers(0, 18), st.integers(1, 6)).map(lambda p: (p[0], p[0] + p[1]))
ANNOTATIONS = st.lists(st.lists(SPAN, min_size=1, max_size=3), max_size=3)
ROWS = st.lists(st.tuples(ANNOTATIONS, ANNOTATIONS), min_size=1, max_size=8)
Make = Callable[..., Pairing]


def characters(annotations: list[list[tuple[int, int]]]) -> set[int]:
    return {c for fragments in annotations for s, e in fragments for c in range(s, e)}


def test_the_worked_example_of_the_competition(make_pairing: Make) -> None:
    # seed 002, "Example": truth 0 3; 3 5, prediction 2 5; 7 9; 2 3
    row = ([[(0, 3)], [(3, 5)]], [[(2, 5)], [(7, 9)], [(2, 3)]])
    total = character_counts(make_pairing([row], text="x" * 10)).total()
    assert total.counts == {"tp": 3, "fp": 2, "fn": 2, "tn": 3}
    assert total.f1 == pytest.approx(0.6)


@given(rows=ROWS)
def test_counts_equal_sets_of_positions(make_pairing: Make, rows: list[Any]) -> None:
    values = character_counts(make_pairing(rows)).values
    for (reference, predicted), found in zip(rows, values.tolist(), strict=True):
        r, p = characters(reference), characters(predicted)
        assert found == [len(r & p), len(p - r), len(r - p), LENGTH - len(r | p)]


@given(rows=ROWS)
def test_micro_values_equal_sklearn_on_bitmaps(make_pairing: Make, rows: list[Any]) -> None:
    bitmaps = np.zeros((2, len(rows), LENGTH), dtype=int)
    for i, sides in enumerate(rows):
        for side, annotations in enumerate(sides):
            bitmaps[side, i, sorted(characters(annotations))] = 1
    reference, predicted = bitmaps.reshape(2, -1)
    total = character_counts(make_pairing(rows)).total()
    if bitmaps.any():
        assert total.f1 == pytest.approx(f1_score(reference, predicted))
        assert total["jaccard"] == pytest.approx(jaccard_score(reference, predicted))
        kappa = cohen_kappa_score(reference, predicted)
        assert total["kappa"] == pytest.approx(kappa, nan_ok=True)
    else:
        assert np.isnan(total.f1)


@given(rows=ROWS)
def test_swapping_sides_swaps_precision_and_recall(
    make_pairing: Make, swap: Callable[[Any], Any], rows: list[Any]
) -> None:
    one = character_counts(make_pairing(rows)).total()
    two = character_counts(make_pairing(swap(rows))).total()
    assert one.precision == pytest.approx(two.recall, nan_ok=True)
    for name in ("f1", "jaccard", "kappa"):
        assert one[name] == pytest.approx(two[name], nan_ok=True)


@given(rows=ROWS)
def test_a_side_agrees_with_itself(make_pairing: Make, rows: list[Any]) -> None:
    total = character_counts(make_pairing([(r, r) for r, _ in rows])).total()
    if any(reference for reference, _ in rows):
        assert (total.precision, total.recall, total.f1, total["jaccard"]) == (1, 1, 1, 1)
        assert total["kappa"] == pytest.approx(1)


@pytest.mark.parametrize(
    "same",
    [
        [[(2, 5)], [(5, 9)]],  # touching
        [[(2, 9)], [(2, 9)]],  # twice the same
        [[(2, 9)], [(4, 6)]],  # nested
        [[(2, 7)], [(4, 9)]],  # overlapping
        [[(2, 5), (5, 9)]],  # fragments of one annotation
    ],
)
def test_only_the_union_counts(make_pairing: Make, same: list[Any]) -> None:
    total = character_counts(make_pairing([([[(2, 9)]], same)])).total()
    assert total.counts == {"tp": 7, "fp": 0, "fn": 0, "tn": 17}


def test_touching_spans_of_the_two_sides_share_nothing(make_pairing: Make) -> None:
    total = character_counts(make_pairing([([[(0, 5)]], [[(5, 9)]])])).total()
    assert total.counts == {"tp": 0, "fp": 4, "fn": 5, "tn": 15}


def test_empty_against_empty_moves_no_micro_value_but_kappa(make_pairing: Make) -> None:
    some = ([[(0, 5)]], [[(0, 4)]])
    alone = character_counts(make_pairing([some])).total()
    diluted = character_counts(make_pairing([some, ([], []), ([], [])])).total()
    for name in ("precision", "recall", "f1", "jaccard"):
        assert alone[name] == diluted[name]
    assert diluted["kappa"] > alone["kappa"]


def test_means_over_rows_count_empty_against_empty_as_one(make_pairing: Make) -> None:
    rows = [([[(0, 4)]], [[(0, 2)]]), ([], []), ([[(0, 4)]], [])]
    means = character_counts(make_pairing(rows)).row_means()
    assert means["jaccard"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert means["f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_rows_at_the_very_ends_of_notes_do_not_leak(make_pairing: Make) -> None:
    rows = [([[(20, 24)]], [[(23, 24)]]), ([[(0, 4)]], [[(0, 1)]])] * 3
    values = character_counts(make_pairing(rows)).values
    assert values[:, :3].tolist() == [[1, 0, 3]] * 6


YES, NO = [[(0, 3)]], list[Any]()


def test_hand_made_table_of_presence(make_pairing: Make) -> None:
    rows = [(YES, [[(9, 12)]])] * 4 + [(NO, YES)] * 1 + [(YES, NO)] * 2 + [(NO, NO)] * 3
    table = presence_counts(make_pairing(rows))
    total = table.total()
    assert total.counts == {"tp": 4, "fp": 1, "fn": 2, "tn": 3}
    assert total.precision == 0.8
    assert total.recall == pytest.approx(4 / 6)
    assert total["accuracy"] == 0.7
    assert total["specificity"] == 0.75
    # p_o = .7, p_e = .5 * .6 + .5 * .4 = .5
    assert total["kappa"] == pytest.approx(0.4)
    assert (table.values.sum(axis=1) == 1).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_presence_equals_sklearn(make_pairing: Make, answers: list[tuple[bool, bool]]) -> None:
    total = presence_counts(
        make_pairing([(YES if r else NO, YES if p else NO) for r, p in answers])
    ).total()
    reference, predicted = zip(*answers, strict=True)
    assert total["accuracy"] == pytest.approx(accuracy_score(reference, predicted))
    if any(reference) or any(predicted):
        assert total.f1 == pytest.approx(f1_score(reference, predicted))


def test_several_annotations_are_one_presence(make_pairing: Make) -> None:
    rows = [([[(0, 3)], [(5, 8)]], [[(1, 2), (9, 12)]])]
    assert presence_counts(make_pairing(rows)).total().counts["tp"] == 1


def test_every_family_counts_what_it_names(make_pairing: Make) -> None:
    pairing = make_pairing([([[(0, 3)]], [[(0, 4)]]), (NO, YES)])
    for family in FAMILIES:
        assert list(family.labels) == list(family.count(pairing, Matching()))
    tables = count_rows(pairing, Matching())
    assert list(tables) == list(LABELS)
    assert len(set(LABELS.values())) == len(LABELS)
    for key, table in tables.items():
        assert tuple(table.measure.name.split(".")) == key
        assert len(table) == 2
        assert {"precision", "recall", "f1"} <= set(table.measure.statistics)
