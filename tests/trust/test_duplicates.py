import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate import Note, load_corpus
from rubricate.errors import InputError
from rubricate.trust import find_duplicates

CORPUS = load_corpus("open-notes")


def changed(text: str, n: int, seed: int) -> str:
    words, rng = text.split(" "), random.Random(seed)
    for place in rng.sample(range(len(words)), n):
        words[place] = f"word{rng.random():.9f}".replace(".", "")
    return " ".join(words)


def runs(text: str, k: int = 3) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    k = min(k, len(words))
    return {tuple(words[i : i + k]) for i in range(len(words) - k + 1)}


def test_kinds_are_told_apart() -> None:
    text = CORPUS.notes[1].text
    notes = [
        Note("a", "c", text), Note("b", "c", text),
        Note("d", "d", text), Note("e", "d", text.lower().replace(",", ";")),
        Note("f", "e", text), Note("g", "e", changed(text, 2, 0)),
    ]  # fmt: skip
    found = {cluster.notes: cluster for cluster in find_duplicates(notes)}
    assert {ids: c.kind for ids, c in found.items()} == {
        ("a", "b"): "identical", ("d", "e"): "same words", ("f", "g"): "near",
    }  # fmt: skip
    assert found["a", "b"].similarity == 1.0
    assert 0.8 <= found["f", "g"].similarity < 1.0


def test_cases_are_kept_apart_unless_asked() -> None:
    notes = [Note("a", "c", "no fever since monday"), Note("b", "d", "no fever since monday")]
    assert find_duplicates(notes) == ()
    (cluster,) = find_duplicates(notes, same_case=False)
    assert cluster.cases == ("c", "d")


def test_honest_notes_are_no_copies_and_empty_ones_neither() -> None:
    assert find_duplicates(CORPUS.notes) == ()
    assert find_duplicates([Note("a", "c", " "), Note("b", "c", " "), Note("d", "c", "…")]) == ()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), max_size=9),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_clusters_are_those_of_all_pairs(texts: list[list[str]], threshold: float) -> None:
    notes = [Note(str(i), "c", " ".join(words)) for i, words in enumerate(texts)]
    own = [runs(note.text) for note in notes]
    part = list(range(len(notes)))
    for i in range(len(notes)):
        for j in range(i):
            if len(own[i] & own[j]) / len(own[i] | own[j]) >= threshold - 1e-12:
                part = [part[i] if p == part[j] else p for p in part]
    expected = {
        tuple(str(i) for i, p in enumerate(part) if p == q) for q in part if part.count(q) > 1
    }
    assert {c.notes for c in find_duplicates(notes, threshold=threshold)} == expected


def test_planted_copies_among_ten_thousand_are_found() -> None:
    rng = random.Random(0)
    notes = [Note(f"{note.id}-0", note.case, note.text) for note in CORPUS.notes]
    for k in range(1, 5):
        for note in CORPUS.notes:
            words = note.text.split(" ")
            rng.shuffle(words)
            notes.append(Note(f"{note.id}-{k}", note.case, " ".join(words)))
    copied = rng.sample(CORPUS.notes, 100)
    notes += [Note(f"{n.id}-copy", n.case, changed(n.text, 2, i)) for i, n in enumerate(copied)]
    found = find_duplicates(notes, threshold=0.7)
    pairs = {frozenset(c.notes) for c in found}
    expected = {
        frozenset((f"{n.id}-0", f"{n.id}-copy"))
        for i, n in enumerate(copied)
        if len(runs(n.text) & runs(changed(n.text, 2, i)))
        / len(runs(n.text) | runs(changed(n.text, 2, i))) >= 0.7
    }  # fmt: skip
    assert pairs == expected
    assert len(expected) > 90


def test_a_template_everybody_uses_makes_one_cluster() -> None:
    text = CORPUS.notes[1].text
    notes = [Note(str(i), "c", changed(text, 1, i)) for i in range(500)]
    (cluster,) = find_duplicates(notes)
    assert len(cluster.notes) == 500


@pytest.mark.parametrize("wrong", [{"threshold": 0.0}, {"threshold": 1.1}, {"words": 0}])
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        find_duplicates([], **wrong)  # type: ignore[arg-type]
