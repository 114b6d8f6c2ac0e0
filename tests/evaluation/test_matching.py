from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TEXT

from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation import Matching, Measured, span_counts, words
from rubricate.evaluation.matching import Protocol, to_tokens
from rubricate.evaluation.pairing import KINDS, Pairing
from rubricate.spans import Span, merge_spans

SPAN = st.tuples(st.integers(0, 14), st.integers(1, 6)).map(lambda p: (p[0], p[0] + p[1]))
ANNOTATIONS = st.lists(st.lists(SPAN, min_size=1, max_size=2), max_size=5)
ROWS = st.lists(st.tuples(ANNOTATIONS, ANNOTATIONS), min_size=1, max_size=5)
PROTOCOLS: tuple[Protocol, ...] = ("one-to-one", "both-sides", "paper")
Make = Callable[..., Pairing]


def totals(pairing: Pairing, matching: Matching | None = None) -> dict[str, Measured]:
    return {kind: table.total() for kind, table in span_counts(pairing, matching).items()}


# Lee and Sun (2019), Table 1: seven tokens, one reference span, five predictions. The colours
# of the table are lost in text form; the five stand for the o/x patterns it prints:
# 1 o o o (equal), 2 and 3 x o o (shorter and longer, one end equal), 4 and 5 x x o.
REFERENCE = (2, 5)
TABLE_1 = [
    ((2, 5), (True, True, True)),
    ((2, 4), (False, True, True)),
    ((1, 5), (False, True, True)),
    ((1, 4), (False, False, True)),
    ((1, 6), (False, False, True)),
]
SENTENCE = "seven tokens make this example sentence whole"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("unit", ["character", "token"])
@pytest.mark.parametrize(("tokens", "expected"), TABLE_1)
def test_table_1_of_the_pico_paper(
    make_pairing: Make, protocol: Any, unit: Any, tokens: Any, expected: tuple[bool, ...]
) -> None:
    ends = np.cumsum([len(w) + 1 for w in SENTENCE.split()]) - 1
    starts = ends - [len(w) for w in SENTENCE.split()]

    def located(run: tuple[int, int]) -> tuple[int, int]:
        return int(starts[run[0]]), int(ends[run[1] - 1])

    pairing = make_pairing([([[located(REFERENCE)]], [[located(tokens)]])], text=SENTENCE)
    found = totals(pairing, Matching(protocol, unit))
    assert tuple(found[kind].f1 == 1 for kind in KINDS) == expected
    assert all(found[kind].f1 in (0, 1) for kind in KINDS)


def test_protocols_differ_where_many_meet_one(make_pairing: Make) -> None:
    # three predictions inside one reference annotation, and a reference annotation missed
    pairing = make_pairing([([[(0, 12)], [(20, 23)]], [[(0, 3)], [(4, 6)], [(9, 12)]])])
    overlap = {p: totals(pairing, Matching(p))["token_overlap"] for p in PROTOCOLS}
    assert overlap["one-to-one"].values == pytest.approx(
        {"precision": 1 / 3, "recall": 1 / 2, "f1": 2 / 5}
    )
    assert overlap["both-sides"].values == pytest.approx(
        {"precision": 1.0, "recall": 1 / 2, "f1": 2 / 3}
    )
    assert overlap["paper"].values == pytest.approx({"precision": 1, "recall": 1.5, "f1": 1.2})


def test_one_to_one_is_a_largest_matching_not_a_greedy_one(make_pairing: Make) -> None:
    # first come, first served would give the long prediction the first reference annotation
    # and leave the short one with nothing
    pairing = make_pairing([([[(0, 4)], [(6, 9)]], [[(0, 9)], [(2, 4)]])])
    assert totals(pairing)["token_overlap"].f1 == 1


def merged_set(annotations: list[Any]) -> list[tuple[Span, ...]]:
    return list({tuple(merge_spans(Span(*f) for f in fragments)) for fragments in annotations})


def meets(kind: str, one: tuple[Span, ...], two: tuple[Span, ...]) -> bool:
    share = any(a.overlaps(b) for a in one for b in two)
    ends = one[0].start == two[0].start or one[-1].end == two[-1].end
    return {"exact": one == two, "one_side_boundary": share and ends, "token_overlap": share}[kind]


