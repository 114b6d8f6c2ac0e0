"""Lookup in a lexicon, by hand-made examples and by properties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rubricate.lexicon.groups import Group, Lexicon, Phrase, SourceInfo, merge_lexicons

DYSPNEA = Group(
    "a:1",
    (
        Phrase("dyspnea", "wordnet"),
        Phrase("shortness of breath", "lay_terms"),
        Phrase("SOB", "abbreviations"),
    ),
)
SCLEROSIS = Group("a:2", (Phrase("multiple sclerosis", "hpo"), Phrase("MS", "hpo", True)))
STENOSIS = Group("a:3", (Phrase("mitral stenosis", "hpo"), Phrase("MS", "hpo", True)))
NSAID = Group("a:4", (Phrase("NSAID", "lay_terms"),), ("ibuprofen", "Advil"))
LEXICON = Lexicon((DYSPNEA, SCLEROSIS, STENOSIS, NSAID), (SourceInfo("hpo", "1", "free"),))


def test_synonyms_come_with_sources_the_trusted_first() -> None:
    assert LEXICON.synonyms("sob") == [
        ("shortness of breath", "lay_terms"),
        ("dyspnea", "wordnet"),
    ]
    assert LEXICON.synonyms("Shortness-of  breath!")[0] == ("SOB", "abbreviations")
    assert LEXICON.synonyms("unknown") == []


def test_sources_can_be_chosen() -> None:
    assert LEXICON.synonyms("SOB", sources=["wordnet"]) == [("dyspnea", "wordnet")]
    assert LEXICON.synonyms("NSAID", sources=["hpo"]) == []


def test_an_ambiguous_phrase_has_all_its_groups() -> None:
    assert [group.id for group in LEXICON.groups_of("MS")] == ["a:2", "a:3"]


def test_case_matters_where_it_is_said_to() -> None:
    assert LEXICON.groups_of("ms") == []


def test_members_are_narrower_one_way_only() -> None:
    assert LEXICON.synonyms("nsaid") == [
        ("ibuprofen", "lay_terms_narrower"),
        ("Advil", "lay_terms_narrower"),
    ]
    assert LEXICON.synonyms("Advil") == []


def test_other_forms_are_found_when_the_phrase_is_not() -> None:
    assert [group.id for group in LEXICON.groups_of("NSAIDs")] == ["a:4"]


def test_known_phrases_of_a_text() -> None:
    text = "Pt with SOB, shortness of breath"
    assert [(span.text(text), key) for span, key in LEXICON.phrases_in(text)] == [
        ("SOB", "sob"),
        ("shortness of breath", "shortness of breath"),
    ]


def test_summary_counts_what_is_there() -> None:
    summary = LEXICON.summary()
    assert (summary.groups, summary.phrases) == (4, 10)
    counts = {count.source.name: (count.groups, count.phrases) for count in summary.sources}
    assert counts["hpo"] == (2, 4)
    assert counts["lay_terms"] == (2, 4)
    assert {c.source.licence for c in summary.sources if c.source.name == "hpo"} == {"free"}


def test_merging_keeps_groups_and_sources() -> None:
    both = merge_lexicons([LEXICON, Lexicon((Group("b:1", (Phrase("x", "b"),)),))])
    assert len(both) == 5
    assert both.sources == LEXICON.sources


WORDS = st.sampled_from(["pain", "Chest", "sob", "ache", "of"])
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(st.lists(st.lists(PHRASES, min_size=1, max_size=4), max_size=5), PHRASES)
def test_synonymy_is_symmetric(groups: list[list[str]], phrase: str) -> None:
    lexicon = Lexicon(
        tuple(
            Group(f"g:{i}", tuple(Phrase(text, "s") for text in texts))
            for i, texts in enumerate(groups)
        )
    )
    if phrase in lexicon:
        for other, _ in lexicon.synonyms(phrase):
            back = [text.lower() for text, _ in lexicon.synonyms(other)]
            assert phrase.lower() in back
