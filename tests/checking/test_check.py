from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note, load_corpus
from rubricate.checking import RULES, check_corpus, choose_rules
from rubricate.errors import UnknownNameError

DOCS = Path(__file__).parents[2] / "docs" / "checking.md"


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_is_documented(name: str) -> None:
    assert f"| `{name}` |" in DOCS.read_text(encoding="utf-8")


def test_the_table_is_frozen() -> None:
    with pytest.raises(TypeError):
        RULES["new"] = RULES["repeated"]  # type: ignore[index]


SECRET = "zanzibar"


def faulty() -> Corpus:
    builder = CorpusBuilder()
    builder.add_note(Note("n1", "c", f" {SECRET}. "))
    builder.add_note(Note("n2", "d", f"has {SECRET}"))
    builder.add_feature(Feature("f1", "c", "Fever"))
    builder.add_feature(Feature("f2", "d", "Fever"))
    builder.annotate("a", "n1", "f1", [(0, 11)])
    builder.annotate("a", "n2", "f2", [(3, 12)])
    return builder.build()


def test_counts_by_rule_and_case() -> None:
    result = check_corpus(faulty(), rules=["white-space", "end-punctuation", "repeated"])
    assert result.counts == {"white-space": 2, "end-punctuation": 0, "repeated": 0}
    assert result.repairable_counts["white-space"] == 2
    assert result.counts_by_case == {"c": {"white-space": 1}, "d": {"white-space": 1}}
    assert (result.n_rows, result.n_annotations, len(result)) == (2, 2, 2)


def test_findings_name_the_place_and_never_the_words() -> None:
    result = check_corpus(faulty())
    value = json.dumps(result.to_dict())
    assert SECRET not in value
    finding = result.findings[0].to_dict()
    assert (finding["note"], finding["case"], finding["feature"]) == ("n1", "c", "f1")
    assert finding["spans"] == [[0, 11]]
    assert finding["repair"] == {"action": "respan", "safe": True, "spans": [[1, 10]]}


def test_rules_can_be_chosen_and_skipped() -> None:
    assert [rule.name for rule in choose_rules()] == list(RULES)
    names = [rule.name for rule in choose_rules(["repeated", "cut-word"], skip=["cut-word"])]
    assert names == ["repeated"]
    with pytest.raises(UnknownNameError, match="cut-word"):
        check_corpus(faulty(), rules=["cut-wrod"])
    with pytest.raises(UnknownNameError):
        choose_rules(skip=["nothing"])


def test_a_corpus_without_rows_has_no_findings() -> None:
    assert len(check_corpus(Corpus((), ()))) == 0


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_says_what_it_finds(name: str) -> None:
    rule = RULES[name]
    assert rule.name == name
    assert rule.summary
    assert rule.find.__doc__


@given(corpora())
@settings(deadline=None)
def test_findings_are_about_what_is_there(corpus: Corpus) -> None:
    for finding in check_corpus(corpus):
        found = corpus.annotations(finding.note_id, finding.feature_id, finding.annotator_id)
        assert found is not None
        assert finding.annotation is not None
        own = found[finding.annotation].spans
        assert finding.spans == tuple((span.start, span.end) for span in own)
        if finding.repair is not None and finding.repair.action == "respan":
            length = len(corpus.note(finding.note_id).text)
            assert all(0 <= start < end <= length for start, end in finding.repair.spans)


def test_the_embedded_corpus_is_nearly_clean() -> None:
    # The findings left are true to the guidelines: "the pill", "a nightcap ...", "her kids ...",
    # "her family ...".
    found = check_corpus(load_corpus("open-notes")).counts
    assert found.pop("leading-article") == 2
    assert found.pop("leading-reference") == 2
    assert found.pop("negation-left-out") <= 3
    assert not any(found.values())


def test_progress_is_told_row_by_row() -> None:
    seen: list[tuple[int, int | None, str]] = []
    check_corpus(faulty(), progress=lambda *now: seen.append(now))
    assert seen == [(0, 2, "checking"), (1, 2, "checking"), (2, 2, "checking")]
