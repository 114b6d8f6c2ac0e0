import tomllib
from importlib import import_module
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy")
ROOT = Path(__file__).parents[2]


def test_evidence_stands_in_the_spans_of_a_text() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    point = points["project"]["entry-points"]["spacy_factories"]["rubricate"]
    module, _, name = point.partition(":")
    assert getattr(import_module(module), name)
    nlp = spacy.blank("en")
    nlp.add_pipe("rubricate", config={"rubric": ["No fever", "Cough"]})
    doc = nlp("Pt denies fever, no cough.")
    group = doc.spans["rubricate"]
    assert [(span.text, span.label_) for span in group] == [("denies fever", "rubric-no-fever")]
    assert group.attrs["offsets"] == [(3, 15)]
    assert group.attrs["outcome"] == {"rubric-no-fever": "stated", "rubric-cough": "contradicted"}
    assert doc.to_bytes()


def test_a_component_takes_the_models_that_score_takes() -> None:
    from rubricate.errors import ArgumentError

    nlp = spacy.blank("en")
    config = {"rubric": {"Shortness of breath": 2}, "model": "fast"}
    component = nlp.add_pipe("rubricate", config=config)
    doc = nlp("Pt c/o SOB.")
    assert [span.text for span in doc.spans["rubricate"]] == ["SOB"]
    assert component.rubric.features[0].weight == 2
    with pytest.raises(ArgumentError, match="model and matcher cannot be used together"):
        spacy.blank("en").add_pipe("rubricate", config={**config, "matcher": "lexicon"})
    usual = spacy.blank("en").add_pipe("rubricate", config={"rubric": ["Cough"]})
    assert usual.matcher.name == "cascade", "the default of the command"


def test_a_component_needs_one_rubric() -> None:
    from rubricate.errors import InputError

    with pytest.raises(InputError, match="one rubric"):
        spacy.blank("en").add_pipe("rubricate")
