from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Annotation
from rubricate.errors import UnknownNameError
from rubricate.neural.sequence.states import (
    FORBIDDEN,
    STANDINGS,
    Chain,
    LabelRun,
    Scheme,
    best_states,
    cut_text,
    expect,
    log_absence,
    log_sum_exp,
    pad_emissions,
)
from rubricate.spans import Span

TEXT = "58yo M, c/o CP\n\n  denies SOB\r\nor N/V"


def marked(label: str, *spans: tuple[int, int]) -> dict[str, tuple[Annotation, ...]]:
    return {label: tuple(Annotation(label, (Span(*span),)) for span in spans)}


@pytest.mark.parametrize("tokens", ["words", "spaces"])
@pytest.mark.parametrize("context", ["line", "note"])
def test_tokens_are_the_text_at_their_places(tokens: str, context: str) -> None:
    for sequence in cut_text(TEXT, tokens=tokens, context=context):  # type: ignore[arg-type]
        for word, (start, end) in zip(sequence.words, sequence.places, strict=True):
            assert TEXT[start:end] == word


@given(st.text(max_size=60), st.sampled_from(["words", "spaces"]))
def test_every_visible_character_is_in_one_token(text: str, tokens: str) -> None:
    places = [p for one in cut_text(text, tokens=tokens) for p in one.places]  # type: ignore[arg-type]
    covered = [i for start, end in places for i in range(start, end)]
    assert covered == sorted(set(covered))
    assert {i for i, c in enumerate(text) if not c.isspace()} <= set(covered)


def test_lines_are_sequences_or_kept_with_the_tokens() -> None:
    assert [len(one.words) for one in cut_text(TEXT, tokens="spaces")] == [4, 2, 2]
    (whole,) = cut_text(TEXT, tokens="spaces", context="note")
    assert whole.lines == (0, 0, 0, 0, 2, 2, 3, 3)
    assert cut_text(" \n ") == []


def test_standings_tell_place_repetition_and_title() -> None:
    text = "Aspirin trial\n" + "aspirin x\n" * 3 + "end end"
    lines = [one.standings for one in cut_text(text)]

    def parts(standing: int) -> tuple[int, int, int]:
        return standing // 8, standing // 2 % 4, standing % 2

    # Place (0 is the first line), how often (0 is once, 2 three or four times), in the title.
    assert parts(lines[0][0]) == (0, 2, 1)
    assert parts(lines[0][1]) == (0, 0, 1)
    assert [parts(line[0])[0] for line in lines] == [0, 1, 2, 3, 4]
    assert parts(lines[1][1])[1:] == (2, 0)
    assert parts(lines[4][0])[1:] == (1, 0)
    (whole,) = cut_text(text, context="note")
    assert whole.standings == tuple(s for line in lines for s in line)


@given(st.text(alphabet="ab \n", max_size=80))
def test_standings_stay_below_their_number(text: str) -> None:
    assert all(0 <= s < STANDINGS for one in cut_text(text) for s in one.standings)


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(UnknownNameError):
        cut_text("a", tokens="letters")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        Scheme(("a",), "BILOU")  # type: ignore[arg-type]


def test_bio_forbids_inside_without_a_beginning() -> None:
    scheme = Scheme(("a", "b"), "BIO")
    first, step = scheme.first_scores(), scheme.step_scores()
    allowed = [[scheme.states[j] for j in range(5) if step[i, j] == 0] for i in range(5)]
    assert [scheme.states[i] for i in range(5) if first[i] == 0] == ["O", "B-a", "B-b"]
    assert allowed[0] == ["O", "B-a", "B-b"]
    assert allowed[1] == allowed[2] == ["O", "B-a", "I-a", "B-b"]
    assert allowed[3] == allowed[4] == ["O", "B-a", "B-b", "I-b"]
    assert set(step.ravel()) == {0.0, FORBIDDEN}


def test_io_allows_everything() -> None:
    assert not Scheme(("a", "b"), "IO").step_scores().any()


def test_touching_annotations_stay_apart_under_bio_only() -> None:
    (tokens,) = cut_text("a b c d")
    spans = marked("x", (0, 3), (4, 7))
    bio, io = Scheme(("x",), "BIO"), Scheme(("x",), "IO")
    assert bio.encode(tokens, spans)[0].tolist() == [1, 2, 1, 2]
    assert io.encode(tokens, spans)[0].tolist() == [1, 1, 1, 1]
    assert bio.decode(np.array([1, 2, 1, 2]), tokens.lines) == [
        LabelRun(0, 0, 2),
        LabelRun(0, 2, 4),
    ]
    assert io.decode(np.array([1, 1, 1, 1]), tokens.lines) == [LabelRun(0, 0, 4)]


def test_the_first_label_of_the_rubric_keeps_a_shared_token() -> None:
    (tokens,) = cut_text("a b c")
    both = marked("x", (0, 3)) | marked("y", (2, 5))
    states, dropped = Scheme(("x", "y"), "IO").encode(tokens, both)
    assert states.tolist() == [1, 1, 2]
    assert dropped.tolist() == [False, True, False]
    assert Scheme(("y", "x"), "IO").encode(tokens, both)[0].tolist() == [2, 1, 1]


def test_half_a_token_takes_the_whole_one() -> None:
    (tokens,) = cut_text("abc def", tokens="spaces")
    assert Scheme(("x",), "IO").encode(tokens, marked("x", (2, 3)))[0].tolist() == [1, 0]


def test_runs_end_with_the_line() -> None:
    (tokens,) = cut_text("a b\nc", context="note")
    scheme = Scheme(("x",), "BIO")
    states, _ = scheme.encode(tokens, marked("x", (0, 5)))
    assert states.tolist() == [1, 2, 1]
    assert Scheme(("x",), "IO").decode(np.array([1, 1, 1]), tokens.lines) == [
        LabelRun(0, 0, 2),
        LabelRun(0, 2, 3),
    ]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(0, 1)), max_size=4))
