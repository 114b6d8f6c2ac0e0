"""Errors that users reported: each case by the default matcher and by the lexicon."""

from pathlib import Path

import pytest

from rubricate import CorpusBuilder, Feature, Note, fit_matcher

CASES = [
    line.split("\t")
    for line in Path(__file__).with_name("reported_cases.tsv").read_text("utf-8").splitlines()[1:]
]


@pytest.mark.parametrize("name", ["cascade", "lexicon"])
def test_reported_cases(name: str) -> None:
    builder = CorpusBuilder()
    for i, (_, feature, text) in enumerate(CASES):
        builder.add_note(Note(str(i), str(i), text))
        builder.add_feature(Feature(str(i), str(i), feature))
    corpus = builder.build()
    predicted = fit_matcher(name, corpus.select(notes=[])).predict(corpus)
    wrong = [
        (outcome, feature, text)
        for i, (outcome, feature, text) in enumerate(CASES)
        if bool(predicted.annotations(str(i), str(i), name)) != (outcome == "stated")
    ]
    assert not wrong
