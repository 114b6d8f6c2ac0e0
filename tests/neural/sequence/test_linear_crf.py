import numpy as np
import pytest
from scipy.optimize import check_grad

from rubricate import Corpus
from rubricate.neural.sequence.linear_crf import (
    _Objective,
    feature_table,
    learn_linear,
    number_features,
    token_features,
)
from rubricate.neural.sequence.matcher import labelled_sequences
from rubricate.neural.sequence.states import Scheme, cut_text


@pytest.mark.parametrize("kind", ["IO", "BIO"])
def test_the_gradient_is_right_in_small_steps(trials: Corpus, kind: str) -> None:
    scheme = Scheme(("who", "drug"), kind)  # type: ignore[arg-type]
    some = trials.select(notes={"n0", "n1"})
    labelled, _ = labelled_sequences(some, "r", scheme, tokens="words", context="line")
    sequences = [one.tokens for one in labelled]
    table = feature_table(sequences, number_features(sequences, 4))
    objective = _Objective(table, [one.states for one in labelled], scheme, 0.1)
    k = len(scheme.states)
    w = np.random.default_rng(0).normal(size=table.shape[1] * k + k * (k + 2))
    error = check_grad(lambda x: objective(x)[0], lambda x: objective(x)[1], w, epsilon=1e-6)
    assert error < 1e-2 * np.linalg.norm(objective(w)[1]) ** 0.5


def test_the_objective_at_zero_is_the_number_of_sequences_possible() -> None:
    (tokens,) = cut_text("a b c d")
    scheme = Scheme(("x",), "IO")
    table = feature_table([tokens], number_features([tokens], 1))
    objective = _Objective(table, [np.array([0, 1, 1, 0])], scheme, 1.0)
    value, _ = objective(np.zeros(table.shape[1] * 2 + 8))
    assert value == pytest.approx(4 * np.log(2))


def test_training_lowers_the_objective_every_time(trials: Corpus) -> None:
    scheme = Scheme(("who", "drug"), "BIO")
    labelled, _ = labelled_sequences(trials, "r", scheme, tokens="words", context="line")
    seen: list[tuple[int, int | None]] = []
    learn_linear(
        [one.tokens for one in labelled],
        [one.states for one in labelled],
        scheme,
        iterations=10,
        progress=lambda done, of, _: seen.append((done, of)),
    )
    assert seen == [(i + 1, 10) for i in range(10)]


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
