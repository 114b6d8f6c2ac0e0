from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.formats import ReadLimits
from rubricate.formats.reading import read_toml
from rubricate.formats.rubric import read_rubrics, write_rubrics
from rubricate.rubric import Metadata

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


TEXTS = st.text(
    st.sampled_from("aB 'é\"\\\n\r\t\x7f\x85\u2028#:=[]{}-.0😀"), min_size=1, max_size=8
).filter(lambda text: text == text.strip() and text.strip("-"))
VALUES = st.one_of(TEXTS, st.integers(-9, 9), st.booleans(), st.sampled_from([0.5, -1e300]))


@pytest.mark.parametrize("name", ["r.yaml", "r.toml"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_is_written_is_read_again(
    name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    case, title = data.draw(TEXTS), data.draw(st.just("") | TEXTS)
    metadata = data.draw(st.dictionaries(TEXTS, VALUES, max_size=3))
    features = tuple(
        Feature(
            f"{i}{data.draw(TEXTS)}",
            case,
            data.draw(TEXTS),
            data.draw(st.sampled_from([1.0, -0.5])),
        )
        for i in range(data.draw(st.integers(1, 3)))
    )
    written = (
        Rubric(case, features, title, Metadata(metadata)),
        Rubric("~", (Feature("!", "~", "x"),)),
    )
    place = tmp_path_factory.mktemp("tree") / name
    write_rubrics(written, place)
    assert read_rubrics(place) == written


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("c: [a]\nd: [b\x07]\n", [2]),
        ('c: [a]\nd: ["\\ud800"]\n', [2]),
        ("c: [a]\nd: &x [b]\n? [k]\n: v\n", [3]),
        ("- case: c\n  features: [a]\n- case: c\n  features: {f: b}\n", [4]),
        ("- case: [c]\n  features: [a]\n", [1]),
        ("- case: c\n  metadata: [text]\n  features: [a]\n", [1]),
        ("- case: c\n  metadata: text\n  features: [a]\n", [1]),
        ("c: 5\n", [None]),
        ("rubrics: [a]\nrubric: b\n", [1]),
    ],
)
def test_faults_have_their_lines(content: str, lines: list[int | None], tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_rubrics(tmp_path / "r.yaml")
    assert [fault.line for fault in caught.value.faults] == lines


def test_levels_and_values_are_limited(tmp_path: Path) -> None:
    place = tmp_path / "r.yaml"
    place.write_text("c: [a, b]\n", encoding="utf-8")
    # The table, its list and two texts; three levels.
    for limits, fits in (
        (ReadLimits(cells=4), True), (ReadLimits(cells=3), False),
        (ReadLimits(depth=3), True), (ReadLimits(depth=2), False),
    ):  # fmt: skip
        if fits:
            assert len(read_rubrics(place, limits=limits)[0]) == 2
        else:
            with pytest.raises(InputError):
                read_rubrics(place, limits=limits)
    place = tmp_path / "r.toml"
    place.write_text("a.b.c = 1\n", encoding="utf-8")
    for depth, fits in ((3, True), (2, False)):
        with pytest.raises(InputError) as caught:
            read_rubrics(place, limits=ReadLimits(depth=depth))
        assert ("TOML" in str(caught.value)) != fits


@pytest.mark.parametrize("text", ["a = ", "a = 2020-99-01", ".".join("a" * 200) + " = 1"])
def test_a_file_that_is_no_toml_is_named(text: str, tmp_path: Path) -> None:
    place = tmp_path / "study.toml"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_toml(place)
    assert [fault.path for fault in caught.value.faults] == [place]


@pytest.mark.parametrize("floor", ["none", "0"])
@pytest.mark.parametrize("kind", ["yaml", "toml", "json", "csv"])
def test_a_rubric_says_whether_scores_may_fall_below_0(
    kind: str, floor: str, tmp_path: Path
) -> None:
    path = tmp_path / f"r.{kind if kind != 'json' else 'yaml'}"
    path.write_text(
        {
            "yaml": f"- case: c\n  floor: {floor}\n  features: [{{id: a, text: Fever}}]\n",
            "toml": f'[[rubrics]]\ncase = "c"\nfloor = "{floor}"\n'
            '[[rubrics.features]]\nid = "a"\ntext = "Fever"\n',
            "json": f'[{{"case": "c", "floor": "{floor}", '
            '"features": [{"id": "a", "text": "Fever"}]}]',
            "csv": f"case,id,text,floor\nc,a,Fever,{floor}\nc,b,Cough,\n",
        }[kind],
        encoding="utf-8",
    )
    (rubric,) = read_rubrics(path)
    assert rubric.has_floor is (floor == "0")
    write_rubrics((rubric,), tmp_path / "again.yaml")
    assert read_rubrics(tmp_path / "again.yaml")[0].has_floor is (floor == "0")


def test_another_floor_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("- case: c\n  floor: 50\n  features: [{id: a, text: Fever}]\n")
    with pytest.raises(InputError, match="floor"):
        read_rubrics(path)
