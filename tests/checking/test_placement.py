from __future__ import annotations

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.builder import RowsBuilder
from rubricate.checking import check_corpus
from rubricate.checking.placement import has_words, is_joined, locate, word_around
from rubricate.rows import Detail


@pytest.mark.parametrize(
    ("text", "place", "joined"),
    [
        ("hot", 1, True),
        ("hot flash", 3, False),
        ("58M", 2, False),
        ("x3wks", 2, False),
        ("yoF", 2, False),
        ("58", 1, True),
        ("2.5", 1, True),
        ("2.5", 2, True),
        ("ends.5", 4, False),
        ("can't", 3, True),
        ("can't", 4, True),
        ("mother's", 6, False),
        ("e\u0301t", 1, True),
        ("e\u0301t", 2, False),
        ("ñandú", 1, True),
        ("中文", 1, False),
        ("👩🏽", 1, True),
        ("👩\u200d⚕", 1, True),
        ("👩\u200d⚕", 2, True),
        ("a", 0, False),
        ("a", 1, False),
        ("", 0, False),
    ],
)
def test_what_belongs_to_one_word(text: str, place: int, joined: bool) -> None:
    assert is_joined(text, place) is joined


def test_word_around_stops_at_marks_and_ends() -> None:
    assert word_around("chest-pain", 7) == (6, 10)
    assert word_around("fever", 2) == (0, 5)
    assert word_around("a, b", 1) == (1, 2)


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


def two_cases() -> CorpusBuilder:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "58 yo F with fever. She is 58."))
    builder.add_feature(Feature("age", "c", "58 year"))
    builder.add_feature(Feature("sex", "c", "Female"))
    builder.add_feature(Feature("other-sex", "d", "female"))
    builder.add_feature(Feature("other", "d", "Fever"))
    return builder


def test_a_foreign_feature_goes_to_the_own_one_of_the_same_text() -> None:
    builder = two_cases()
    builder.annotate("a", "n", "other-sex", [(6, 7)])
    (finding,) = check_corpus(builder.build())
    assert finding.rule == "foreign-feature"
    assert finding.repair is not None
    assert (finding.repair.action, finding.repair.feature_id) == ("move", "sex")
    assert finding.is_repairable


def test_a_foreign_feature_without_counterpart_is_for_a_person_to_decide() -> None:
    builder = two_cases()
    builder.annotate("a", "n", "other", [(13, 18)])
    builder.judge("a", "n", "other-sex")
    found = {(f.feature_id, f.annotation, f.is_repairable) for f in check_corpus(builder.build())}
    assert found == {("other", 0, False), ("other-sex", None, False)}


def test_two_own_features_of_the_same_text_leave_a_choice() -> None:
    builder = two_cases()
    builder.add_feature(Feature("sex2", "c", "FEMALE"))
    builder.annotate("a", "n", "other-sex", [(6, 7)])
    (finding,) = check_corpus(builder.build())
    assert not finding.is_repairable


def test_repeats_are_found_once_each() -> None:
    builder = two_cases()
    builder.add_feature(Feature("f", "c", "Fever"))
    for _ in range(3):
        builder.annotate("a", "n", "f", [(13, 18)])
    findings = check_corpus(builder.build(), rules=["repeated"]).findings
    assert len(findings) == 2
    assert all(f.is_repairable for f in findings)
    assert len({f.annotation for f in findings}) == 2


def test_the_repeat_that_says_nothing_goes() -> None:
    builder = two_cases()
    builder.add_feature(Feature("f", "c", "Fever"))
    builder.annotate("a", "n", "f", [(13, 18)], detail=Detail(comment="sure"))
    builder.annotate("a", "n", "f", [(13, 18)])
    corpus = builder.build()
    (finding,) = check_corpus(corpus)
    assert finding.annotation is not None
    assert corpus.row_annotations(0)[finding.annotation].detail == Detail()


def test_repeats_that_say_different_things_are_for_a_person_to_decide() -> None:
    builder = two_cases()
    builder.add_feature(Feature("f", "c", "Fever"))
    for comment in ("sure", "unsure"):
        builder.annotate("a", "n", "f", [(13, 18)], detail=Detail(comment=comment))
    (finding,) = check_corpus(builder.build())
    assert not finding.is_repairable


@pytest.mark.parametrize(
    ("text", "kind", "is_once"),
    [
        ("58 year", "", True),
        ("58-year-old", "", True),
        ("Age 58", "", True),
        ("8 months old", "", True),
        ("Female", "", True),
        ("Gender", "", True),
        ("Male OR man", "", True),
        ("Young", "age", True),
        ("F", "gender", True),
        ("8 weeks", "", False),
        ("Smoked for 40 years", "", False),
        ("Sex worker", "", False),
        ("Age at menarche 12", "", False),
    ],
)
def test_age_and_gender_are_marked_once(text: str, kind: str, is_once: bool) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "58 yo F with fever. She is 58."))
    builder.add_feature(Feature("f", "c", text, kind=kind))
    builder.annotate("a", "n", "f", [(0, 2)])
    builder.annotate("a", "n", "f", [(27, 29)])
    findings = check_corpus(builder.build(), rules=["marked-again"]).findings
    assert [f.spans for f in findings] == ([((27, 29),)] if is_once else [])
