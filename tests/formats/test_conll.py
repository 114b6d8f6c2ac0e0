from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.annotations import first_annotator
from rubricate.formats.conll import (
    FORMAT,
    count_conll_losses,
    looks_like_conll,
    read_conll,
    write_conll,
)
from rubricate.formats.format import count_losses
from rubricate.formats.token_labels import PICO, note_tokens

RESOURCES = Path(__file__).parents[1] / "resources" / "ebmnlp"
DATA = Path(__file__).parents[2] / "../shared/data/ebmnlp"


def found(corpus: Corpus, note_id: str) -> list[tuple[str, str]]:
    text = corpus.note(note_id).text
    return [
        (feature.id, annotation.text(text))
        for note, _, feature, annotations in corpus.values()
        for annotation in annotations
        if note.id == note_id
    ]


def one_feature_a_token(corpus: Corpus) -> Corpus:
    """Keep what tags can hold: the first annotator's annotations, whole tokens, each token once."""
    corpus = first_annotator(corpus)
    builder = CorpusBuilder(corpus.metadata)
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for annotator in corpus.annotators:
        builder.add_annotator(annotator)
    for score in corpus.scores:
        builder.add_score(score)
    for note in corpus.notes:
        builder.add_note(note)
    taken: set[tuple[str, int]] = set()
    for note, annotator, feature, annotations in corpus.values():
        builder.judge(annotator.id, note.id, feature.id)
        for span in (span for annotation in annotations for span in annotation.spans):
            run: list[int] = []
            for start, end in [*note_tokens(note.text), (-1, -1)]:
                touched = start >= 0 and span.start < end and start < span.end
                if touched and (note.id, start) not in taken:
                    taken.add((note.id, start))
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
    place = tmp_path_factory.mktemp("round") / "corpus.conll"
    write_conll(corpus, place)
    assert looks_like_conll(place)
    expected = one_feature_a_token(corpus)
    assert read_conll(place) == expected
    if not count_losses(corpus, FORMAT.holds) | count_conll_losses(corpus):
        assert expected == corpus


@settings(deadline=None)
@given(corpus=corpora(max_annotators=1))
def test_what_tags_can_say_is_no_loss(corpus: Corpus) -> None:
    written = one_feature_a_token(corpus)
    assert count_losses(written, FORMAT.holds) == {}
    assert count_conll_losses(written) == {}


def test_pico_file() -> None:
    place = RESOURCES / "pico.txt"
    assert looks_like_conll(place)
    corpus = read_conll(place)
    assert corpus.rubrics == (PICO,)
    assert corpus.note("101").text == "Ginger tea for nausea 🤢\nWomen\nadults ."
    # A sentence's end ends a span, even where the next begins with the same tag.
    assert found(corpus, "101") == [
        ("participants", "Women"),
        ("participants", "adults"),
        ("interventions", "Ginger tea"),
        ("outcomes", "nausea 🤢"),
    ]
    assert corpus.annotations("202", "outcomes", "annotator") == ()


def test_other_labels_prefixes_and_columns() -> None:
    corpus = read_conll(RESOURCES / "bio.conll")
    assert [note.id for note in corpus.notes] == ["bio"]
    assert [feature.id for feature in corpus.features] == ["Site", "Symptom"]
    assert found(corpus, "bio") == [
        ("Site", "left jaw"),
        ("Site", "jaw"),
        ("Symptom", "no fever"),
        ("Symptom", "chills"),
    ]


def test_the_split_is_the_file_s_name(tmp_path: Path) -> None:
    place = tmp_path / "train_960.txt"
    place.write_text("-DOCSTART- -X- O O\n\nfever NN O O\n", encoding="utf-8")
    (note,) = read_conll(place).notes
    assert (note.id, note.metadata["split"]) == ("train_960-1", "train")


def test_a_token_keeps_the_feature_that_comes_first(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_rubric(PICO)
    builder.add_note(Note("n", "pico", "ginger for women"))
    builder.annotate("a", "n", "participants", [(0, 16)])
    builder.annotate("a", "n", "interventions", [(0, 6)])
    builder.annotate("a", "n", "outcomes", [(7, 16)])
    write_conll(builder.build(), tmp_path / "c.conll")
    corpus = read_conll(tmp_path / "c.conll")
    assert found(corpus, "n") == [("participants", "for women"), ("interventions", "ginger")]
    assert "B-INT" in (tmp_path / "c.conll").read_text(encoding="utf-8")


def test_a_note_nobody_judged_stays_so(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_rubric(PICO)
    for note_id, text in [("judged", "calm"), ("not", "calm"), ("empty", ""), ("blank", " \r\n")]:
        builder.add_note(Note(note_id, "pico", text))
    builder.judge_all("a", "judged")
    builder.judge_all("a", "blank")
    write_conll(builder.build(), tmp_path / "c.conll")
    assert read_conll(tmp_path / "c.conll") == builder.build()
    assert " O\n" not in (tmp_path / "c.conll").read_text(encoding="utf-8").split("(not)")[1]


def test_cut_words_are_counted() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "hot flashes"))
    builder.add_feature(Feature("f", "c", "Hot flashes"))
    builder.annotate("a", "n", "f", [(1, 11)])
    assert count_conll_losses(builder.build()) == {"boundaries": 1}


def test_half_a_surrogate_pair_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    corpus = Corpus((Note("n", "c", "a\ud83d"),), ())
    with pytest.raises(InputError, match="note 'n'"):
        write_corpus(corpus, tmp_path / "out", format="conll")
    assert not (tmp_path / "out").exists()


def test_every_fault_is_reported(tmp_path: Path) -> None:
    place = tmp_path / "c.conll"
    place.write_text(
        "-DOCSTART- (1)\n\nfever NN O I-OUT\nsecret NN O X-OUT\nsecret\nsecret NN O\n"
        "-DOCSTART- (1)\n\nfever NN O O\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_conll(place)
    assert [fault.line for fault in caught.value.faults] == [4, 5, 6, 7]
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("note.txt", b"Patient has no fever.\nShe is well.\n"),
        ("note.csv", b"-DOCSTART- (1)\n"),
        ("tags.tsv", b"#FORMAT=WebAnno TSV 3.3\n#T_SP=custom|x\n"),
        ("empty.txt", b""),
        ("odd.txt", bytes(range(256))),
        ("one.txt", b"O O"),
    ],
)
def test_other_files_are_not_claimed(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert not looks_like_conll(tmp_path / name)


def test_a_folder_is_not_claimed(tmp_path: Path) -> None:
    assert not looks_like_conll(tmp_path)


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the public data beside the checkout")
def test_the_corpus_s_own_file() -> None:
    corpus = read_conll(DATA / "test.txt")
    assert len(corpus.notes) == 191
    assert len(corpus.rows) == 3 * 191
    # One tag a token: what the file's tags cover is what the annotations cover.
    body = (DATA / "test.txt").read_text(encoding="utf-8").split("\n")
    tagged = sum(len(line.split(" ")[0]) for line in body if line.endswith("I-PAR"))
    marked = sum(
        len("".join(words.split()))
        for note in corpus.notes
        for feature, words in found(corpus.select(notes=[note.id]), note.id)
        if feature == "participants"
    )
    assert marked == tagged
