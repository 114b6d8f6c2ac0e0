import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import corpora

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.ebmnlp import (
    FORMAT,
    count_ebmnlp_losses,
    looks_like_ebmnlp,
    read_ebmnlp,
    write_ebmnlp,
)
from rubricate.formats.format import FRAME_NAME, count_losses
from rubricate.formats.options import ReadOptions
from rubricate.formats.token_labels import note_tokens

RESOURCES = Path(__file__).parents[2] / "resources" / "ebmnlp"
EXPERTS = Path(__file__).parents[3] / "../shared/data/ebmnlp/experts"


def copy(name: str, target: Path) -> Path:
    shutil.copytree(RESOURCES / name, target)
    return target


def words(corpus: Corpus, note_id: str, feature_id: str, annotator_id: str) -> list[str] | None:
    found = corpus.annotations(note_id, feature_id, annotator_id)
    text = corpus.note(note_id).text
    return None if found is None else [annotation.text(text) for annotation in found]


def on_tokens(corpus: Corpus) -> Corpus:
    """Keep what labels on tokens can hold: per row, the runs of tokens that a span touches."""
    builder = CorpusBuilder(corpus.metadata)
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for annotator in corpus.annotators:
        builder.add_annotator(annotator)
    for score in corpus.scores:
        builder.add_score(score)
    for note in corpus.notes:
        builder.add_note(note)
    for note, annotator, feature, annotations in corpus.values():
        builder.judge(annotator.id, note.id, feature.id)
        spans = [span for annotation in annotations for span in annotation.spans]
        run: list[int] = []
        for start, end in [*note_tokens(note.text), (-1, -1)]:
            if start >= 0 and any(s.start < end and start < s.end for s in spans):
                run = [run[0] if run else start, end]
            elif run:
                builder.annotate(annotator.id, note.id, feature.id, [(run[0], run[1])])
                run = []
    return builder.build()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora())
