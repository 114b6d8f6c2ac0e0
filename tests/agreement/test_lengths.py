from rubricate import Annotator, CorpusBuilder, Feature, Note
from rubricate.agreement import span_lengths


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
