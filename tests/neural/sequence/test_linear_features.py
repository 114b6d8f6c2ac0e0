import pytest

from rubricate.neural.sequence.linear_features import (
    feature_table,
    number_features,
    token_features,
)
from rubricate.neural.sequence.tagging import cut_text


def test_neighbours_stop_at_the_line() -> None:
    (tokens,) = cut_text("one two\nthree", context="note")
    names = list(token_features(tokens))
    assert "edge+1" in names[1]
    assert not any(name.startswith("w+1") for name in names[1])
    assert "head=three" in names[2]


@pytest.mark.parametrize("least", [1, 2])
def test_the_table_counts_what_is_numbered(least: int) -> None:
    sequences = cut_text("no pain\nno fever")
    numbers = number_features(sequences, least)
    table = feature_table(sequences, numbers)
    assert table.shape == (4, len(numbers))
    assert table.sum(axis=0).min() >= least
    kept = [sum(n in numbers for n in names) for s in sequences for names in token_features(s)]
    assert table.sum(axis=1).tolist() == kept
