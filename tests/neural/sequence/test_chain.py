"""Against the definition: every state sequence of short chains, one by one."""

from itertools import pairwise, product

import numpy as np
import pytest

from rubricate.neural.sequence.states import (
    Chain,
    Scheme,
    best_states,
    expect,
    log_absence,
    log_sum_exp,
    pad_emissions,
)

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
