"""Literal mentions: every cue of the table takes back the mention of its example."""

import pytest

from rubricate.matchers.literal import Cue, Mention, find_mentions, is_unlike_notes, mention_cues
from rubricate.reading.note import read_note
from rubricate.requirement.alternative import read_alternative


def mention_in(example: str) -> Mention | None:
    """Return the mention of what an example has in braces, at that place."""
    before, words, after = example.replace("}", "{").split("{")
    asked = read_alternative(words)
    found = find_mentions(words, asked, read_note(before + words + after))
    return next((one for one in found if one.start == len(before)), None)


CUES = [cue for cue in mention_cues() if cue.side in ("before", "after", "start")]


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: f"{cue.side} {cue.phrase}")
def test_every_cue_takes_its_example_back(cue: Cue) -> None:
    found = mention_in(cue.guarded)
    assert found is not None
    assert found.by == f"cue:{cue.phrase}"
    assert found.why is not None
    assert found.why.code == cue.reason


@pytest.mark.parametrize(
    "cue", [cue for cue in mention_cues() if cue.stands], ids=lambda cue: f"{cue.side} {cue.phrase}"
)
def test_a_cue_leaves_other_mentions_alone(cue: Cue) -> None:
    found = mention_in(cue.stands)
    assert found is not None
    assert found.why is None


def test_the_table_has_each_phrase_once_a_side() -> None:
    keys = [(cue.side, cue.phrase) for cue in mention_cues()]
    assert len(keys) == len(set(keys))
    assert {cue.reach for cue in CUES} == {"beside", "next", "item", "clause", "list", "statement"}
    assert {cue.sure for cue in CUES} == {"yes", "no"}


@pytest.mark.parametrize(
    ("wording", "text", "found"),
    [
        ("Vomiting", "She vomited twice.", "vomited"),
        ("Diarrhea", "Has diarrhoea.", "diarrhoea"),
        ("Shortness of breath", "short of breath, shortness of breath", "shortness of breath"),
        ("Night sweats", "night-sweats", "night-sweats"),
        ("PE", "He fell in pe class. PE seen.", "PE"),
    ],
)
def test_spelling_and_endings_do_not_matter(wording: str, text: str, found: str) -> None:
    mentions = find_mentions(wording, read_alternative(wording), read_note(text))
    assert [text[one.start : one.end] for one in mentions] == [found]


@pytest.mark.parametrize(
    ("wording", "text"),
    [
        ("Anxiety", "Takes anti-anxiety drugs."),
        ("Pain", "He is pain-free."),
        ("Left-handed", "Numb left hand."),
        ("Chest pain", "Pain, chest clear."),
        ("Chest pain", "Chest clear. Pain in knee."),
    ],
)
def test_parts_of_other_words_are_no_mention(wording: str, text: str) -> None:
    assert not list(find_mentions(wording, read_alternative(wording), read_note(text)))


def test_a_patients_story_and_a_fragment_are_unlike_notes() -> None:
    note = "The patient is a 50-year-old man who presents with a cough. " * 3
    assert is_unlike_notes(read_note("I took my pills. " * 10))
    assert is_unlike_notes(read_note("Cough, fever"))
    assert not is_unlike_notes(read_note(note))
