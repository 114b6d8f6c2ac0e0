import pytest

from rubricate import Feature, Note, Rubric, load_corpus
from rubricate.spans import Span
from rubricate.trust import GamingLimits, flag_note, flag_notes

CORPUS = load_corpus("open-notes")
RUBRICS = {rubric.case: rubric for rubric in CORPUS.rubrics}


def kinds(text: str, case: str = "0", **more: object) -> set[str]:
    flags = flag_note(Note("x", case, text), RUBRICS[case], **more)  # type: ignore[arg-type]
    return {flag.kind for flag in flags}


@pytest.mark.parametrize("case", ["0", "5", "30", "101"])
def test_a_pasted_rubric_is_flagged_also_below_an_honest_note(case: str) -> None:
    honest = next(note for note in CORPUS.notes if note.case == case)
    pasted = "\n".join(feature.text for feature in RUBRICS[case])
    assert "pasted rubric" in kinds(pasted, case)
    assert "pasted rubric" in kinds(f"{honest.text}\n{pasted.upper()}", case)


def test_heaped_keywords_are_flagged_also_between_honest_words() -> None:
    words = [w for feature in RUBRICS["0"] for w in feature.text.split() if len(w) > 3]
    heap = " ".join(reversed(words))
    assert "keyword stuffing" in kinds(heap)
    assert "keyword stuffing" in kinds(f"{CORPUS.notes[0].text} {heap} {CORPUS.notes[1].text}")


def test_a_word_said_over_and_over_is_flagged() -> None:
    text = "he has pain and more " + "hypertension again then " * 12
    assert "keyword stuffing" in kinds(text)


def test_a_list_needs_evidence_to_be_told() -> None:
    found = [
        "58 yo",
        "man",
        "tight chest",
        "three weeks",
        "stairs bring it on",
        "jaw",
        "sweats",
        "smokes",
    ]
    text = ", ".join(found)
    place, evidence = 0, {}
    for feature, words in zip(RUBRICS["0"], found, strict=False):
        evidence[feature.id] = [Span(place, place + len(words))]
        place += len(words) + 2
    assert kinds(text) == set()
    assert kinds(text, evidence=evidence) == {"list without a story"}
    few = dict(list(evidence.items())[:3])
    assert "list without a story" not in kinds(text[:24], evidence=few)


def test_honest_notes_are_hardly_ever_flagged_by_their_words() -> None:
    # The limits were chosen on these notes: this guards them against change, and proves nothing
    flags = flag_notes(CORPUS.notes, RUBRICS)
    assert len({flag.note for flag in flags}) <= 2


def test_limits_can_be_set() -> None:
    strict = GamingLimits(keyword_share=0.3)
    assert kinds(CORPUS.notes[1].text, limits=strict) == {"keyword stuffing"}


def test_one_long_feature_word_for_word_is_not_the_rubric() -> None:
    long = (
        "Pain in the chest that comes with effort and goes with rest within five minutes each time"
    )
    rubric = Rubric(
        "c", (Feature("a", "c", long), *(Feature(str(i), "c", f"Sign {i}") for i in range(9)))
    )
    note = Note(
        "x", "c", f"She told me this happened at work. {long}. She sleeps badly and eats little."
    )
    assert "pasted rubric" not in {flag.kind for flag in flag_note(note, rubric)}


def test_nothing_to_go_by_is_nothing_to_flag() -> None:
    assert flag_note(Note("x", "0", "…"), RUBRICS["0"]) == ()
    assert flag_note(Note("x", "c", "words"), Rubric("c", ())) == ()
    assert flag_notes([Note("x", "unknown", "words")], RUBRICS) == ()


def test_symptoms_nobody_asked_for_and_unrelated_texts_are_flagged_with_evidence() -> None:
    from rubricate.lexicon.store import load_default_lexicon

    listed = ", ".join(group.phrases[0].text for group in load_default_lexicon().groups[:150])
    assert "list without a story" in kinds(listed, evidence={})
    minutes = "The council met on Tuesday to settle the budget, and everybody went home early."
    assert kinds(minutes, evidence={}) == {"unrelated text"}
    assert kinds(minutes) == set()
