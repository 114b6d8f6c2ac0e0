from pathlib import Path

import pytest
from hypothesis import given, settings
from strategies import corpora

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, load_corpus, read_corpus
from rubricate.errors import InputError
from rubricate.evaluation import Matching, evaluate
from rubricate.evaluation.agreement import agree, pair_annotators, span_lengths
from rubricate.formats import stored_tokens
from rubricate.stats import Resampling

FEW = Resampling(resamples=50)
RELEASE = Path(__file__).parents[1] / "resources" / "ebmnlp" / "release2"
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
    found = agree(corpus, settings=FEW).pooled
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
    found = agree(three(), settings=FEW, empty="zero").per_note
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
    total = found.pooled.characters.total().counts
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
        one = getattr(first.pooled, name).total()
        two = getattr(second.pooled, name).total()
        assert one.f1 == two.f1 or (one.f1 != one.f1 and two.f1 != two.f1)


def test_an_item_that_both_rarely_find_agrees_by_presence_and_by_words() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Chest pain"))
    for i in range(10):
        builder.add_note(Note(f"n{i}", "c", "chest pain"))
        for who in ("ann", "bob"):
            builder.judge(who, f"n{i}", "f")
    for who in ("ann", "bob"):
        builder.annotate(who, "n0", "f", [(0, 10)])
    found = agree(builder.build(), settings=FEW)
    (line,) = found.item_table()
    assert (line["rows"], line["both"], line["neither"]) == (10, 1, 9)
    assert (line["agreed"], line["kappa"], line["ac1"]) == (1.0, 1.0, 1.0)
    assert (line["characters_f1"], line["exact_spans_f1"]) == (1.0, 1.0)
    assert line["wording"] == "Chest pain"
    assert found.per_note["", ""]["f"]["exact"].mean["f1"] == 1.0
    assert found.to_dict()["items"] == [line]


def test_words_are_compared_only_where_both_found_the_item() -> None:
    (line,) = agree(three().select(annotators=["e1", "e2"]), settings=FEW).item_table()
    assert line["first_only"] + line["second_only"] == 1
    assert line["agreed"] == 0.5
    assert line["characters_f1"] == pytest.approx(8 / 13)


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
    strict = agree(
        read_corpus(EXPERTS), matching=Matching("one-to-one", "token"), settings=FEW, empty="zero"
    )
    ours = [m.mean["f1"] for m in strict.per_note["expert", "expert"]["interventions"].values()]
    assert ours == pytest.approx((0.576, 0.721, 0.733), abs=0.0006)


@pytest.mark.skipif(not EXPERTS.is_dir(), reason="the public EBM-NLP data is not there")
def test_span_lengths_are_in_the_corpuss_own_tokens() -> None:
    # Lee and Sun 2019, Table 4: 6.356, 1.903 and 4.379 over all 200 documents.
    found = span_lengths(read_corpus(EXPERTS), stored_tokens(EXPERTS))["expert"]
    published = {"participants": 6.366, "interventions": 1.902, "outcomes": 4.412}
    for feature, mean in published.items():
        assert found[feature]["tokens"]["mean"] == pytest.approx(mean, abs=0.0006)


def test_stored_tokens_are_used_where_there_are_any() -> None:
    corpus = read_corpus(RELEASE, strict=False)
    own = stored_tokens(RELEASE)
    assert len(own["101"]) == 24
    spans = span_lengths(corpus, own)["expert"]["participants"]["tokens"]["mean"]
    assert spans == pytest.approx(span_lengths(corpus)["expert"]["participants"]["tokens"]["mean"])
    # Tokens of another cut are counted as they are given.
    halves = {"101": [(0, 40), (40, len(corpus.note("101").text))]}
    assert span_lengths(corpus, halves)["expert"]["participants"]["tokens"]["mean"] < spans


def test_no_f1_exceeds_1_by_default() -> None:
    # One long span against two short ones: both short ones hit, which is more than there are.
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    for i in range(3):
        builder.add_note(Note(f"n{i}", "c", "aaaa bbbb cccc"))
        builder.annotate("ann", f"n{i}", "f", [(0, 14)])
        builder.annotate("bob", f"n{i}", "f", [(0, 4)])
        builder.annotate("bob", f"n{i}", "f", [(5, 9)])
    corpus = builder.build()
    paper = agree(corpus, matching=Matching("paper", "token"), settings=FEW)
    assert paper.pooled.spans["token_overlap"].total().f1 > 1
    assert any("may exceed 1" in warning for warning in paper.pooled.warnings())
    usual = agree(corpus, settings=FEW)
    assert usual.pooled.spans["token_overlap"].total().f1 <= 1


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
    exact = found.per_note["", ""]["f"]["exact"].f1
    alpha = found.chance_corrected["krippendorff_alpha"].estimate
    assert (exact.low, exact.high) == pytest.approx((limit, 1))
    assert (alpha.low, alpha.high) == pytest.approx((limit, 1))
    one = agree(three().select(notes=["n1"]), settings=FEW)
    # A single note shows nothing of the spread.
    assert not one.pooled.overall("characters").has_interval
    assert not one.chance_corrected["krippendorff_alpha"].estimate.has_interval


def test_tokens_and_characters_by_group() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    builder.add_note(Note("n", "c", "no fever, some chills"))
    builder.add_annotator(Annotator("e", "expert"))
    builder.add_annotator(Annotator("w", "crowd"))
    builder.annotate("e", "n", "f", [(0, 8)])
    builder.annotate("e", "n", "f", [(15, 21)])
    builder.annotate("w", "n", "f", [(0, 21)])
    found = span_lengths(builder.build())
    assert found["expert"]["f"]["n_spans"] == 2
    assert found["expert"]["f"]["tokens"]["mean"] == 1.5
    assert found["expert"]["f"]["characters"]["mean"] == 7
    assert found["crowd"]["f"]["tokens"]["mean"] >= 4
    assert found["crowd"]["f"]["tokens"]["sd"] is None
