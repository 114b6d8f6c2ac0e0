"""Matchers are estimators, as far as that makes sense for texts and rubrics."""

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score
from sklearn.utils import estimator_checks

from rubricate import Corpus, load_corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation import evaluate
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


def test_scikit_learn_searches_and_validates_on_a_corpus() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])[:24]
    matcher = make_matcher("exact")
    search = GridSearchCV(matcher, {"window": [0, 60]}, cv=2).fit(corpus)
    assert search.best_params_ in ({"window": 0}, {"window": 60})
    assert search.score(corpus) == search.best_estimator_.score(corpus)
    folds = cross_val_score(matcher, corpus, cv=2)
    assert folds.shape == (2,) and ((folds > 0) & (folds <= 1)).all()
    fold = clone(matcher).fit(corpus[12:]).score(corpus[:12])
    expected = evaluate(corpus[:12], clone(matcher).fit(corpus[12:]).predict(corpus[:12]))
    assert fold == expected.characters.total().f1 == folds[0]
    assert search.predict(corpus).notes == corpus.notes
    with pytest.raises(InputError):
        matcher.fit(corpus).score(Corpus(corpus.notes, corpus.rubrics))


def test_a_corpus_is_divided_by_places_slices_and_masks() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    assert corpus.shape == (len(corpus.notes),)
    places = [3, 5, 8]
    mask = np.isin(np.arange(len(corpus.notes)), places)
    wanted = corpus.select(notes=[corpus.notes[k].id for k in places])
    for how in (places, np.array(places), mask, (places, ...)):
        assert corpus[how] == wanted
    assert corpus[-1].notes == corpus.notes[-1:]
    assert [len(one.notes) for one in corpus[:3]] == [1, 1, 1]
    with pytest.raises(IndexError):
        corpus[len(corpus.notes)]


#: The checks of scikit-learn that need no table of numbers.
CHECKS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
)


@pytest.mark.parametrize("name", ["exact", "fuzzy", "synonyms", "lexicon", "encoder", "cascade"])
def test_scikit_learn_finds_no_fault_in_parameters(name: str) -> None:
    for check in CHECKS:
        getattr(estimator_checks, check)(type(make_matcher(name)).__name__, make_matcher(name))


@pytest.mark.parametrize("name", ["exact", "lexicon"])
def test_copies_find_what_the_matcher_finds(name: str) -> None:
    corpus = load_corpus("open-notes").select(cases=["30"])
    matcher = make_matcher(name).fit(corpus)
    found = matcher.predict(corpus)
    assert copy.copy(matcher).predict(corpus) == found
    assert copy.deepcopy(matcher).predict(corpus) == found
