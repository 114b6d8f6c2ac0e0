from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.formats.rubric.files import read_rubrics

RESOURCES = Path(__file__).parents[2] / "resources" / "rubrics"


def test_school_s_csv() -> None:
    chest, headache = read_rubrics(RESOURCES / "school.csv")
    assert (chest.case, headache.case) == ("Chest pain", "Headache")
    assert [(f.text, f.weight, f.group, f.note) for f in chest] == [
        ("Crushing pain, left arm", 2.0, "", 'ask "where"'),
        ("Dyspnoea OR breathless", 0.5, "breath", ""),
        ("Orthopnoea", 0.5, "breath", ""),
    ]
    assert [(f.id, f.text, f.weight) for f in headache] == [("Headache-aura", "Aura 😀", 1.0)]


def test_competition_s_features() -> None:
    first, second = read_rubrics(RESOURCES / "features.csv")
    assert [(f.id, f.text) for f in first] == [
        ("0", "Family history of MI OR Family history of myocardial infarction"),
        ("1", "58 year"),
    ]
    assert [(f.id, f.case) for f in second] == [("100", "1")]


def test_made_ids_are_unique(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("id,text\n,Cough\n,Cough\nc-cough-2,Wheeze\n,!\n", "utf-8")
    (rubric,) = read_rubrics(tmp_path / "c.csv")
    assert [f.id for f in rubric] == ["c-cough", "c-cough-3", "c-cough-2", "c-feature"]


def test_every_fault_of_a_table_is_reported(tmp_path: Path) -> None:
    place = tmp_path / "r.csv"
    place.write_text(
        "case,id,text,wieght,points,_seen\n"
        "c,1,,,1,\n"
        "c,2,Cough,,two,\n"
        "\n"
        "c,2,Fever,,inf,\n"
        "c,3,Wheeze,,nan,x,y\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_rubrics(place)
    assert sorted(fault.line or 0 for fault in caught.value.faults) == [0, 1, 2, 4, 4, 5, 5]
    assert all(fault.path == place for fault in caught.value.faults)
    assert "did you mean 'weight'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "no features"),
        ("case,text\n", "no features"),
        ("case,weight\nc,1\n", "texts"),
        ("text,Feature text\na,b\n", "both mean"),
        ('text\n"open', "CSV"),
        ("case,text,title\nc,a,T\nc,b,U\n", "another title"),
    ],
)
def test_tables_that_are_no_rubric(content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=expected):
        read_rubrics(tmp_path / "r.csv")
