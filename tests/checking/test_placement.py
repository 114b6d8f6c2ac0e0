import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.builder import RowsBuilder
from rubricate.checking import check_corpus
from rubricate.checking.placement import has_words, locate
from rubricate.rows import Detail


def corpus_with(
    text: str, spans: list[tuple[int, int]], stated: str | None = None, feature: str = "Fever"
) -> Corpus:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", text))
    builder.add_feature(Feature("f", "c", feature))
    builder.annotate("a", "n", "f", spans, detail=Detail(stated_text=stated))
    return builder.build()


@pytest.mark.parametrize("span", [(-1, 3), (3, 3), (5, 2), (0, 9), (9, 12)])
def test_offsets_out_of_range_are_found_and_keep_other_rules_off(span: tuple[int, int]) -> None:
    findings = check_corpus(corpus_with(" fever. ", [span])).findings
    assert [f.rule for f in findings] == ["out-of-range"]
    assert findings[0].spans == (span,)
    assert not findings[0].is_repairable


def test_an_empty_note_holds_no_annotation() -> None:
    assert check_corpus(corpus_with("", [(0, 5)])).counts["out-of-range"] == 1


def test_out_of_range_is_repaired_by_the_stated_text() -> None:
    (finding,) = check_corpus(corpus_with("has fever", [(6, 11)], "fever"))
    assert finding.rule == "out-of-range"
    assert finding.repair is not None
    assert finding.repair.spans == ((4, 9),)
    assert finding.is_repairable


def test_cutting_off_an_overrun_is_only_proposed() -> None:
    (finding,) = check_corpus(corpus_with("has fever", [(4, 10)]))
    assert finding.repair is not None
    assert finding.repair.spans == ((4, 9),)
    assert not finding.repair.safe


@pytest.mark.parametrize(
    ("text", "stated", "spans", "expected"),
    [
        ("has no fever", "fever", ((6, 11),), ((7, 12),)),
        # Wrong length, capitals, white space, a text cut out of words.
        ("has no fever", "no fever", ((7, 12),), ((4, 12),)),
        ("has Fever", "fever", ((0, 3),), ((4, 9),)),
        ("no\r\nfever", "no fever", ((0, 9),), ((0, 9),)),
        ("no fever ", "no fever", ((0, 9),), ((0, 9),)),
        ("has hot flashes", "ot flashes", ((4, 14),), ((5, 15),)),
        # Once in the note, however far.
        ("fever" + " x" * 40, "fever", ((60, 65),), ((0, 5),)),
        # Twice: the near one, unless both are near.
        ("fever" + " x" * 40 + " fever", "fever", ((84, 86),), ((86, 91),)),
        ("fever, fever", "fever", ((1, 6),), None),
        ("fever" + " x" * 80 + " fever", "fever", ((80, 85),), None),
        # Fragments, all slipped or one only.
        ("denies fever, chills", "denies chills", ((2, 8), (16, 20)), ((0, 6), (14, 20))),
        ("denies fever, chills", "denies chills", ((0, 6), (12, 18)), ((0, 6), (14, 20))),
        ("denies fever, chills", "denies fever", ((0, 6), (12, 18)), ((0, 12),)),
        ("denies fever", "denies cough", ((0, 6), (8, 12)), None),
        ("feverish", "cough", ((0, 5),), None),
        ("fever", "  ", ((0, 5),), None),
        ("M or F", "M", ((2, 3),), ((0, 1),)),
        ("58M c/o", "58", ((1, 3),), ((0, 2),)),
    ],
)
def test_locate(
    text: str,
    stated: str,
    spans: tuple[tuple[int, int], ...],
    expected: tuple[tuple[int, int], ...] | None,
) -> None:
    assert locate(text, stated, spans) == expected


def test_text_mismatch_keeps_rules_about_words_off() -> None:
    findings = check_corpus(corpus_with("has fever, cough", [(9, 16)], "chills")).findings
    assert [f.rule for f in findings] == ["text-mismatch"]
    assert findings[0].repair is None


def test_a_long_fragmented_text_ends_in_good_time() -> None:
    words = " ".join(f"w{i}" for i in range(40))
    assert locate(words, words[::-1], tuple((i, i + 1) for i in range(0, 16, 2))) is None


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 6), (4, 9)], ((0, 9),)),
        ([(0, 4), (4, 9)], ((0, 9),)),
        ([(0, 3), (0, 3), (4, 9)], ((0, 3), (4, 9))),
        ([(0, 3), (4, 9)], None),
    ],
)
def test_overlapping_fragments(
    spans: list[tuple[int, int]], expected: tuple[tuple[int, int], ...] | None
) -> None:
    findings = check_corpus(corpus_with("has fever", spans), rules=["overlapping-fragments"])
    repairs = [f.repair.spans for f in findings if f.repair is not None]
    assert repairs == ([] if expected is None else [expected])


@pytest.mark.parametrize("spans", [[(3, 4)], [(8, 9)], [(3, 4), (8, 9)]])
def test_no_words(spans: list[tuple[int, int]]) -> None:
    findings = check_corpus(corpus_with("has feve.", spans)).findings
    assert {f.rule for f in findings} == {"no-words"}
    assert not findings[0].is_repairable


def test_no_span_at_all() -> None:
    builder = RowsBuilder()
    builder.annotate(0, 0, 0, [])
    corpus = corpus_with("has fever", [(4, 9)]).with_rows(builder.build())
    (finding,) = check_corpus(corpus).findings
    assert (finding.rule, finding.is_repairable) == ("no-words", False)


@pytest.mark.parametrize("sign", ["♀", "+", "↑", "Ø", "3", "发", "👩"])
def test_signs_count_as_words(sign: str) -> None:
    assert has_words(sign)
