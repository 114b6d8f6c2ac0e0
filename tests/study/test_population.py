from datetime import date, datetime

import pytest

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.study.population import (
    Variable,
    define_population,
    detect_by_keywords,
    detect_by_system,
    read_keywords,
    read_population,
    resolve_variables,
    select_notes,
)
from rubricate.study.settings import VariableSettings

SMOKING = Variable("smoking", "primary", ("f1",))


@pytest.mark.parametrize(
    ("where", "n"),
    [
        ({}, 120),
        ({"site": "A"}, 60),
        ({"site": ["A", "B"]}, 120),
        ({"age": 20}, 3),
        ({"age": {"min": 21}}, 117),
        ({"age": {"min": 21, "max": 21}}, 3),
        ({"date": {"from": "2015-05-01", "to": "2016-12-31"}}, 24),
        ({"date": {"from": date(2015, 5, 1), "to": datetime(2016, 12, 31, 12)}}, 24),
        ({"date": date(2015, 5, 1)}, 12),
        ({"site": "A", "age": {"max": 30}}, 18),
        ({"case": "c"}, 120),
    ],
)
def test_filters(corpus: Corpus, where: dict, n: int) -> None:
    assert len(select_notes(corpus, where)[0].notes) == n


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ({"sight": "A"}, "site"),
        ({"date": {"to": "2009-12-31"}}, "date: no note is left"),
        ({"age": {"least": 3}}, "age"),
        ({"age": {"min": 3, "from": "2020-01-01"}}, "age"),
        ({"age": {"min": "x"}}, "age"),
        ({"date": {"from": "yesterday"}}, "yesterday"),
        ({"site": {"min": 3}}, "not a number"),
        ({"age": {"from": "2020-01-01"}}, "no date"),
    ],
)
def test_wrong_filters_are_named(corpus: Corpus, where: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        select_notes(corpus, where)


def test_all_wrong_filters_come_at_once(corpus: Corpus) -> None:
    with pytest.raises(InputError) as caught:
        select_notes(corpus, {"sight": "A", "aeg": 3})
    assert len(caught.value.faults) == 2


def test_variables_without_features_are_faults(corpus: Corpus) -> None:
    wanted = (VariableSettings("a", features=("f9",)), VariableSettings("b", feature_text="gout"))
    with pytest.raises(InputError) as caught:
        resolve_variables(corpus, wanted)
    assert len(caught.value.faults) == 2


def test_the_population_holds_nobodys_annotations(make_study) -> None:
    study = make_study()
    summary = define_population(study).summary
    population, variables = read_population(study)
    assert summary["notes"] == 120
    assert summary["sites"] == {"A": 60, "B": 60}
    assert not population.annotators
    assert len(population.rows) == 0
    assert [v.name for v in variables] == ["smoking", "weight"]


def test_an_unknown_site_is_refused(make_study) -> None:
    study = make_study()
    text = (study.folder / "study.toml").read_text().replace('site = "site"', 'site = "ward"')
    (study.folder / "study.toml").write_text(text)
    with pytest.raises(InputError, match="ward"):
        define_population(type(study).open(study.folder))


def test_detection_by_system_needs_all_notes(corpus: Corpus) -> None:
    part = corpus.select(notes=["n1", "n2"])
    with pytest.raises(InputError) as caught:
        detect_by_system(corpus, [SMOKING], part, "system")
    assert len(caught.value.faults) == 118
    assert detect_by_system(corpus, [SMOKING], corpus, "system").share("smoking") == (54, 120)


def test_keywords_are_whole_words(corpus: Corpus, tmp_path) -> None:
    def share(*words: str) -> int:
        return detect_by_keywords(corpus, [SMOKING], {"smoking": words}).share("smoking")[0]

    assert share("SMOKES") == 120
    assert share("smoke") == 0
    assert share("lost weight") == 120
    with pytest.raises(InputError):
        detect_by_keywords(corpus, [SMOKING], {})
    with pytest.raises(InputError, match="smokng"):
        detect_by_keywords(corpus, [SMOKING], {"smoking": ["smokes"], "smokng": ["cigars"]})
    place = tmp_path / "k.csv"
    place.write_text("variable,keyword\nsmoking,smokes\nsmoking,\n")
    with pytest.raises(InputError, match="row 3"):
        read_keywords(place)
