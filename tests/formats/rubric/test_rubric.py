from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rubricate import CorpusBuilder, Feature, Metadata, Note, Rubric
from rubricate.errors import InputError, OutputExistsError
from rubricate.formats.rubric import (
    read_rubric_file,
    read_rubrics,
    with_rubrics,
    write_rubrics,
)

RESOURCES = Path(__file__).parents[2] / "resources" / "rubrics"
KINDS = [".csv", ".tsv", ".xlsx", ".yaml", ".toml"]

#: Texts that files get wrong: quotes, separators, line breaks, formulas, numbers, YAML's words.
PIECES = [
    "pain", " ", ",", ";", "\t", '"', "'", "''", "\n", "\r\n", "\r", "=", "-", "+", "@", "#N/A", "😀",
    "é", "e\u0301", "_x000D_", "x005F_", "_", "007", "1.0", "no", "null", "~", ": ", " #", "\\", "\x0c",
    "\x7f", "\u2028", "\u00a0", "[", "{", "&", "<b>", "%", "!", "\ufeff", "\x85", "2020-01-01", "OR",
]  # fmt: skip
TEXT = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda text: text == text.strip() and text != "")
)
MAYBE = st.one_of(st.just(""), TEXT)
WEIGHT = st.one_of(st.just(1.0), st.floats(0, 1e4), st.integers(0, 9).map(float))
SCALAR = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), TEXT, st.just("")
)


@st.composite
def rubrics(draw: st.DrawFn) -> tuple[Rubric, ...]:
    cases = draw(st.lists(TEXT, min_size=1, max_size=3, unique=True))
    ids = iter(draw(st.lists(TEXT, min_size=9, max_size=9, unique=True)))
    made = []
    for case in cases:
        features = tuple(
            Feature(
                next(ids), case, draw(TEXT), draw(WEIGHT), draw(MAYBE), draw(MAYBE), draw(MAYBE)
            )
            for _ in range(draw(st.integers(1, 3)))
        )
        metadata = Metadata(draw(st.dictionaries(TEXT, SCALAR, max_size=2)))
        made.append(Rubric(case, features, draw(MAYBE), metadata))
    return tuple(made)


def without_metadata(rubric: Rubric) -> Rubric:
    return Rubric(rubric.case, rubric.features, rubric.title)


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(written=rubrics())
def test_round_trip(
    kind: str, written: tuple[Rubric, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / f"r{kind}"
    lost = write_rubrics(written, place)
    found = read_rubric_file(place)
    assert found.notices == ()
    if not lost:
        assert found.rubrics == written
    assert tuple(map(without_metadata, found.rubrics)) == tuple(map(without_metadata, written))
    assert not (lost and kind == ".yaml")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.csv", "Feature\nNo fever\nCough"),
        ("c.yaml", "[No fever, Cough]"),
        ("c.toml", 'features = ["No fever", "Cough"]'),
    ],
)
def test_missing_cases_and_ids_are_made_and_told(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = read_rubric_file(tmp_path / name)
    assert [(f.case, f.id) for f in found.rubrics[0]] == [("c", "c-no-fever"), ("c", "c-cough")]
    assert len(found.notices) == 2


@pytest.mark.parametrize("name", ["r.xlsx", "r.csv", "r.yaml", "r.toml"])
def test_files_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_rubrics(tmp_path / name)
    (tmp_path / name).write_bytes(b"\xff\xfe\x00broken")
    with pytest.raises(InputError):
        read_rubrics(tmp_path / name)


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.xlsx"):
        read_rubrics(tmp_path / "r.xls")
    with pytest.raises(InputError, match=r"\.csv"):
        write_rubrics([], tmp_path / "r.docx")


@pytest.mark.parametrize(
    "bad",
    [
        [],
        [Rubric("c", ())],
        [Rubric("c", (Feature("f", "c", " "),))],
        [Rubric("c", (Feature("f", "c", "F", weight=float("-inf")),))],
        [Rubric("c", (Feature("f", "c", "F", weight=float("nan")),))],
        [Rubric("c", (Feature("f", "c", "F"), Feature("f", "c", "G")))],
        [Rubric("c", (Feature("f", "c", "F"),)), Rubric("c", (Feature("g", "c", "F"),))],
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_could_not_be_read_back_is_not_written(
    kind: str, bad: list[Rubric], tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        write_rubrics(bad, tmp_path / f"r{kind}")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    rubric = Rubric("c", (Feature("f", "c", "F"),))
    write_rubrics([rubric], tmp_path / "r.toml")
    with pytest.raises(OutputExistsError):
        write_rubrics([rubric], tmp_path / "r.toml")
    write_rubrics([rubric], tmp_path / "r.toml", overwrite=True)


class TestWithRubrics:
    @pytest.fixture
    def builder(self) -> CorpusBuilder:
        builder = CorpusBuilder()
        builder.add_note(Note("n", "c", "no fever, cough"))
        builder.add_note(Note("m", "d", "well"))
        builder.add_feature(Feature("fever", "c", "f"))
        builder.add_feature(Feature("cough", "c", "c"))
        builder.add_feature(Feature("well", "d", "w"))
        builder.annotate("a", "n", "cough", [(10, 15)])
        builder.judge("a", "m", "well")
        return builder

    def test_rows_keep_their_feature(self, builder: CorpusBuilder) -> None:
        new = Rubric("c", (Feature("new", "c", "New"), Feature("cough", "c", "Cough", weight=2)))
        corpus = with_rubrics(builder.build(), [new])
        assert corpus.rubric("c") == new
        assert [f.id for f in corpus.features] == ["new", "cough", "well"]
        found = corpus.annotations("n", "cough", "a")
        assert found is not None
        assert [a.text("no fever, cough") for a in found] == ["cough"]
        assert corpus.annotations("m", "well", "a") == ()

    def test_a_judged_feature_may_not_go(self, builder: CorpusBuilder) -> None:
        rubrics = [Rubric("c", (Feature("x", "c", "X"),)), Rubric("d", (Feature("y", "d", "Y"),))]
        with pytest.raises(InputError) as caught:
            with_rubrics(builder.build(), rubrics)
        assert len(caught.value.faults) == 2

    def test_an_id_of_another_case_is_taken(self, builder: CorpusBuilder) -> None:
        rubric = Rubric("c", (Feature("cough", "c", "C"), Feature("well", "c", "W")))
        with pytest.raises(InputError, match="two rubrics"):
            with_rubrics(builder.build(), [rubric])

    def test_rubrics_of_other_cases_only_are_a_mistake(self, builder: CorpusBuilder) -> None:
        with pytest.raises(InputError, match="'e'"):
            with_rubrics(builder.build(), [Rubric("e", (Feature("x", "e", "X"),))])

    def test_notes_without_a_rubric_get_one(self) -> None:
        builder = CorpusBuilder()
        builder.add_note(Note("n", "c", ""))
        rubric = Rubric("c", (Feature("x", "c", "X"),))
        assert with_rubrics(builder.build(), [rubric]).rubrics == (rubric,)