def test_all_but_what_is_counted_survives(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / "corpus"
    write_ebmnlp(corpus, place)
    assert looks_like_ebmnlp(place)
    assert read_ebmnlp(place) == on_tokens(corpus)
    if not count_losses(corpus, FORMAT.holds) | count_ebmnlp_losses(corpus):
        assert on_tokens(corpus) == corpus


@settings(deadline=None)
@given(corpus=corpora())
def test_what_labels_can_say_is_no_loss(corpus: Corpus) -> None:
    written = on_tokens(corpus)
    assert count_losses(written, FORMAT.holds) == {}
    assert count_ebmnlp_losses(written) == {}


def test_release_2_folder() -> None:
    corpus = read_ebmnlp(RESOURCES / "release2")
    assert [note.id for note in corpus.notes] == ["101", "202", "303"]
    assert [feature.id for feature in corpus.rubric("pico")] == [
        "participants",
        "interventions",
        "outcomes",
    ]
    assert {a.id: a.group for a in corpus.annotators} == {
        "E1": "expert",
        "E2": "expert",
        "W9": "crowd",
        "aggregated": "aggregated",
        "aggregated-crowd": "aggregated",
        "aggregated-hierarchical": "aggregated-hierarchical",
    }
    assert words(corpus, "101", "participants", "E1") == ["adults", "40 women (mean age 31)"]
    # The text has curly quotes where the tokens have those of the Penn Treebank.
    assert words(corpus, "101", "interventions", "E1") == ["Ginger tea", "ginger tea"]
    assert words(corpus, "101", "outcomes", "E1") == []
    assert words(corpus, "101", "outcomes", "E2") is None
    assert words(corpus, "101", "outcomes", "W9") == ["nausea", "nausea"]
    assert words(corpus, "101", "participants", "aggregated") == ["40 women"]
    assert words(corpus, "101", "participants", "aggregated-crowd") == ["women"]
    assert len(corpus.note_rows("303")) == 0
    assert [note.metadata.get("split") for note in corpus.notes] == ["test", "train", None]
    assert corpus.note("101").text.endswith("fell.\r\n")


def test_another_sublabel_begins_another_annotation() -> None:
    corpus = read_ebmnlp(RESOURCES / "release2")
    found = corpus.annotations("101", "participants", "aggregated-hierarchical")
    assert found is not None
    text = corpus.note("101").text
    assert [(a.text(text), dict(a.detail.attributes)["sublabel name"]) for a in found] == [
        ("40", "Sample size"),
        ("women", "Sex"),
        ("mean age 31", "Age"),
    ]


def test_release_1_folder() -> None:
    corpus = read_ebmnlp(RESOURCES / "release1")
    assert words(corpus, "101", "participants", "E1") == ["adults", "40 women (mean age 31)"]
    assert words(corpus, "202", "participants", "W9") == []
    assert words(corpus, "101", "participants", "aggregated") == ["40 women"]
    assert {a.id: a.group for a in corpus.annotators}["E1"] == "expert"


@pytest.mark.parametrize(
    ("below", "annotators"),
    [
        ("annotations", 6),
        ("annotations/individual", 3),
        ("annotations/aggregated/starting_spans", 2),
        ("annotations/individual/starting_spans/participants/test/gold", 2),
    ],
)
def test_a_folder_inside_is_read_alone(
    below: str, annotators: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = RESOURCES / "release2" / below
    assert looks_like_ebmnlp(place)
    corpus = read_ebmnlp(place)
    assert len(corpus.annotators) == annotators
    monkeypatch.chdir(place)
    assert read_ebmnlp(Path()) == corpus


@pytest.mark.parametrize("below", ["release2/documents", "release2/nowhere", "pico.txt", "."])
def test_other_places_are_not_claimed(below: str) -> None:
    assert not looks_like_ebmnlp(RESOURCES / below)
    with pytest.raises(InputError, match="PMID"):
        read_ebmnlp(RESOURCES / below)


def test_half_a_surrogate_pair_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    corpus = Corpus((Note("n", "c", "a\ud83d"),), ())
    with pytest.raises(InputError, match="note 'n'"):
        write_corpus(corpus, tmp_path / "out", format="ebmnlp")
    assert not (tmp_path / "out").exists()


def test_every_fault_is_reported(tmp_path: Path) -> None:
    place = copy("release2", tmp_path / "broken")
    spans = place / "annotations/individual/starting_spans"
    experts = spans / "participants/test/gold"
    (experts / "101.E1.ann").write_text("0\n" * 5, encoding="utf-8")
    (experts / "101.E2.ann").write_text("0\nsecret\n" + "0\n" * 22, encoding="utf-8")
    (experts / "999.E2.ann").write_text("0\n", encoding="utf-8")
    (experts / "101_E2.ann").write_bytes(b"\xff\xfe")
    (spans / "lost.ann").write_text("0\n", encoding="utf-8")
    (experts / "202.E1.ann").write_text("0\n" * 4, encoding="utf-8")
    (place / "documents/303.txt").write_text("Nobody said secret", encoding="utf-8")
    (experts / "303.E1.ann").write_text("0\n" * 5, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_ebmnlp(place)
    faults = {(f.path.name, f.line) for f in caught.value.faults if f.path}
    assert faults == {
        ("101.E1.ann", None),
        ("101.E2.ann", 2),
        ("101_E2.ann", 1),
        ("999.E2.ann", None),
        ("lost.ann", None),
        ("202.W9.ann", None),
        ("303.tokens", 2),
    }
    assert "secret" not in str(caught.value)


def test_two_files_for_one_row_are_a_fault(tmp_path: Path) -> None:
    place = copy("release1", tmp_path / "twice")
    experts = place / "annotations/individual/phase_1/participants/test/gold"
    shutil.copy(experts / "101_E1.ann", experts / "101.E1.ann")
    with pytest.raises(InputError, match="already given"):
        read_ebmnlp(place)


def test_annotations_without_tokens_are_a_fault(tmp_path: Path) -> None:
    place = copy("release2", tmp_path / "bare")
    (place / "documents/101.tokens").unlink()
    with pytest.raises(InputError, match="no tokens"):
        read_ebmnlp(place)


def test_lenient_reading_takes_the_tokens_for_the_text(tmp_path: Path) -> None:
    place = copy("release1", tmp_path / "other")
    (place / "documents/202.text").write_text("A noisy study.", encoding="utf-8")
    with pytest.raises(InputError):
        read_ebmnlp(place)
    note = read_ebmnlp(place, ReadOptions(strict=False)).note("202")
    assert note.text == "A quiet study ."
    assert note.metadata == {"split": "train", "text": "tokens"}


def test_a_corpus_without_rubrics_gets_none(tmp_path: Path) -> None:
    corpus = Corpus((Note("n", "c", "fever"),), ())
    write_ebmnlp(corpus, tmp_path / "c")
    assert read_ebmnlp(tmp_path / "c") == corpus


def test_without_the_frame_our_own_folder_still_reads(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("7", "c", "no chest pain"))
    builder.add_feature(Feature("f1", "c", "Chest pain"))
    builder.annotate("ann", "7", "f1", [(3, 13)])
    write_ebmnlp(builder.build(), tmp_path / "out")
    (tmp_path / "out" / FRAME_NAME).unlink()
    corpus = read_ebmnlp(tmp_path / "out")
    assert words(corpus, "7", "f1_Chest-pain", "ann") == ["chest pain"]


def test_written_layout_is_the_release_s(tmp_path: Path) -> None:
    corpus = read_ebmnlp(RESOURCES / "release2/annotations/individual")
    write_ebmnlp(corpus, tmp_path / "out")
    written = tmp_path / "out/annotations/individual/starting_spans"
    assert (written / "participants/test/gold/101.E1.ann").exists()
    assert (written / "outcomes/test/crowd/101.W9.ann").exists()
    assert (written / "participants/train/202.W9.ann").exists()
    assert read_ebmnlp(tmp_path / "out") == corpus


def test_aggregated_labels_go_back_to_their_folder(tmp_path: Path) -> None:
    corpus = read_ebmnlp(RESOURCES / "release2/annotations/aggregated/starting_spans")
    write_ebmnlp(corpus, tmp_path / "out")
    written = tmp_path / "out/annotations/aggregated/starting_spans/participants/test"
    assert (written / "gold/101.AGGREGATED.ann").exists()
    assert (written / "crowd/101.AGGREGATED.ann").exists()
    (tmp_path / "out" / FRAME_NAME).unlink()
    again = read_ebmnlp(tmp_path / "out")
    assert again.rows == corpus.rows
    assert again.annotators == (
        Annotator("aggregated", "aggregated"),
        Annotator("aggregated-crowd", "aggregated"),
    )


def test_a_leading_feff_is_text(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "\ufefffever"))
    builder.add_feature(Feature("f", "c", "Fever"))
    builder.annotate("a", "n", "f", [(1, 6)])
    write_ebmnlp(builder.build(), tmp_path / "out")
    assert read_ebmnlp(tmp_path / "out") == builder.build()


def test_cut_and_merged_annotations_are_counted() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "hot flashes, chest pain"))
    builder.add_feature(Feature("f", "c", "Hot flashes"))
    builder.annotate("a", "n", "f", [(1, 11)])
    builder.annotate("a", "n", "f", [(13, 18)])
    builder.annotate("a", "n", "f", [(19, 23)])
    assert count_ebmnlp_losses(builder.build()) == {"boundaries": 1, "touching": 2}


