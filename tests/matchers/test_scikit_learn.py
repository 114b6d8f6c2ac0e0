"""Matchers are estimators, as far as that makes sense for texts and rubrics."""

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from rubricate import Corpus, load_corpus
from rubricate.errors import UnknownNameError
from rubricate.matchers import MATCHERS, make_matcher

CHANGED: dict[str, dict[str, Any]] = {
    "exact": {"window": 5},
    "fuzzy": {"one_edit_from": 7},
    "synonyms": {"window": 5},
    "lexicon": {"penalty": 0.5},
    "encoder": {"threads": 1},
    "cascade": {"threads": 1},
    "crf": {"scheme": "IO"},
    "bilstm-crf": {"scheme": "IO"},
}


@pytest.mark.parametrize("name", CHANGED)
def test_parameters_are_read_set_cloned_and_shown(name: str) -> None:
    try:
        matcher_class = MATCHERS[name]
    except ImportError:
        pytest.skip("needs packages that are not installed")
    matcher = matcher_class()
    before = matcher.get_params(deep=True)
    assert set(vars(matcher)) == set(before), "the constructor stores parameters, nothing else"
    for parameter, value in before.items():
        assert getattr(matcher, parameter) is value
    assert repr(matcher) == f"{matcher_class.__name__}()"
    assert matcher.set_params(**CHANGED[name]) is matcher
    assert matcher.get_params(deep=False) == before | CHANGED[name]
    ((parameter, value),) = CHANGED[name].items()
    assert repr(matcher) == f"{matcher_class.__name__}({parameter}={value!r})"
    twin = clone(matcher)
    assert twin is not matcher and twin.get_params() == matcher.get_params()
    with pytest.raises(UnknownNameError):
        matcher.set_params(nothing=1)


@pytest.mark.parametrize("name", ["exact", "fuzzy", "synonyms", "lexicon"])
def test_fitting_returns_the_matcher_and_leaves_parameters_and_notes_alone(name: str) -> None:
    corpus = load_corpus("open-notes").select(cases=["30"])
    matcher = make_matcher(name)
    before = matcher.get_params()
    assert matcher.fit(corpus) is matcher
    assert matcher.get_params() == before
    assert all(key.endswith("_") for key in vars(matcher).keys() - before.keys())
    first, again = matcher.predict(corpus), matcher.predict(corpus)
    assert first == again
    assert clone(matcher).fit(corpus).predict(corpus) == first
    # A clone has learned nothing.
    assert not hasattr(clone(matcher), "model_")


def test_a_grid_of_parameters_can_be_searched() -> None:
    corpus = load_corpus("open-notes").select(cases=["30"])
    empty = Corpus((), corpus.rubrics)
    grid = ParameterGrid({"window": [5, 60]})
    found = [clone(make_matcher("exact")).set_params(**own).fit(empty) for own in grid]
    assert [one.get_params()["window"] for one in found] == [5, 60]
