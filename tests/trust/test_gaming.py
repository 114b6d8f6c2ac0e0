import random

import pytest

from rubricate import Corpus, Feature, Note, Rubric, load_corpus
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers import fit_matcher
from rubricate.run import Evidence, total_score
from rubricate.run.results import CounterEvidence, Total
from rubricate.trust import flag_note, flag_notes
from rubricate.trust.gaming import GamingLimits, measure_writing

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
        evidence[feature.id] = Evidence((((place, place + len(words)),),))
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
    listed = ", ".join(group.phrases[0].text for group in load_default_lexicon().groups[:150])
    assert "list without a story" in kinds(listed, evidence={})
    minutes = (
        "The council met on Tuesday to settle the budget for the library and the school, argued "
        "about the roof and the colour of the chairs, and everybody went home early."
    )
    assert kinds(minutes, evidence={}) == {"unrelated text"}
    assert kinds(minutes) == set()


def test_a_note_that_says_otherwise_is_not_unrelated() -> None:
    features = tuple(
        Feature(name, "c", name) for name in ("Photophobia", "Nausea", "Fever", "Rash")
    )
    text = (
        "She has a dull headache on both sides for one week. No photophobia. She lives with her "
        "sister, works in a bakery and has had no operations at all."
    )
    against = {"Photophobia": Evidence(against=CounterEvidence(((53, 67),)))}
    for evidence, flagged in (({}, True), (against, False)):
        flags = flag_note(Note("x", "c", text), Rubric("c", features), evidence=evidence)
        assert bool(flags) == flagged


def test_very_short_notes_are_not_judged_by_how_they_are_written() -> None:
    features = tuple(
        Feature(name, "c", name) for name in ("Chest pain", "No fever", "Cough", "Dyspnea")
    )
    rubric = Rubric("c", features)
    found = {name: Evidence((((0, 2),),)) for name in ("Chest pain", "No fever", "Cough")}
    for text in ("CP x 2d, cough. no f/c.", "Chest pain, cough, no fever.", "Knee pain."):
        assert flag_note(Note("x", "c", text), rubric, evidence=found) == ()
        assert flag_note(Note("x", "c", text), rubric, evidence={}) == ()


def with_lexicon(text: str, case: str = "0") -> tuple[set[str], Total]:
    """Return the flags and the credit for what the lexicon matcher finds without any notes."""
    note, rubric = Note("x", case, text), RUBRICS[case]
    matcher = fit_matcher("lexicon", Corpus((), (rubric,)))
    found = matcher.predict(Corpus((note,), (rubric,)))
    evidence = {}
    for row in found.note_rows("x"):
        marked = found.row_annotations(row)
        if marked:
            spans = tuple(tuple((s.start, s.end) for s in one.spans) for one in marked)
            sure = max(one.confidence or 0 for one in marked)
            evidence[marked[0].feature] = Evidence(spans, confidence=sure)
    return kinds(text, case, evidence=evidence), total_score(rubric, evidence)


@pytest.mark.parametrize("case", ["0", "5", "40"])
@pytest.mark.parametrize("joint", ["\n", ". ", ", "])
def test_a_pasted_rubric_gets_its_credit_and_is_flagged(case: str, joint: str) -> None:
    flags, total = with_lexicon(joint.join(f.text for f in RUBRICS[case]), case)
    assert "pasted rubric" in flags
    # The words are there, so the rules give most of the credit; the flag is for a person.
    assert 0.6 * total.maximum <= total.score <= total.maximum == len(RUBRICS[case])


def test_unrelated_text_gets_next_to_nothing_and_is_flagged() -> None:
    text = (
        "The council met on Tuesday to settle the budget for the new library. Members argued "
        "about the roof, the opening hours and the colour of the chairs, and went home early."
    )
    flags, total = with_lexicon(text)
    assert "unrelated text" in flags
    assert total.score <= 0.15 * total.maximum


@pytest.mark.parametrize("n", [60, 150, 1000])
def test_every_symptom_in_the_book_is_flagged(n: int) -> None:
    # Phrases of the bank are clauses of notes: a list of them tells something of a story.
    groups = load_default_lexicon().groups
    book = [group.phrases[0].text for group in groups if not group.id.startswith("bank:")]
    flags, _ = with_lexicon(", ".join(random.Random(n).sample(book, n)))
    assert "list without a story" in flags


def test_honest_notes_are_hardly_ever_flagged_with_the_reference_as_evidence() -> None:
    notes = CORPUS.notes[::7]
    evidence = {
        note.id: {
            feature.id: Evidence(
                tuple(
                    tuple((span.start, span.end) for span in one.spans)
                    for one in CORPUS.annotations(note.id, feature.id, "reference")
                )
            )
            for feature in RUBRICS[note.case]
        }
        for note in notes
    }
    flags = flag_notes(notes, RUBRICS, evidence=evidence)
    assert len({flag.note for flag in flags}) <= 0.03 * len(notes)


def test_an_empty_note_can_be_measured() -> None:
    assert measure_writing([], Rubric("c", ()), {}).n_words == 0
