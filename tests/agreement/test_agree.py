from pathlib import Path

import pytest
from hypothesis import given, settings
from strategies import corpora

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, load_corpus, read_corpus
from rubricate.agreement import agree, pair_annotators
from rubricate.errors import InputError
from rubricate.measures import Matching, evaluate
from rubricate.stats import Resampling

FEW = Resampling(resamples=50)
EXPERTS = Path(__file__).parents[2].parent / "shared" / "data" / "ebmnlp" / "experts"


def three() -> Corpus:
    """Two experts and a crowd worker; the third did not judge the second note."""
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    builder.add_note(Note("n1", "c", "aaaa bbbb cccc"))
    builder.add_note(Note("n2", "c", "aaaa bbbb cccc"))
    for name, group in (("e1", "expert"), ("e2", "expert"), ("w", "crowd")):
        builder.add_annotator(Annotator(name, group))
    builder.annotate("e1", "n1", "f", [(0, 9)])
    builder.annotate("e2", "n1", "f", [(0, 4)])
    builder.annotate("w", "n1", "f", [(5, 14)])
    builder.annotate("e1", "n2", "f", [(0, 4)])
    builder.judge("e2", "n2", "f")
    return builder.build()


def test_two_annotators_pooled_is_the_evaluation_of_one_against_the_other() -> None:
    corpus = load_corpus("open-notes").select(cases=["0", "1"])
    found = agree(corpus, settings=FEW).pooled.evaluation
    alone = evaluate(
        corpus,
        corpus,
        reference_annotator="reference",
        predicted_annotator="second_rater",
        missing="skip",
    )
    assert found.characters.total() == alone.characters.total()
    assert found.presence.total() == alone.presence.total()


def test_pairs_are_those_that_judged_the_same_row() -> None:
    pairs = pair_annotators(three())
    assert len(pairs) == 6 + 2
    assert len(pair_annotators(three(), ordered=False)) == 4
    across = pair_annotators(three(), reference=["e1", "e2"], predicted=["w"])
    assert len(across) == 2


def test_cases_without_any_mark_are_left_out_of_the_mean_over_cases() -> None:
    builder = CorpusBuilder()
    for case, marked in (("0", True), ("1", False), ("2", True)):
        builder.add_feature(Feature(f"f{case}", case, "F"))
        builder.add_note(Note(f"n{case}", case, "aaaa bbbb"))
        for who, end in (("ann", 4), ("bob", 9 if case == "2" else 4)):
            builder.judge(who, f"n{case}", f"f{case}")
            if marked:
                builder.annotate(who, f"n{case}", f"f{case}", [(0, end)])
    *cases, mean, sd = agree(builder.build(), settings=FEW).case_table()
    assert [c["f1"] for c in cases] == pytest.approx([1.0, float("nan"), 8 / 13], nan_ok=True)
    assert mean["f1"] == pytest.approx((1 + 8 / 13) / 2)
    assert sd["f1"] == pytest.approx((1 - 8 / 13) / 2**0.5)
    assert mean["jaccard"] == pytest.approx((1 + 1 + 4 / 9) / 3)


def test_per_note_means_by_hand() -> None:
    found = agree(three(), settings=FEW).per_note
    within = found["expert", "expert"]["f"]
    # n1: e1 [0,9) and e2 [0,4) share one end and a token, in both directions; n2: e2 has nothing.
    assert within["exact"].mean["f1"] == 0
    assert within["one_side_boundary"].mean["f1"] == pytest.approx((1 + 0) / 2)
    assert within["one_side_boundary"].sd["f1"] == pytest.approx(0.5**0.5)
    across = found["expert", "crowd"]["f"]
    assert across["token_overlap"].n_notes == 1
    # e1 and w share bbbb, e2 and w share nothing.
    assert across["token_overlap"].mean["f1"] == pytest.approx(0.5)


def test_the_rule_for_empty_rows_is_named_and_matters() -> None:
    values = {
        rule: agree(three(), empty=rule, settings=FEW).per_note["expert", "expert"]["f"]
        for rule in ("zero", "agree", "skip")
    }
    assert values["zero"]["one_side_boundary"].mean["f1"] == pytest.approx(0.5)
    assert values["agree"]["one_side_boundary"].mean["f1"] == pytest.approx(0.5)
    assert values["skip"]["one_side_boundary"].mean["f1"] == pytest.approx(1.0)
    assert agree(three(), empty="skip", settings=FEW).to_dict()["empty"] == "skip"


