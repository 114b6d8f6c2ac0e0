from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.files import packaged_text
from rubricate.study.settings import read_settings
from rubricate.study.status import new_study

GOOD = """
[population]
corpus = "x"
[[variables]]
name = "a"
role = "primary"
features = ["1"]
"""


def read(tmp_path: Path, text: str):
    place = tmp_path / "study.toml"
    place.write_text(text, encoding="utf-8")
    return read_settings(place)


def test_defaults_fill_the_rest(tmp_path: Path) -> None:
    settings = read(tmp_path, GOOD)
    assert settings.agreement.threshold == 0.8
    assert settings.curation.rules == ("identical",)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeff" + GOOD).population.corpus == "x"


def test_a_second_study_in_a_folder_is_refused_in_words(tmp_path: Path) -> None:
    new_study(tmp_path)
    with pytest.raises(InputError, match="another folder"):
        new_study(tmp_path)


def test_the_template_is_complete_but_for_the_answers(tmp_path: Path) -> None:
    settings = read_settings(new_study(tmp_path / "s", corpus="open-notes", name='a "b"'))
    assert settings.name == 'a "b"'
    assert settings.population.corpus == "open-notes"
    assert (tmp_path / "s" / "guidelines.md").exists()


def test_the_template_names_every_setting() -> None:
    from dataclasses import fields

    from rubricate.study import settings

    template = packaged_text("study", "templates", "study.toml")

    for kind in (
        settings.PopulationSettings, settings.PlanSettings, settings.AnnotationSettings,
        settings.SamplingSettings, settings.AgreementSettings, settings.CurationSettings,
        settings.Questions,
    ):  # fmt: skip
        for field in fields(kind):
            if field.name not in {"format", "interval", "where", "questions"}:
                assert field.name in template, field.name


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (GOOD + "[plan]\nprecison = 0.8\n", "precision"),
        (GOOD + '[plan]\nprecision = "high"\n', "plan.precision"),
        (GOOD + '[plan]\nmethod = "guess"\n', "plan.method"),
        (GOOD + "[plan]\nrecall = 1.0\n", "plan.recall"),
        (GOOD + "[plan]\nfrequency = 1.5\n", "plan.frequency"),
        (GOOD + "[plan]\nhalf_width = 0.5\n", "plan.half-width"),
        (GOOD + '[plan]\nfrequency_kind = "x"\n', "plan.frequency_kind"),
        (GOOD + "[evaluation]\nresamples = 0\n", "evaluation.resamples"),
        (GOOD + '[annotation]\nannotators = [{id = "ann"}, {id = "Ann"}]\n', "id of its own"),
        (GOOD + '[annotation]\nannotators = [{id = "key.csv"}]\n', "key.csv"),
        (GOOD + '[annotation]\nformat = "word"\n', "annotation.format"),
        (GOOD + "[annotation]\ndouble_share = 2.0\n", "double_share"),
        (GOOD + "[annotation]\nweeks = 0\n", "weeks"),
        (GOOD + '[curation]\nrules = ["coin"]\n', "curation.rules"),
        (GOOD + "[agreement]\nthreshold = 3.0\n", "threshold"),
        (GOOD + "[[annotation.annotators]]\nsenior = true\n", "annotators"),
        (GOOD + '[[annotation.annotators]]\nid = "../x"\n', "folders"),
        ("seed = -1\n" + GOOD, "seed"),
        (GOOD.replace('"primary"', '"secondary"'), "primary"),
        (GOOD.replace('features = ["1"]', ""), "features"),
        (GOOD.replace('corpus = "x"', ""), "population.corpus"),
        ("variables = 3\n[population]\ncorpus = 'x'\n", "variables"),
        ("population = 3\n", "population"),
        ("[population\n", "study.toml"),
        ("x = " + "[" * 100_000, "study.toml"),
        ("x" + ".a" * 100_000 + " = 1", "study.toml"),
        ("x = " + "9" * 5_000, "study.toml"),
        (GOOD + f"[evaluation]\nresamples = 1{'0' * 400}\n", "resamples"),
        (GOOD + f"[plan]\nprecision = 1{'0' * 400}\n", "precision"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        read(tmp_path, text)


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "nam = 'x'\nseed = 'y'\n[plan]\nrecal = 1\n")
    assert len(caught.value.faults) == 3


def test_a_missing_file_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="study new"):
        read_settings(tmp_path / "study.toml")