def largest_matching(edges: dict[int, list[int]]) -> int:
    """Kuhn's augmenting paths, small and slow."""
    owner: dict[int, int] = {}

    def place(one: int, seen: set[int]) -> bool:
        for two in edges[one]:
            if two not in seen:
                seen.add(two)
                if two not in owner or place(owner[two], seen):
                    owner[two] = one
                    return True
        return False

    return sum(place(one, set()) for one in edges)


@settings(max_examples=200)
@given(rows=ROWS)
def test_counts_equal_brute_force(make_pairing: Make, rows: list[Any]) -> None:
    pairing = make_pairing(rows)
    found = {p: span_counts(pairing, Matching(p)) for p in PROTOCOLS}
    for i, row in enumerate(rows):
        reference, predicted = (merged_set(side) for side in row)
        for kind in KINDS:
            edges = {
                a: [b for b, p in enumerate(predicted) if meets(kind, r, p)]
                for a, r in enumerate(reference)
            }
            hit_reference = sum(bool(own) for own in edges.values())
            hit_predicted = len({b for own in edges.values() for b in own})
            matched = largest_matching(edges)
            sizes = [len(reference), len(predicted)]
            lines = {p: found[p][kind].values[i].tolist() for p in PROTOCOLS}
            assert lines["one-to-one"] == [*sizes, matched, matched]
            assert lines["both-sides"] == [*sizes, hit_reference, hit_predicted]
            assert lines["paper"] == [*sizes, hit_predicted, hit_predicted]


@given(rows=ROWS)
def test_laws(make_pairing: Make, swap: Callable[[Any], Any], rows: list[Any]) -> None:
    for protocol in PROTOCOLS[:2]:
        matching = Matching(protocol)
        one, two = totals(make_pairing(rows), matching), totals(make_pairing(swap(rows)), matching)
        for kind in KINDS:
            assert one[kind].precision == pytest.approx(two[kind].recall, nan_ok=True)
            assert one[kind].f1 == pytest.approx(two[kind].f1, nan_ok=True)
        hits = [one[kind].counts["predicted_hits"] for kind in KINDS]
        assert hits == sorted(hits)
    same = totals(make_pairing([(r, r) for r, _ in rows]))
    if any(r for r, _ in rows):
        assert all(m.f1 == m.precision == m.recall == 1 for m in same.values())
    else:
        assert all(np.isnan(m.f1) for m in same.values())


def test_touching_spans_do_not_overlap(make_pairing: Make) -> None:
    found = totals(make_pairing([([[(0, 5)]], [[(5, 9)]])]), Matching("both-sides"))
    assert [m.f1 for m in found.values()] == [0, 0, 0]


def test_equal_annotations_of_one_row_count_once(make_pairing: Make) -> None:
    twice = [[(0, 5)], [(0, 5)], [(0, 3), (3, 5)], [(1, 4), (0, 2), (3, 5)]]
    found = totals(make_pairing([([[(0, 5)]], twice)]))
    assert found["exact"].counts["predicted"] == 1
    assert found["exact"].f1 == 1
    # nested annotations are kept apart
    nested = totals(make_pairing([([[(0, 5)]], [[(0, 5)], [(1, 4)]])]))
    assert nested["token_overlap"].precision == 0.5


def test_fragments_are_kept(make_pairing: Make) -> None:
    # "denies palps, fainting": the gap belongs to nobody
    split = [(0, 6), (14, 22)]
    found = totals(make_pairing([([split], [[(0, 22)]])]))
    assert [m.f1 for m in found.values()] == [0, 1, 1]
    gap = totals(make_pairing([([split], [[(7, 12)]])]))
    assert [m.f1 for m in gap.values()] == [0, 0, 0]
    same = totals(make_pairing([([split], [split])]))
    assert [m.f1 for m in same.values()] == [1, 1, 1]


def test_token_unit_forgives_what_is_not_a_token(make_pairing: Make) -> None:
    text = "has chest pain now"
    row = ([[(4, 14)]], [[(3, 12)]])  # " chest pa": a space too early, half a word too short
    by_character = totals(make_pairing([row], text=text))
    by_token = totals(make_pairing([row], text=text), Matching(unit="token"))
    assert [m.f1 for m in by_character.values()] == [0, 0, 1]
    assert [m.f1 for m in by_token.values()] == [1, 1, 1]


