"""Tokens, phrase keys and cue tables, by hand-made examples and by properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reading.tokens import (
    CueTable,
    american,
    find_tokens,
    find_words,
    phrase_key,
    stem,
    word_form,
)


def forms(text: str) -> list[str]:
    return [token.form for token in find_tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c/o h/o y/o w/o s/p r/o", ["c/o", "h/o", "y/o", "w/o", "s/p", "r/o"]),
        ("k/c/o DM", ["k/c/o", "dm"]),
        ("w/ pain", ["w/", "pain"]),
        ("w/exertion", ["w/", "exertion"]),
        ("N/V/D", ["n", "/", "v", "/", "d"]),
        ("CP/SOB", ["cp", "/", "sob"]),
        ("3/52", ["3/52"]),
        ("5/6/2020", ["5/6/2020"]),
        ("58yo", ["58", "yo"]),
        ("58yoM", ["58", "yo", "m"]),
        ("72y/oF", ["72", "y/o", "f"]),
        ("35F", ["35", "f"]),
        ("2wks", ["2", "wks"]),
        ("10y", ["10", "y"]),
        ("x3w", ["x", "3", "w"]),
        ("X10d", ["x", "10", "d"]),
        ("T2DM A1c G2P1 B12", ["t2dm", "a1c", "g2p1", "b12"]),
        ("1st 2nd", ["1st", "2nd"]),
        ("98.6 1,000", ["98.6", "1,000"]),
        ("½ ppd", ["½", "ppd"]),
        ("y.o. b.i.d. a.m.", ["yo", "bid", "am"]),
        ("Crohn’s don't", ["crohns", "dont"]),
        ("right-sided", ["right", "-", "sided"]),
        ("Sjögren", ["sjogren"]),
        ("cafe\u0301", ["cafe"]),
        ("c\u0304 food", ["with", "food"]),
        ("β-blocker", ["beta", "-", "blocker"]),
        ("\u2014 \u2212", ["-", "-"]),
        ("a\n\nb", ["a", "\n", "b"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert forms(text) == expected


def test_words_leave_out_marks() -> None:
    assert [word.form for word in find_words("No, 3!\nyes")] == ["no", "3", "yes"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Chest-pain", "chest  pain"),
        ("can’t sleep", "cant sleep"),
        ("Y.O.", "yo"),
        ("N/V", "n v"),
        ("Menière's", "meniere's"),
    ],
)
def test_spellings_share_a_key(one: str, other: str) -> None:
    assert phrase_key(one) == phrase_key(other)


@given(st.lists(st.sampled_from(["chest", "Pain", "yom", "YOF", "a", "x"]), min_size=1))
def test_plain_phrases_have_the_key_of_their_words(words: list[str]) -> None:
    phrase = " ".join(words)
    assert phrase_key(phrase) == " ".join(word.form for word in find_words(phrase))


def test_a_key_of_marks_is_kept() -> None:
    assert phrase_key("(+)") == "(+)"
    assert phrase_key("↑") == "↑"
    assert phrase_key(" ") == ""


@given(st.text(max_size=80))
def test_tokens_cover_all_but_space_once(text: str) -> None:
    end = 0
    for token in find_tokens(text):
        assert end <= token.start < token.end <= len(text)
        assert text[end : token.start].strip() == ""
        assert token.form
        assert token.span.text(text)
        end = token.end
    assert text[end:].strip() == ""


@given(st.text(min_size=1, max_size=12).filter(lambda text: text.strip() != ""))
def test_a_form_is_never_empty(word: str) -> None:
    assert word_form(word) or not word.isalnum()


CUES = CueTable({"no": "short", "no sign of": "long", "free of": "other"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no sign of PE", ("long", 3)),
        ("no sign", ("short", 1)),
        ("No, sign of PE", ("short", 1)),
        ("free", None),
        ("nobody", None),
    ],
)
def test_the_longest_cue_that_stands_there_is_found(
    text: str, expected: tuple[str, int] | None
) -> None:
    assert CUES.at(find_tokens(text), 0) == expected


@pytest.mark.parametrize(
    ("british", "expected"),
    [
        ("dyspnoea", "dyspnea"),
        ("haematuria", "hematuria"),
        ("anaemia", "anemia"),
        ("oesophagus", "esophagus"),
        ("oestrogen", "estrogen"),
        ("tumour", "tumor"),
        ("hospitalised", "hospitalized"),
        ("travelled", "traveled"),
        ("coeliac", "celiac"),
        ("exercise", "exercise"),
        ("bruised", "bruised"),
        ("toe", "toe"),
        ("hour", "hour"),
        ("four", "four"),
        ("faeces", "feces"),
    ],
)
def test_american(british: str, expected: str) -> None:
    assert american(british) == expected


@pytest.mark.parametrize(
    "words",
    [
        ("headache", "headaches"),
        ("radiate", "radiates", "radiated", "radiating"),
        ("worry", "worries", "worried"),
        ("stop", "stopped", "stopping", "stops"),
        ("swell", "swelling", "swollen", "swells"),
        ("lose", "losing", "lost", "loss"),
        ("oedema", "edema"),
        ("allergy", "allergies"),
        ("rash", "rashes"),
        ("child", "children"),
    ],
)
def test_forms_of_a_word_meet(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(("one", "other"), [("pain", "pan"), ("loss", "less"), ("red", "r")])
def test_other_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text(alphabet="abcdeginorstuy", max_size=12))
def test_a_stem_is_never_longer_by_much(form: str) -> None:
    assert len(stem(form)) <= len(form) + 3
    assert bool(stem(form)) == bool(form)
