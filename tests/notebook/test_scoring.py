"""The functions that `import rubricate as r` offers in a notebook."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pandas
import polars
import pytest

import rubricate as r
from rubricate.errors import ArgumentError, InputError, UnknownNameError
from rubricate.matchers import default_matcher
from rubricate.notebook import as_corpus, as_rubric_file
from rubricate.scoring import ScoreSettings
from rubricate.trust import verify_run

NOTES = {
    "student_id": ["s1", "s2"],
    "note": ["Pt denies fever. Cough for 2 days <script>", "chest pain, no cough"],
    "station": ["Case 1", "Case 1"],
    "school": ["A", None],
}
RUBRIC = {
    "Item": ["No fever", "Cough"],
    "Points": ["2 pts", 1],
    "Case": ["Case 1 - x", "Case 1 - x"],
}


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_a_data_frame_is_scored_into_data_frames(
    frame: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rubric = frame({name: list(map(str, values)) for name, values in RUBRIC.items()})
    found = r.score(frame(NOTES), rubric, matcher="lexicon")
    assert isinstance(found.scores, frame) and isinstance(found.items, frame)
    assert list(found.scores["note"]) == ["s1", "s2"]
    assert list(found.scores["score"]) == [3.0, 0.0]
    assert list(found.scores["maximum"]) == [3.0, 3.0]
    assert list(found.items["found"]) == [True, True, False, False]
    assert found.run["counts"]["scored"] == 2
    assert list(tmp_path.iterdir()) == [], "no folder unless asked"
    saved = found.save("run")
    assert {"scores.csv", "items.csv", "run.json", "report.html"} <= {
        one.name for one in saved.iterdir()
    }
    with pytest.raises(FileExistsError):
        found.save("run")
    folder = found._folder
    del found
    assert not folder.exists()


def test_a_note_shows_its_evidence_and_nothing_runs() -> None:
    found = r.score(polars.DataFrame(NOTES), ["No fever", "Cough"], matcher="lexicon")
    shown = found.note("s1")._repr_html_()
    assert "denies fever</mark>" in shown and "<script>" not in shown
    assert len(found.note("s1").items) == 2
    with pytest.raises(UnknownNameError, match="s1"):
        found.note("s9")
    assert "s1" in found._repr_html_()


def test_texts_paths_and_corpora_are_notes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no fever", encoding="utf-8")
    for notes in (["no fever"], tmp_path, str(tmp_path), as_corpus(["no fever"])):
        found = r.match(notes, ["No fever"], matcher="exact", case="")
        assert len(found.notes) == 1 and len(found.rows) == 1
    assert r.score(tmp_path, ["No fever"], matcher="lexicon").scores["score"].to_list() == [1.0]
    with pytest.raises(InputError, match="list of texts"):
        r.match([1], ["No fever"])
    with pytest.raises(InputError, match="list of texts"):
        as_rubric_file([1])


def test_frames_become_corpora_and_back() -> None:
    corpus = r.Corpus.from_frame(pandas.DataFrame(NOTES))
    assert [(n.id, n.case, n.metadata["school"]) for n in corpus.notes] == [
        ("s1", "Case 1", "A"),
        ("s2", "Case 1", None),
    ]
    odd = polars.DataFrame({"Befund": ["a", "b"], "n": [1, 2]})
    with pytest.raises(InputError, match="'Befund', 'n'"):
        r.Corpus.from_frame(odd)
    given = r.Corpus.from_frame(odd, columns={"text": "Befund"}, case="c")
    assert [(n.id, n.case, dict(n.metadata)) for n in given.notes] == [
        ("1", "c", {"n": 1}),
        ("2", "c", {"n": 2}),
    ]
    twice = {"student_id": ["s", "s"], "text": ["a", "b"], "case": ["1", "2"]}
    assert [n.id for n in r.Corpus.from_frame(polars.DataFrame(twice)).notes] == ["s-1", "s-2"]
    with pytest.raises(InputError, match="again"):
        r.Corpus.from_frame(polars.DataFrame({**twice, "case": ["1", "1"]}))
    table = r.match(
        ["Pt denies fever.", "He has a fever and cough."], ["No fever"], matcher="lexicon"
    ).to_frame()
    assert table["text"].to_list() == ["denies fever", None]
    assert table["outcome"].to_list() == ["stated", "contradicted"]
    assert table["probability"].dtype == polars.Float64


def test_learning_measuring_and_routing() -> None:
    corpus = r.load_corpus("open-notes").select(cases=["0"])
    matcher = r.fit(corpus, matcher="exact")
    found = r.match(corpus, model=matcher)
    measured = r.evaluate(corpus, found, reference_annotator="reference")
    assert measured.to_dict()["characters"]["f1"] > 0.5  # type: ignore[index]
    assert "predicted against reference" in measured._repr_html_()
    assert ">Radiation to jaw<" not in r.plot(measured)
    assert ">Radiation to jaw<" in r.plot(measured, rubric=corpus)
    assert "F1 of presence" in r.plot(measured)
    agreed = r.agree(corpus)
    assert "agreement of" in agreed._repr_html_() and r.plot(agreed).startswith("<svg")
    policy = r.route(corpus, found, reference_annotator="reference")
    assert r.plot(policy).startswith("<svg")
    scored = r.score(corpus, model=matcher, policy=policy)
    assert "policy" in scored.run
    assert r.plot(scored).startswith("<svg")
    assert r.plan(precision=0.85, recall=0.8, frequency=0.48).total > 300
    with pytest.raises(InputError):
        r.plot("no result")  # type: ignore[arg-type]


def test_values_show_themselves_and_escape_everything() -> None:
    bad = "<img src=x onerror=alert(1)>"
    note = r.Note(bad, bad, bad)
    rubric = r.Rubric(bad, (r.Feature(bad, bad, bad, group=bad),), title=bad)
    corpus = r.Corpus((note,), (rubric,))
    found = r.match(corpus, matcher="exact")
    shown = [note, rubric, corpus, found, r.show_note(found, bad), r.score(corpus, matcher="exact")]
    for value in shown:
        html = value._repr_html_()  # type: ignore[attr-defined]
        assert "<img" not in html and "&lt;img" in html
    measured = r.evaluate(found, found)
    for html in (measured._repr_html_(), r.plot(measured), r.plot(shown[-1])):  # type: ignore[arg-type]
        assert "<img" not in html


def test_drawings_are_saved(tmp_path: Path) -> None:
    drawn = r.plot(r.score(["no fever"], ["No fever"], matcher="exact"))
    assert drawn.save(tmp_path / "a.svg").read_text(encoding="utf-8") == drawn
    assert drawn._repr_html_() == drawn


def test_a_model_of_the_package_is_meant_by_its_name() -> None:
    note, rubric = ["Pt c/o SOB."], ["Shortness of breath"]
    found = r.score(note, rubric, model="fast")
    assert found.scores["score"].to_list() == [1.0]
    assert r.match(note, rubric, model="fast").annotators[0].id == "encoder"


def test_columns_that_are_there_twice_are_refused() -> None:
    frame = pandas.DataFrame([["s1", "cough", "fever"]], columns=["id", "note", "note"])
    with pytest.raises(InputError, match="two columns"):
        r.score(frame, ["Cough"], matcher="lexicon")
    frame.columns = pandas.Index(["id", "Note", "note "])
    with pytest.raises(InputError, match="two columns"):
        r.score(frame, ["Cough"], matcher="lexicon")
    # A column that nobody else is called by decides.
    frame.columns = pandas.Index(["id", "note", "text"])
    assert r.score(frame, ["Fever"], matcher="lexicon").scores["score"].item() == 1


def test_whole_numbers_of_a_column_with_gaps_are_ids_without_a_point() -> None:
    frame = pandas.DataFrame({"student_id": [7.0, 8.0], "note": ["cough", "fever"]})
    assert list(r.score(frame, ["Cough"], matcher="lexicon").scores["note"]) == ["7", "8"]


def test_a_row_without_an_id_is_refused_and_named() -> None:
    frame = pandas.DataFrame({"id": [7.0, None, 8.0, None], "note": ["cough", "a", "fever", "b"]})
    with pytest.raises(InputError) as caught:
        r.score(frame, ["Cough"], matcher="lexicon")
    assert [fault.message for fault in caught.value.faults] == [
        "row 2 of the data frame: the note has no id",
        "row 4 of the data frame: the note has no id",
    ]


def test_notes_are_asked_for_by_number_too() -> None:
    found = r.score(["cough", "fever"], ["Cough"], matcher="lexicon")
    assert found.note(1).result == found.note("1").result
    with pytest.raises(UnknownNameError, match="no note '3'"):
        found.note(3)
    corpus = r.load_corpus("open-notes").select(cases=["0"])
    assert r.show_note(corpus, int(corpus.notes[0].id)).note == corpus.notes[0]


@pytest.mark.parametrize("text", ["chest pain " * 400, "pain\nfever", "pain\0"])
def test_a_note_in_place_of_a_path_is_not_quoted(text: str) -> None:
    with pytest.raises(InputError, match="given as a list") as caught:
        r.score(text, ["Cough"], matcher="lexicon")
    assert "pain" not in str(caught.value)
    with pytest.raises(InputError, match="did you mean 'open-notes'"):
        r.score("open-note", matcher="lexicon")


def test_odd_features_of_a_rubric_in_any_form() -> None:
    texts = ["Chest pain", "chest pain.", "Cough or wheeze"]
    as_list = r.odd_features(texts)
    assert len(as_list) == 2
    assert r.odd_features(pandas.DataFrame({"Item": texts})) == as_list


def test_what_a_rubric_file_leaves_open_is_told(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("No.,Item,Points\n1,Cough,1\n2,Fever,\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="row 3"):
        found = as_rubric_file(tmp_path / "r.csv")
    assert found is not None and len(found.rubrics[0]) == 2


READ = """
import pickle, sys
found = pickle.load(open(sys.argv[1], "rb"))
print(found.note("1").result.note, found.run["counts"]["scored"], found.scores["score"].to_list())
"""


def test_results_go_to_other_processes(tmp_path: Path) -> None:
    texts, rubric = ["Pt denies fever.", "Cough for 2 days."], ["No fever", "Cough"]
    found = r.score(texts, rubric, matcher="lexicon")
    again = pickle.loads(pickle.dumps(found))
    assert again.results == found.results and again.run == found.run
    assert again.scores.equals(found.scores) and again.items.equals(found.items)
    assert again.note("1")._repr_html_() == found.note("1")._repr_html_()
    (tmp_path / "found.pickle").write_bytes(pickle.dumps(found))
    del found
    saved = again.save(tmp_path / "run")
    assert (saved / "report.html").exists() and not verify_run(saved).differing
    words = [sys.executable, "-P", "-c", READ, str(tmp_path / "found.pickle")]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["1", "2", "[1.0,", "1.0]"]


def test_results_come_back_in_the_kind_of_the_notes() -> None:
    index = pandas.Index(["x", "y", "z"], name="row")
    texts = {"text": ["cough", "fever", "no cough"]}
    found = r.score(pandas.DataFrame(texts, index=index), ["Cough", "Fever"], matcher="lexicon")
    assert list(found.scores.index) == ["x", "y", "z"] and found.scores.index.name == "row"
    assert list(found.items.index) == ["x", "x", "y", "y", "z", "z"]
    joined = pandas.DataFrame(texts, index=index).join(found.scores[["score"]])
    assert list(joined["score"]) == [1.0, 1.0, 0.0]
    series = r.score(pandas.Series(texts["text"], index=index), ["Cough"], matcher="lexicon")
    assert list(series.scores.index) == ["x", "y", "z"]
    lazy = r.score(polars.LazyFrame(texts), ["Cough"], matcher="lexicon")
    assert isinstance(lazy.items, polars.LazyFrame)
    assert lazy.scores.collect()["score"].to_list() == [1.0, 0.0, 0.0]
    corpus = r.match(pandas.DataFrame(texts), ["Cough"], matcher="lexicon")
    assert isinstance(corpus.to_frame(like=pandas.DataFrame()), pandas.DataFrame)
    assert isinstance(corpus.to_frame(like=polars.LazyFrame()), polars.LazyFrame)


def test_an_index_of_ids_has_the_ids() -> None:
    frame = pandas.DataFrame({"student_id": ["s1", "s2"], "note": ["cough", "fever"]})
    found = r.score(frame.set_index("student_id"), ["Cough"], matcher="lexicon")
    assert list(found.scores["note"]) == ["s1", "s2"] == list(found.scores.index)


def test_dictionaries_are_notes_and_rubrics() -> None:
    rows = [{"id": "a", "text": "cough", "case": "1"}, {"id": "b", "text": "fever", "case": "1"}]
    rubric = [{"text": "Cough", "points": 2}, {"text": "Fever", "points": 3}]
    found = r.score(rows, rubric, matcher="lexicon")
    assert found.scores.select("note", "case", "score").rows() == [("a", "1", 2.0), ("b", "1", 3.0)]
    by_id = r.score({"a": "cough", "b": "fever"}, {"Cough": 2, "Fever": 3}, matcher="lexicon")
    assert by_id.scores.select("note", "score").rows() == [("a", 2.0), ("b", 3.0)]
    with pytest.raises(InputError, match="dictionaries"):
        r.score({"a": 1}, ["Cough"])  # type: ignore[dict-item]
    with pytest.raises(InputError, match="has no column of texts"):
        r.score([{"x": "cough"}], ["Cough"])


def test_measuring_takes_what_scoring_takes(tmp_path: Path) -> None:
    corpus = r.load_corpus("open-notes").select(cases=["0"])
    place = tmp_path / "notes.jsonl"
    r.write_corpus(corpus, place, format="jsonl")
    assert r.agree(place).pooled.to_dict() == r.agree(corpus).pooled.to_dict()
    measured = r.evaluate(str(place), {"again": place}, reference_annotator="reference",
                          predicted_annotator="reference")  # fmt: skip
    assert measured.systems["again"].to_dict()["characters"]["f1"] == 1.0  # type: ignore[index]


def test_a_matcher_beside_a_model_is_refused_and_settings_keep_the_default() -> None:
    with pytest.raises(ArgumentError, match="model and matcher cannot"):
        r.score(["cough"], ["Cough"], matcher="lexicon", model="fast")
    with pytest.raises(ArgumentError, match="model and matcher cannot"):
        r.match(["cough"], ["Cough"], matcher="lexicon", model="fast")
    found = r.score(["cough"], ["Cough"], settings=ScoreSettings(seed=1))
    assert default_matcher() == "cascade" == found.run["model"]["name"]


def test_copies_of_results_last_longer_than_the_results() -> None:
    found = r.score(["cough"], ["Cough"], matcher="lexicon")
    twins = [copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))]
    del found
    assert [twin.scores["score"].to_list() for twin in twins] == [[1.0], [1.0], [1.0]]
    lazy = r.score(polars.LazyFrame({"text": ["cough"]}), ["Cough"], matcher="lexicon")
    assert isinstance(pickle.loads(pickle.dumps(lazy)).scores, polars.LazyFrame)
    frame = pandas.DataFrame({"text": ["cough"]}, index=["x"])
    scored = r.score(frame, ["Cough"], matcher="lexicon")
    assert list(pickle.loads(pickle.dumps(scored)).scores.index) == ["x"]
