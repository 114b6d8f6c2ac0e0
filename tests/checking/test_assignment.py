import pytest

from rubricate import CorpusBuilder, Feature, Note
from rubricate.checking import check_corpus
from rubricate.rows import Detail


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
