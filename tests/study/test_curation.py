import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import CorpusBuilder, Feature, Note, Span, read_corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.study.collection import collect_study
from rubricate.study.curation import (
    Disagreement,
    intersect_marks,
    list_rows,
    settle_by_choice,
    settle_by_rules,
    settle_by_seniors,
    union_marks,
)
from rubricate.study.decisions import (
    curate_study,
    disagreements_table,
    marks_text,
    parse_marks,
)
from rubricate.study.record import Study

SPANS = st.builds(
    lambda start, length: Span(start, start + length), st.integers(0, 40), st.integers(1, 10)
)
MARKS = st.lists(st.lists(SPANS, min_size=1, max_size=3, unique=True), max_size=4).map(
    lambda found: tuple(sorted({tuple(sorted(mark)) for mark in found}))
)
PAPER = ["identical", "second-only", "senior-first"]


def characters(marks) -> set[int]:
    return {i for mark in marks for s in mark for i in range(s.start, s.end)}


@given(MARKS, MARKS)
def test_union_covers_both_and_intersection_what_is_shared(one, two) -> None:
    assert characters(union_marks(one, two)) == characters(one) | characters(two)
    assert characters(intersect_marks(one, two)) == characters(one) & characters(two)
    assert union_marks(one, two) == union_marks(two, one)
    assert intersect_marks(one, two) == intersect_marks(two, one)


@given(MARKS)
def test_written_marks_are_read_back(marks) -> None:
    assert parse_marks(marks_text(marks)) == marks


def row(first, second, senior=True) -> Disagreement:
    return Disagreement("n", "f", ("ann", "bob"), (first, second), first_is_senior=senior)


A, B = ((Span(0, 4),),), ((Span(2, 6),),)


@pytest.mark.parametrize(
    ("first", "second", "marks", "rule"),
    [
        (A, A, A, "identical"),
        ((), (), (), "identical"),
        (A, B, A, "senior-first"),
        (A, (), A, "senior-first"),
        ((), B, B, "second-only"),
    ],
)
def test_the_papers_rule(first, second, marks, rule) -> None:
    # The senior's annotations count; the second's only where the senior found none.
    settled = settle_by_rules(row(first, second), PAPER)
    assert (settled.marks, settled.decided_by) == (marks, f"rule {rule}")


def test_without_a_senior_nobody_is_preferred() -> None:
    assert settle_by_rules(row(A, B, senior=False), PAPER) is None


def test_union_and_intersection_rules_settle_everything() -> None:
    assert settle_by_rules(row(A, B), ["union"]).marks == ((Span(0, 6),),)
    assert settle_by_rules(row(A, B), ["intersection"]).marks == ((Span(2, 4),),)


def test_choices() -> None:
    assert settle_by_choice(row(A, B), "first") == A
    assert settle_by_choice(row(A, B), "second") == B
    assert settle_by_choice(row(A, B), "none") == ()
    assert settle_by_choice(row(A, B), "spans", ((Span(1, 2),),)) == ((Span(1, 2),),)


@pytest.fixture
def collected(returned_study) -> Study:
    study = returned_study()
    collect_study(study)
    return study


def open_rows(study: Study) -> list[dict]:
    with study.output("disagreements", "disagreements.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def save(study: Study, lines: list[dict]) -> None:
    with (study.folder / "4-reference" / "decisions.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def test_undecided_rows_are_listed_and_refused(collected: Study) -> None:
    with pytest.raises(InputError, match="undecided"):
        curate_study(collected)
    lines = open_rows(collected)
    assert lines
    assert all((x["first_text"], x["second_text"]) == ("smokes", "smokes daily") for x in lines)
    assert "smokes" in collected.output("disagreements", "disagreements.html").read_text()
    assert collected.done("curate") is None


def test_decisions_make_the_reference_and_are_kept(collected: Study) -> None:
    with pytest.raises(InputError):
        curate_study(collected)
    lines = open_rows(collected)
    for k, line in enumerate(lines):
        line |= {"decision": ("second", "none")[k % 2], "decided_by": "cy", "decided_at": "2024"}
    lines[0] |= {"decision": "spans", "spans": "0 3", "comment": "shorter"}
    save(collected, lines)
    summary = curate_study(collected).summary
    assert summary["decided_by"]["cy"] == len(lines)
    reference = read_corpus(collected.output("curate", "reference.jsonl"))
    marks = reference.annotations(lines[0]["note"], "f1", "reference")
    assert [a.spans for a in marks] == [(Span(0, 3),)]
    assert reference.annotations(lines[1]["note"], "f1", "reference") == ()
    with collected.output("curate", "provenance.csv").open(newline="") as stream:
        kept = {(x["note"], x["feature"]): x for x in csv.DictReader(stream)}
    assert kept[lines[0]["note"], "f1"]["comment"] == "shorter"
    assert not curate_study(collected).changed


def test_undecided_rows_may_be_left_out(collected: Study) -> None:
    summary = curate_study(collected, allow_undecided=True).summary
    assert summary["undecided"] == summary["disputed"] > 0
    reference = read_corpus(collected.output("curate", "reference.jsonl"))
    line = open_rows(collected)[0]
    assert reference.annotations(line["note"], "f1", "reference") is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"decision": "maybe"}, "decision"),
        ({"decision": "spans", "spans": ""}, "spans"),
        ({"decision": "spans", "spans": "0 900"}, "outside"),
        ({"decision": "spans", "spans": "3"}, "spans"),
        ({"decision": "spans", "spans": "5 3"}, "spans"),
        ({"decision": "first", "decided_by": ""}, "decided_by"),
        ({"decision": "first", "note": "n999"}, "n999"),
    ],
)
def test_wrong_decisions_name_their_row(collected: Study, change: dict, named: str) -> None:
    with pytest.raises(InputError):
        curate_study(collected)
    lines = open_rows(collected)
    lines[1] |= {"decided_by": "cy"} | change
    save(collected, lines)
    with pytest.raises(InputError, match=f"row 3.*{named}"):
        curate_study(collected)


