from pathlib import Path

import pandas
import polars
import pytest

from rubricate.errors import InputError
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.status import new_study

NOTES = {
    "note": ["a", "b", "c"],
    "text": ["smokes", "no tobacco", "fever"],
    "site": ["X", "Y", "X"],
}


def start(folder: Path, corpus: object) -> dict:
    place = new_study(folder, corpus=corpus)
    chosen = '[population]\nrubric = "rubric.csv"\nsite = "site"\n'
    text = place.read_text(encoding="utf-8").replace("[population]\n", chosen)
    place.write_text(text.replace("the whole text of a feature", "Smoking"), encoding="utf-8")
    rubric = "case,feature,text\nc,1,Smoking\n"
    (folder / "rubric.csv").write_text(rubric, encoding="utf-8")
    return define_population(Study.open(folder)).summary


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame])
def test_a_study_can_start_from_a_data_frame_and_a_rubric(kind: type, tmp_path: Path) -> None:
    summary = start(tmp_path / "s", kind(NOTES))
    assert summary["sites"] == {"X": 2, "Y": 1}
    assert summary["cases"] == 1


def test_a_study_can_start_from_a_csv_file(tmp_path: Path) -> None:
    polars.DataFrame(NOTES).write_csv(tmp_path / "notes.csv")
    assert start(tmp_path / "s", "../notes.csv")["notes"] == 3


def test_a_table_without_a_rubric_is_refused(tmp_path: Path) -> None:
    polars.DataFrame(NOTES).write_csv(tmp_path / "notes.csv")
    place = new_study(tmp_path / "s", corpus="../notes.csv")
    with pytest.raises(InputError):
        define_population(Study.open(place.parent))