def test_white_space_counts_as_an_annotation_but_hits_nothing(make_pairing: Make) -> None:
    row: Any = ([[(3, 4)], [(9, 10)]], [[(3, 4)], [(4, 9)]])
    found = totals(make_pairing([row], text="has chest pain now"), Matching(unit="token"))
    for measured in found.values():
        assert measured.counts == {
            "reference": 1, "predicted": 2, "reference_hits": 0, "predicted_hits": 0,
        }  # fmt: skip


def test_rows_do_not_meet_across_notes_or_features(make_pairing: Make) -> None:
    here: list[Any] = [[(0, 5)]]
    for i in range(1, 4):
        rows: list[Any] = [(here, [])] + [([], [])] * (i - 1) + [([], here)]
        assert all(m.f1 == 0 for m in totals(make_pairing(rows)).values())


def test_no_annotations_at_all(make_pairing: Make) -> None:
    for matching in (Matching(unit="character"), Matching(unit="token")):
        found = totals(make_pairing([([], []), ([], [])]), matching)
        assert all(m.to_dict()["f1"] is None for m in found.values())


def test_the_settings_travel_with_the_counts(make_pairing: Make) -> None:
    table = span_counts(make_pairing([([], [])]), Matching("paper", "token"))["one_side_boundary"]
    assert table.measure.name == "spans.one_side_boundary"
    assert table.measure.settings == ("paper", "token")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="one-to-one"):
        Matching("one-to-many")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        Matching(unit="word")  # type: ignore[arg-type]


NOTE = "58 yo M, no CP"  # tokens: 58 | yo | M | , | no | CP


@given(TEXT)
def test_words_cover_all_but_white_space(text: str) -> None:
    tokens = words(text)
    inside = {c for s, e in tokens for c in range(s, e)}
    assert sum(e - s for s, e in tokens) == len(inside)
    assert inside == {i for i, c in enumerate(text) if not c.isspace()}
    assert tokens == sorted(tokens)


def test_a_span_becomes_the_tokens_it_touches(make_pairing: Make) -> None:
    reference = [[(0, 5)], [(1, 4)], [(2, 3)], [(3, 4), (9, 14)]]
    marks, _, sizes = to_tokens(make_pairing([(reference, [])], text=NOTE))
    assert sizes.tolist() == [6]
    found = {
        tuple(zip(marks.start[i:j].tolist(), marks.end[i:j].tolist(), strict=True))
        for i, j in zip(marks.first[:-1].tolist(), marks.first[1:].tolist(), strict=True)
    }
    assert marks.first.tolist() == [0, 1, 2, 2, 4]
    # (2, 3) is the space between two tokens
    assert found == {((0, 2),), (), ((1, 2), (4, 6))}


@given(data=st.data(), text=TEXT.filter(lambda t: len(t) > 2))
def test_runs_are_exactly_the_tokens_that_share_a_character(
    make_pairing: Make, data: Any, text: str
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    marks, _, _ = to_tokens(make_pairing([([[(start, end)]], [])] * 4, text=text))
    expected = [i for i, (s, e) in enumerate(words(text)) if s < end and start < e]
    for first, last in zip(marks.start.tolist(), marks.end.tolist(), strict=True):
        assert list(range(first, last)) == expected
    assert len(marks.start) == (4 if expected else 0)


def test_tokens_may_be_given_by_note_id(make_pairing: Make) -> None:
    pairing = make_pairing([([[(0, 5)]], [])], text=NOTE)
    marks, _, sizes = to_tokens(pairing, {"n0": [(0, 1), (1, 2), (3, 5)]})
    assert (marks.start.tolist(), marks.end.tolist(), sizes.tolist()) == ([0], [3], [3])


@pytest.mark.parametrize(
    "bad", [[(3, 5), (0, 2)], [(0, 3), (2, 5)], [(4, 4)], [(0, 15)], [(-1, 2)]]
)
def test_bad_tokens_are_refused(make_pairing: Make, bad: list[tuple[int, int]]) -> None:
    pairing = make_pairing([([[(0, 5)]], [])], text=NOTE)
    with pytest.raises(InputError, match="n0"):
        to_tokens(pairing, {"n0": bad})


def test_missing_tokens_are_refused_unless_nothing_is_marked_there(make_pairing: Make) -> None:
    with pytest.raises(InputError, match="n0"):
        to_tokens(make_pairing([([[(0, 5)]], [])], text=NOTE), {})
    _, _, sizes = to_tokens(make_pairing([([], [])], text=NOTE), {})
    assert sizes.tolist() == [0]