@pytest.mark.data
@pytest.mark.skipif(not EXPERTS.is_dir(), reason="needs the public data beside the checkout")
class TestExperts:
    def test_shape(self) -> None:
        corpus = read_ebmnlp(EXPERTS)
        assert len(corpus.notes) == 191
        assert [a.id for a in corpus.annotators] == ["E1", "E2", "E3", "E4"]
        # E4's outcomes are missing for 25 documents: not judged, which is not "nothing found".
        judged = [corpus.row(n.id, "outcomes", "E4") is not None for n in corpus.notes]
        assert judged.count(False) == 25
        assert read_ebmnlp(EXPERTS / "annotations") == corpus

    @pytest.mark.parametrize(
        ("feature", "exact", "one_side", "overlap"),
        [
            # Table 2, Expert-200, of the agreement study of EBM-NLP (paper's outcomes: .357/.654/
            # .713), with its protocol on these tokens, which were cut again from the text.
            ("participants", 0.395, 0.679, 0.737),
            ("interventions", 0.576, 0.732, 0.758),
            ("outcomes", 0.359, 0.657, 0.718),
        ],
    )
    def test_spans_give_the_published_agreement(
        self, feature: str, exact: float, one_side: float, overlap: float
    ) -> None:
        corpus = read_ebmnlp(EXPERTS)
        got = [mean_f1(corpus, feature, rule) for rule in ("exact", "one side", "overlap")]
        assert got == pytest.approx([exact, one_side, overlap], abs=0.0006)


def mean_f1(corpus: Corpus, feature: str, rule: str) -> float:
    """Mean over notes of the mean F1 over ordered pairs; one side counted, none is 0."""

    def hits(a: tuple[int, int], b: tuple[int, int]) -> bool:
        shares = a[0] < b[1] and b[0] < a[1]
        if rule == "exact":
            return a == b
        return shares and (rule == "overlap" or a[0] == b[0] or a[1] == b[1])

    per_note = []
    for note in corpus.notes:
        spans = []
        for annotator in corpus.annotators:
            found = corpus.annotations(note.id, feature, annotator.id)
            if found is not None:
                spans.append([(a.spans[0].start, a.spans[0].end) for a in found])
        pairs = []
        for i, reference in enumerate(spans):
            for predicted in spans[:i] + spans[i + 1 :]:
                tp = sum(any(hits(p, r) for r in reference) for p in predicted)
                precision, recall = tp / max(1, len(predicted)), tp / max(1, len(reference))
                pairs.append(2 * precision * recall / (precision + recall) if tp else 0.0)
        per_note.append(sum(pairs) / len(pairs))
    return sum(per_note) / len(per_note)