def test_bio_keeps_annotations_that_do_not_overlap(drawn: list[tuple[int, int, int]]) -> None:
    (tokens,) = cut_text(" ".join("abcdefghijkl"))
    taken: set[int] = set()
    kept = []
    for first, length, label in drawn:
        own = set(range(first, min(first + length, 12)))
        if not own & taken:
            taken |= own
            kept.append(LabelRun(label, min(own), max(own) + 1))
    spans = {
        name: tuple(
            Annotation(name, (Span(tokens.places[a][0], tokens.places[b - 1][1]),))
            for k, a, b in kept
            if "xy"[k] == name
        )
        for name in "xy"
    }
    scheme = Scheme(("x", "y"), "BIO")
    states, dropped = scheme.encode(tokens, spans)
    assert not dropped.any()
    assert scheme.decode(states, tokens.lines) == sorted(kept, key=lambda run: run.first)


LENGTHS = (1, 4, 3)


def a_chain(scheme: Scheme, seed: int) -> tuple[Chain, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    k = len(scheme.states)
    chain = Chain(
        rng.normal(size=k) + scheme.first_scores(),
        rng.normal(size=(k, k)) + scheme.step_scores(),
        rng.normal(size=k),
    )
    return chain, [rng.normal(size=(n, k)) for n in LENGTHS]


def score(chain: Chain, emissions: np.ndarray, states: tuple[int, ...]) -> float:
    total = chain.first[states[0]] + chain.last[states[-1]]
    total += sum(emissions[t, state] for t, state in enumerate(states))
    return float(total + sum(chain.step[a, b] for a, b in pairwise(states)))


def all_paths(chain: Chain, emissions: np.ndarray) -> dict[tuple[int, ...], float]:
    k = emissions.shape[1]
    return {
        states: score(chain, emissions, states)
        for states in product(range(k), repeat=len(emissions))
    }


@pytest.fixture(params=[("IO", 0), ("IO", 1), ("BIO", 2), ("BIO", 3)], ids=str)
def drawn(request: pytest.FixtureRequest) -> tuple[Scheme, Chain, list[np.ndarray]]:
    kind, seed = request.param
    scheme = Scheme(("x", "y"), kind)
    return scheme, *a_chain(scheme, seed)


def test_best_states_are_the_best_of_all(drawn: tuple[Scheme, Chain, list[np.ndarray]]) -> None:
    _, chain, emissions = drawn
    for states, own in zip(best_states(chain, *pad_emissions(emissions)), emissions, strict=True):
        paths = all_paths(chain, own)
        assert tuple(states.tolist()) == max(paths, key=lambda path: paths[path])


def test_sums_and_marginals_are_those_of_all(
    drawn: tuple[Scheme, Chain, list[np.ndarray]],
) -> None:
    _, chain, emissions = drawn
    made = expect(chain, *pad_emissions(emissions))
    steps = np.zeros_like(chain.step)
    for i, own in enumerate(emissions):
        paths = all_paths(chain, own)
        values = np.array(list(paths.values()))
        log_z = float(np.logaddexp.reduce(values))
        assert made.log_z[i] == pytest.approx(log_z, abs=1e-9)
        marginal = np.zeros_like(own)
        for states, value in paths.items():
            p = np.exp(value - log_z)
            for t, state in enumerate(states):
                marginal[t, state] += p
            for a, b in pairwise(states):
                steps[a, b] += p
        np.testing.assert_allclose(made.marginal[i, : len(own)], marginal, atol=1e-9)
        assert not made.marginal[i, len(own) :].any()
    np.testing.assert_allclose(made.steps, steps, atol=1e-9)


def test_absence_is_the_share_of_paths_without_the_label(
    drawn: tuple[Scheme, Chain, list[np.ndarray]],
) -> None:
    scheme, chain, emissions = drawn
    padded, lengths = pad_emissions(emissions)
    log_z = expect(chain, padded, lengths).log_z
    found = log_absence(chain, padded, lengths, scheme.label_of_state, log_z)
    for i, own in enumerate(emissions):
        paths = all_paths(chain, own)
        whole = np.logaddexp.reduce(list(paths.values()))
        for label in (0, 1):
            without = [
                value
                for states, value in paths.items()
                if label not in {int(scheme.label_of_state[state]) for state in states}
            ]
            share = np.exp(np.logaddexp.reduce(without) - whole)
            assert np.exp(found[i, label]) == pytest.approx(share, abs=1e-9)


def test_bio_never_begins_inside() -> None:
    scheme = Scheme(("x", "y"), "BIO")
    for seed in range(20):
        chain, emissions = a_chain(scheme, seed)
        for states in best_states(chain, *pad_emissions(emissions)):
            steps = [scheme.step_scores()[a, b] for a, b in pairwise(states)]
            assert scheme.first_scores()[states[0]] == 0
            assert not any(steps)


def test_a_batch_is_its_sequences_one_by_one() -> None:
    chain, emissions = a_chain(Scheme(("x", "y"), "BIO"), 5)
    together = expect(chain, *pad_emissions(emissions))
    alone = [expect(chain, *pad_emissions([one])) for one in emissions]
    np.testing.assert_allclose(together.log_z, [one.log_z[0] for one in alone])
    np.testing.assert_allclose(together.steps, sum(one.steps for one in alone))


def test_log_sum_exp_does_not_overflow() -> None:
    assert log_sum_exp(np.array([[1000.0, 1000.0]]), axis=1)[0] == pytest.approx(1000 + np.log(2))
