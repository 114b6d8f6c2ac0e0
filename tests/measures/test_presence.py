from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from rubricate.measures import Pairing, presence_counts

Make = Callable[..., Pairing]
YES, NO = [[(0, 3)]], list[Any]()


def test_hand_made_table(make_pairing: Make) -> None:
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
def test_equals_sklearn(make_pairing: Make, answers: list[tuple[bool, bool]]) -> None:
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
