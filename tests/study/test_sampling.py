import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate import Corpus, CorpusBuilder, read_corpus, write_corpus
from rubricate.errors import InputError
from rubricate.study.population import Variable, define_population, detect_by_system
from rubricate.study.sampling import allocate, draw_sample, plan_study, sample_study

VARIABLES = (Variable("smoking", "primary", ("f1",)), Variable("weight", "secondary", ("f2",)))


@given(
    total=st.integers(0, 300),
    strata=st.lists(st.tuples(st.integers(0, 60), st.floats(0.1, 50)), min_size=1, max_size=12),
)
@settings(max_examples=200)
def test_allocation_gives_all_it_can_and_no_more(total: int, strata: list) -> None:
    sizes = [size for size, _ in strata]
    given_out = allocate(total, sizes, [share for _, share in strata])
    assert sum(given_out) == min(total, sum(sizes))
    assert all(0 <= n <= size for n, size in zip(given_out, sizes, strict=True))
    if total >= 2 * sum(size > 0 for size in sizes):
        assert all(n > 0 for n, size in zip(given_out, sizes, strict=True) if size)


def drawn(corpus: Corpus, positive: int, negative: int, **more):
    detection = detect_by_system(corpus, VARIABLES, corpus, "system")
    wanted = {"positive": positive, "negative": negative}
    return draw_sample(corpus, VARIABLES, detection, wanted, site="site", **more)


def test_sites_share_evenly_and_rare_variables_are_there(corpus: Corpus) -> None:
    draw = drawn(corpus, 20, 30)
    counts = {}
    for _, stratum in draw.notes:
        key = stratum.site, stratum.side
        counts[key] = counts.get(key, 0) + 1
    assert counts == {("A", "positive"): 10, ("B", "positive"): 10,
                      ("A", "negative"): 15, ("B", "negative"): 15}  # fmt: skip
    proportional = drawn(corpus, 20, 30, allocation="proportional")

    def rare(found) -> int:
        return sum(s.part == "weight" for _, s in found.notes)

    # 12 of 120 notes hold the secondary variable: 10 % of a proportional sample.
    assert rare(draw) > rare(proportional) >= 4


@pytest.mark.parametrize("allocation", ["sqrt", "proportional", "equal"])
def test_weights_add_up_to_the_population(corpus: Corpus, allocation: str) -> None:
    draw = drawn(corpus, 20, 30, allocation=allocation)
    assert sum(1 / s.probability for _, s in draw.notes) == pytest.approx(120)
    assert len({i for i, _ in draw.notes}) == 50


def test_the_seed_decides(corpus: Corpus) -> None:
    assert drawn(corpus, 20, 30, seed=1) == drawn(corpus, 20, 30, seed=1)
    assert drawn(corpus, 20, 30, seed=1) != drawn(corpus, 20, 30, seed=2)


def test_too_few_notes_are_all_taken_and_told(corpus: Corpus) -> None:
    draw = drawn(corpus, 80, 30)
    assert draw.shortfall == {"positive": 26, "negative": 0}
    assert all(s.probability == 1 for _, s in draw.notes if s.side == "positive")


def test_inclusion_probabilities_are_what_happens(corpus: Corpus) -> None:
    times = dict.fromkeys((n.id for n in corpus.notes), 0)
    probability: dict[str, float] = {}
    for seed in range(400):
        for note, stratum in drawn(corpus, 20, 30, seed=seed).notes:
            times[note] += 1
            probability[note] = stratum.probability
    # Standard error of each share is at most .025; 120 notes, so allow five of them.
    assert all(abs(times[i] / 400 - p) < 0.125 for i, p in probability.items())


def test_a_sample_smaller_than_its_strata_still_has_weights(corpus: Corpus) -> None:
    draw = drawn(corpus, 2, 2)
    assert len(draw.notes) == 4
    assert sum(1 / s.probability for _, s in draw.notes) == pytest.approx(120)


def test_steps_write_the_design_into_the_notes(make_study) -> None:
    study = make_study()
    define_population(study)
    plan = plan_study(study).summary
    # 54 of 120 notes are detected.
    assert plan["expected"]["frequency"] == pytest.approx(0.45)
    assert plan["sites"] == 2
    summary = sample_study(study).summary
    sample = read_corpus(study.output("sample", "notes.jsonl"))
    assert len(sample.notes) == summary["notes"]
    for note in sample.notes:
        assert 0 < note.metadata["inclusion_probability"] <= 1
        assert note.metadata["side"] in note.metadata["stratum"]


@pytest.mark.parametrize("found", [0, 120])
def test_a_detection_that_tells_nothing_apart_is_no_frequency(make_study, corpus, found) -> None:
    study = make_study()
    builder = CorpusBuilder()
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for i, note in enumerate(corpus.notes):
        builder.add_note(note)
        builder.judge_all("system", note.id)
        if i < found:
            builder.annotate("system", note.id, "f1", [(0, 6)])
    (study.folder / "notes.jsonl").unlink()
    write_corpus(builder.build(), study.folder / "notes.jsonl", format="jsonl")
    define_population(study)
    with pytest.raises(InputError, match=f"{found} of 120"):
        plan_study(study)
