from pathlib import Path

import pytest

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.formats.rubric.files import read_rubrics

RESOURCES = Path(__file__).parents[2] / "resources" / "rubrics"


def test_yaml_texts_stay_as_written() -> None:
    chest, headache = read_rubrics(RESOURCES / "rubrics.yaml")
    assert [(f.id, f.text, f.weight, f.note) for f in chest] == [
        ("Chest pain-no", "No", 1.0, ""),
        ("007", "Crushing pain", 2.0, "ask twice"),
    ]
    assert headache.title == "Headache in the young"
    assert headache.metadata == {"version": 3, "final": True, "source": None}
    assert [(f.id, f.weight, f.group) for f in headache] == [
        ("aura", 1.0, ""),
        ("nausea", 0.5, "gut"),
    ]


def test_toml() -> None:
    (rubric,) = read_rubrics(RESOURCES / "rubrics.toml")
    assert rubric.metadata == {"version": 3}
    assert [(f.id, f.text, f.weight, f.kind) for f in rubric] == [
        ("7", 'Crushing "pain"', 2.0, ""),
        ("8", "Fever", 1.0, "finding"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "- case: c\n  features: [{id: f, text: F}]",
        "- {case: c, id: f, text: F}",
        "rubrics: [{case: c, features: [{id: f, text: F}]}]",
        "case: c\nfeatures: [{id: f, text: F}]",
        "features: [{case: c, id: f, text: F}]",
        "c: [{id: f, text: F}]",
        "c: {f: F}",
        "c: {features: {f: {text: F}}}\n_comment: nothing",
    ],
)
def test_shapes_of_a_tree(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.yml").write_text(content, encoding="utf-8")
    assert read_rubrics(tmp_path / "r.yml") == (Rubric("c", (Feature("f", "c", "F"),)),)


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("r.yaml", "c:\n- text: a\n  weight: x\n- {id: a, txet: b}\n- {text: [b]}\n", [2, 4, 4, 5]),
        ("r.yaml", "c: [a]\nc: [b]\n", [2]),
        ("r.yaml", "a: [\n", [2]),
        ("r.yaml", "- case: c\n  titel: x\n  features: [a]\n", [1]),
        ("r.yaml", "- case: c\n  metadata: {x: [1]}\n  features: [a]\n", [1]),
        ("r.yaml", "", [None]),
        ("r.yaml", "c: []\nd: [a]\n", [None]),
        ("r.yaml", "just text", [None]),
        ("r.yaml", "rubrics: {case: c}\n", [1]),
        ("r.toml", "a = [", [None]),
        ("r.toml", 'c = [{text = "a", weight = "x"}, {weight = 2}]', [1, 2]),
        ("r.toml", "c = [{text = true, weight = true}]", [1]),
    ],
)
def test_every_fault_of_a_tree_is_reported(
    name: str, content: str, lines: list[int | None], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_rubrics(tmp_path / name)
    assert sorted((fault.line for fault in caught.value.faults), key=str) == lines