def test_pairs_and_cases_add_up_to_the_pool() -> None:
    corpus = load_corpus("open-notes").select(cases=["0", "1"])
    found = agree(corpus, settings=FEW)
    total = found.pooled.evaluation.characters.total().counts
    by_pair = [e.characters.total().counts for e in found.pairs.values()]
    assert {k: sum(c[k] for c in by_pair) for k in total} == total
    table = found.case_table()
    assert [line["case"] for line in table] == ["0", "1", "mean", "sd"]
    assert table[2]["f1"] == pytest.approx((table[0]["f1"] + table[1]["f1"]) / 2)


@settings(max_examples=25)
@given(corpora(max_annotators=3))
def test_presence_agreement_does_not_depend_on_who_comes_first(corpus: Corpus) -> None:
    try:
        first = agree(corpus, settings=FEW)
    except InputError:
        return
    turned = corpus.annotators[::-1]
    order = {a.id: i for i, a in enumerate(turned)}
    rows = corpus.rows.relabel(annotator=[order[a.id] for a in corpus.annotators])
    second = agree(corpus.with_rows(rows, turned), settings=FEW)
    for name in ("characters", "presence"):
        one = getattr(first.pooled.evaluation, name).total()
        two = getattr(second.pooled.evaluation, name).total()
        assert one.f1 == two.f1 or (one.f1 != one.f1 and two.f1 != two.f1)


def test_a_single_annotator_cannot_agree() -> None:
    with pytest.raises(InputError, match="two annotators"):
        agree(load_corpus("open-notes").select(annotators=["reference"]))


def test_annotators_without_a_common_row_cannot_agree() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    for note, annotator in (("n1", "a"), ("n2", "b")):
        builder.add_note(Note(note, "c", "text"))
        builder.judge(annotator, note, "f")
    with pytest.raises(InputError, match="nothing to compare"):
        agree(builder.build())


@pytest.mark.data
@pytest.mark.skipif(not EXPERTS.is_dir(), reason="the public EBM-NLP data is not there")
def test_the_pico_papers_expert_figures() -> None:
    # Lee and Sun 2019, Table 2, Expert-200 (191 documents here): exact / one side / overlap.
    published = {
        "participants": (0.395, 0.679, 0.737),
        "interventions": (0.576, 0.732, 0.758),
    }
    found = agree(read_corpus(EXPERTS), matching=Matching("paper", "token"), settings=FEW)
    within = found.per_note["expert", "expert"]
    for feature, figures in published.items():
        ours = [within[feature][k].mean["f1"] for k in within[feature]]
        assert ours == pytest.approx(figures, abs=0.0006)
    # One-to-one matching gives lower figures: .576/.721/.733 for interventions.
    strict = agree(read_corpus(EXPERTS), matching=Matching("one-to-one", "token"), settings=FEW)
    ours = [m.mean["f1"] for m in strict.per_note["expert", "expert"]["interventions"].values()]
    assert ours == pytest.approx((0.576, 0.721, 0.733), abs=0.0006)


def test_agreement_that_never_varies_gets_exact_limits_or_none() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    for i in range(8):
        builder.add_note(Note(f"n{i}", "c", "aaaa bbbb cccc"))
        for who in ("ann", "bob", "cy"):
            builder.judge(who, f"n{i}", "f")
            if i % 2:
                builder.annotate(who, f"n{i}", "f", [(0, 4)])
    whole = builder.build()
    found = agree(whole, settings=FEW, empty="agree")
    limit = 0.025 ** (1 / 8)
    assert found.per_note["", ""]["f"]["exact"].interval == pytest.approx((limit, 1))
    assert found.chance_corrected["krippendorff_alpha"]["interval"] == pytest.approx([limit, 1])
    one = agree(three().select(notes=["n1"]), settings=FEW)
    # A single note shows nothing of the spread.
    assert one.pooled.to_dict()["characters"]["interval"] == [None, None]
    assert one.chance_corrected["krippendorff_alpha"]["interval"] == [None, None]
