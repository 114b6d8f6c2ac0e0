from rubricate.matchers import make_matcher
from rubricate.matchers.training_report import ReportsTraining, flat_recipe


def test_matchers_that_are_not_trained_by_steps_report_nothing() -> None:
    for name in ("exact", "fuzzy", "synonyms", "lexicon"):
        assert not isinstance(make_matcher(name), ReportsTraining)


def test_matchers_that_are_report() -> None:
    for name in ("encoder", "bilstm-crf"):
        matcher = make_matcher(name)
        assert isinstance(matcher, ReportsTraining)
        assert matcher.training_report_ is None


def test_recipes_become_flat() -> None:
    assert flat_recipe({"a": {"b": {"c": 1}, "d": None}, "e": [2]}) == {
        "a.b.c": 1,
        "a.d": None,
        "e": [2],
    }
