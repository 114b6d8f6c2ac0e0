"""The package works without torch until torch is needed, and then says so."""

import sys

import pytest

from rubricate import Corpus
from rubricate.errors import MissingExtraError
from rubricate.neural.sequence.bilstm_crf import BiLstmCrfMatcher
from rubricate.neural.sequence.linear_crf import LinearCrfMatcher


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.usefixtures("no_torch")
def test_a_missing_torch_is_told(trials: Corpus) -> None:
    with pytest.raises(MissingExtraError):
        BiLstmCrfMatcher().fit(trials)
    with pytest.raises(MissingExtraError):
        BiLstmCrfMatcher.load("nowhere")


@pytest.mark.usefixtures("no_torch")
def test_the_linear_crf_needs_none(trials: Corpus) -> None:
    found = LinearCrfMatcher(iterations=5).fit(trials).predict(trials)
    assert len(found.rows) == 2 * len(trials.notes)
