"""Literal mentions beat silence, send disputes to review, and strike what is only spoken of."""

from pathlib import Path

import pytest

from rubricate import load_corpus
from rubricate.matchers.literal import claim_mentions, find_mentions
from rubricate.reading.note import read_note
from rubricate.requirement.alternative import read_alternative
from rubricate.requirement.requirement import read_requirement
from rubricate.rules.adjudicate import FINAL, adjudicate
from rubricate.rules.claims import Item
from rubricate.rules.findings import Against, Candidate, ItemFinding, Proposal
from rubricate.rules.precedence import precedence
from rubricate.rules.reasons import Reason

STORY = "I went to see my doctor. "
NOTE = "The patient is a 50-year-old man who was seen with his wife in the clinic on Monday. " * 2


P = {row.rule: row.p for row in precedence() if row.stage == FINAL}


def held(
    wording: str,
    text: str,
    *,
    found: str = "",
    against: str = "",
    chance: float = 0.1,
    by_rule: bool = False,
) -> ItemFinding:
    """Return the decision on a feature, where a network found some words or took them so."""

    def span(words: str) -> tuple[tuple[int, int], ...]:
        start = text.index(words)
        return ((start, start + len(words)),)

    denied = (Reason("polarity.denied"),)
    said = Proposal(
        (Candidate(span(found), chance, ()),) if found else (),
        chance,
        Against(span(against), None if by_rule else 0.9, denied) if against else None,
    )
    item = Item.of(wording, text, claim_mentions)
    return adjudicate(said, item.ask, "network", questions=item.questions, first=FINAL)


def test_a_mention_beats_silence_in_a_patients_story() -> None:
    said = held("Chest pain", f"{STORY}I had chest pains, vomiting and rage.")
    assert [one.confidence for one in said.evidence] == [P["literal.own"]]
    assert said.probability == P["literal.own"]


def test_a_mention_in_a_note_that_matchers_know_goes_to_review() -> None:
    said = held("Chest pain", f"{NOTE}There is chest pain.")
    assert not said.evidence
    assert said.probability == P["literal.unsure"] == P["literal.disputed"]


def test_an_exact_synonym_counts_as_the_wording() -> None:
    assert held("Shortness of breath", f"{STORY}I had difficulty breathing.").evidence


def test_a_narrower_word_or_one_that_stands_alone_is_no_synonym() -> None:
    assert not held("NSAID use", f"{STORY}I bought ibuprofen.").evidence


def test_what_a_network_takes_for_contradicted_goes_to_review() -> None:
    said = held("Anxiety", f"{STORY}My anxiety, not my mood, was bad.", against="not my mood")
    assert not said.evidence
    assert said.probability == P["literal.unsure"] == P["literal.disputed"]
    assert said.against is not None
    codes = [one.code for one in said.against.reasons]
    assert codes == ["polarity.denied", "literal.disputed"]


@pytest.mark.parametrize(
    ("wording", "text"),
    [
        ("Nausea", "I had nausea and headaches."),
        ("Better with rest", "My knee hurts. It is better with rest."),
    ],
)
def test_a_contradiction_that_quotes_the_wording_is_none(wording: str, text: str) -> None:
    words = next(text[a:z] for a, z in [_place(wording, text)])
    said = held(wording, f"{STORY}{text}", against=words)
    assert said.evidence
    assert said.against is None


def _place(wording: str, text: str) -> tuple[int, int]:
    start = text.lower().index(wording.lower())
    return start, start + len(wording)


def test_a_rule_is_surer_than_a_mention() -> None:
    text = f"{STORY}Fever? My fever was 36.6."
    assert not held("Fever", text, against="Fever?", chance=0.05, by_rule=True).evidence


@pytest.mark.parametrize(
    ("wording", "text"),
    [
        ("Infection", "Risk of anesthesia, bleeding, infection, pain, MI, DVT were discussed."),
        ("Watchful waiting", "Options such as dorsal slit, watchful waiting were discussed."),
        ("Chest pain", "RTC if fever, chest pain or collapse."),
        ("Sanctura", "We will start Sanctura and follow up."),
        ("Stent", "The stent was removed in May."),
        ("Smoker", "Former smoker."),
        ("Complications", "COMPLICATIONS: , None."),
    ],
)
def test_what_is_only_spoken_of_is_struck(wording: str, text: str) -> None:
    start, end = _place(wording.lower(), text.lower())
    said = held(wording, f"{NOTE}{text}", found=text[start:end], chance=0.97)
    assert not said.evidence
    assert said.probability == P["literal.guarded"]
    assert said.against is not None and said.against.reasons


def test_a_finding_in_doubtful_words_goes_to_review() -> None:
    said = held("Tearful", f"{NOTE}Mum: tearful yesterday.", found="tearful", chance=0.97)
    assert said.evidence
    assert 0.2 < (said.probability or 0.0) < 0.8


def test_other_words_for_the_matter_keep_a_finding() -> None:
    text = f"{NOTE}Return if chest pain. His chest has hurt since noon."
    said = held("Chest pain", text, found="chest has hurt", chance=0.97)
    assert said.probability == 0.97


@pytest.mark.parametrize("wording", ["Orders ECG", "Differential: PE", "Starts aspirin"])
def test_what_is_ordered_begun_or_thought_of_has_rules_of_its_own(wording: str) -> None:
    assert not held(wording, f"{STORY}I had an ECG, a PE and aspirin. {wording}.").evidence


def test_what_is_only_to_be_asked_about_is_not_mentioned() -> None:
    text = "I had fever, my head hurt."
    assert held("Fever", text).evidence
    assert not held("Asks about fever", text).evidence


def plain_features() -> list[str]:
    """Return wordings that ask for one thing that is there, now, of the patient."""
    corpus = load_corpus("open-notes")
    wordings = sorted({feature.text for feature in corpus.features})
    return [
        text
        for text in wordings
        for asked in read_requirement(text).alternatives[:1]
        if " OR " not in text
        and text.isascii()
        and text.replace(" ", "").isalpha()
        and not asked.negated
        and not text.startswith("Non")
        and not asked.about_advice
        and not asked.any_relative
        and not asked.persons
    ]


def stated(wording: str, text: str) -> bool:
    """Tell whether a text states a wording by a mention of it."""
    mentions = find_mentions(wording, read_alternative(wording), read_note(text))
    return any(one.why is None for one in mentions)


def test_plain_features_are_stated_by_their_wording_and_not_beside_a_guard() -> None:
    wordings = plain_features()
    assert len(wordings) > 500
    # "While" parts clauses.
    odd = {"Onset while lifting", "Panic attacks while driving"}
    assert {one for one in wordings if not stated(one, f"{one}.")} == odd
    for guarded in ("No {}.", "Mother: {}.", "If {}, return.", "Return if {}.", "Risk of {}."):
        wrong = [one for one in wordings if stated(one, guarded.format(one[0].lower() + one[1:]))]
        assert not wrong, guarded


CASES = [
    line.split("\t")
    for line in Path(__file__).with_name("literal_cases.tsv").read_text("utf-8").splitlines()[1:]
]


def test_openings_lists_posts_and_traps() -> None:
    assert len(CASES) >= 200
    wrong = [
        (verdict, wording, text)
        for verdict, wording, text in CASES
        if stated(wording, text.replace("\\n", "\n")) != (verdict == "stated")
    ]
    assert not wrong