def test_a_row_cannot_be_decided_twice(collected: Study) -> None:
    with pytest.raises(InputError):
        curate_study(collected)
    line = open_rows(collected)[0] | {"decision": "first", "decided_by": "cy"}
    save(collected, [line, line])
    with pytest.raises(InputError, match="twice"):
        curate_study(collected)


def test_a_named_file_must_exist(collected: Study) -> None:
    with pytest.raises(InputError, match="no such file"):
        curate_study(collected, decisions=collected.folder / "nowhere.csv")


def test_the_senior_counts_and_the_second_only_where_the_senior_found_nothing() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    #        note, second's marks, senior's marks, what the reference holds
    rows = [("both", [(0, 4)], [(0, 4)], [(0, 4)]), ("differ", [(0, 4)], [(0, 6)], [(0, 6)]),
            ("second", [(0, 4)], [], [(0, 4)]), ("senior", [], [(2, 4)], [(2, 4)]),
            ("none", [], [], [])]  # fmt: skip
    for note, *marks, _ in rows:
        builder.add_note(Note(note, "c", "x" * 10))
        for who, spans in zip(("junior", "boss"), marks, strict=True):
            builder.judge(who, note, "f")
            for span in spans:
                builder.annotate(who, note, "f", [span])
    builder.add_note(Note("alone", "c", "x" * 10))
    builder.annotate("junior", "alone", "f", [(1, 3)])
    corpus = builder.build()
    found = {row.note: row for row in settle_by_seniors(corpus, ["boss"])}
    for note, *_, expected in [*rows, ("alone", [(1, 3)])]:
        marks = [(s.start, s.end) for mark in found[note].marks for s in mark]
        assert marks == expected, note
    assert found["second"].decided_by == "rule second-only"
    assert found["alone"].decided_by == "single junior"
    with pytest.raises(InputError, match="junior and boss"):
        settle_by_seniors(corpus, [])
    with pytest.raises(UnknownNameError, match="chief"):
        settle_by_seniors(corpus, ["chief"])


def test_three_annotators_are_curated() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Fever"))
    builder.add_note(Note("n", "c", "fever and chills"))
    for who, span in (("ann", (0, 5)), ("bob", (0, 9)), ("cy", (4, 16))):
        builder.annotate(who, "n", "f", [span])
    corpus = builder.build()
    [three], single = list_rows(corpus)
    assert (three.annotators, single) == (("ann", "bob", "cy"), [])
    assert settle_by_choice(three, "third") == ((Span(4, 16),),)
    assert settle_by_choice(three, "union") == ((Span(0, 16),),)
    assert settle_by_choice(three, "intersection") == ((Span(4, 5),),)
    assert settle_by_rules(three, PAPER) is None
    header, [line] = disagreements_table(corpus, [three])
    assert line[header.index("third_spans")] == "4 16"


def test_what_one_or_nobody_judged_may_be_decided(collected: Study) -> None:
    with pytest.raises(InputError):
        curate_study(collected)
    lines = open_rows(collected)
    for line in lines:
        line |= {"decision": "first", "decided_by": "cy"}
    corpus = read_corpus(collected.output("collect", "annotations.jsonl"))
    double, single = list_rows(corpus)
    judged = {(row.note, row.feature) for row in [*double, *single]}
    pairs = ((note.id, f.id) for note in corpus.notes for f in corpus.rubric(note.case))
    missing = next((pair for pair in pairs if pair not in judged), None)
    if single:
        key = {"note": single[0].note, "feature": single[0].feature}
        lines.append({**dict.fromkeys(lines[0], ""), **key, "decision": "spans", "spans": "0 3",
                      "decided_by": "cy"})  # fmt: skip
    if missing is not None:
        key = dict(zip(("note", "feature"), missing, strict=True))
        lines.append({**dict.fromkeys(lines[0], ""), **key, "decision": "none", "decided_by": "cy"})
    save(collected, lines)
    assert curate_study(collected).summary["decided_by"]["cy"] == len(lines)
