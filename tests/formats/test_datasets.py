"""Data sets of Hugging Face: what the library saves is read, what we write it opens."""

import json
from pathlib import Path

import polars as pl
import pytest

from rubricate import load_corpus, read_corpus, write_corpus
from rubricate.errors import InputError
from rubricate.formats import ReadLimits, detect_format

#: Saved with ``Dataset.save_to_disk`` and ``DatasetDict.save_to_disk`` of datasets 4 and 5.
SAVED = Path(__file__).parents[1] / "resources" / "datasets"


def test_what_the_library_saved_is_read() -> None:
    corpus = read_corpus(SAVED / "one")
    assert detect_format(SAVED / "one") == "datasets"
    (found,) = corpus.annotations("7", "Fever", "annotator") or ()
    assert found.text(corpus.note("7").text) == "fever"
    assert corpus.note("7").metadata == {"site": "a"}
    assert corpus.annotations("8", "Fever", "annotator") == ()
    assert corpus.row("9", "Fever", "annotator") is None  # null: not judged


def test_splits_become_metadata() -> None:
    corpus = read_corpus(SAVED / "splits")
    assert [(n.id, n.metadata["split"]) for n in corpus.notes] == [("1", "train"), ("2", "test")]


def test_the_library_opens_what_is_written(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    corpus = load_corpus("open-notes").select(cases=["0"])
    assert write_corpus(corpus, tmp_path / "c", format="datasets") == {}
    opened = datasets.load_from_disk(str(tmp_path / "c"))
    assert opened[0]["text"] == corpus.notes[0].text
    opened.save_to_disk(str(tmp_path / "again"))
    (tmp_path / "again" / "rubricate.json").write_bytes(
        (tmp_path / "c" / "rubricate.json").read_bytes()
    )
    assert read_corpus(tmp_path / "again") == corpus


def arrow(place: Path, **columns: object) -> Path:
    pl.DataFrame(columns).write_ipc_stream(place)
    return place


SPANS = [[{"start": 3, "end": 8, "label": "Fever"}]]


@pytest.mark.parametrize("name", ["spans", "entities"])
def test_plain_arrow_files_are_read(name: str, tmp_path: Path) -> None:
    place = arrow(tmp_path / "n.arrow", text=["no fever"], id=[7], **{name: SPANS})
    assert read_corpus(place).annotations("7", "Fever", "annotator")
    pl.DataFrame({"text": ["no fever"], name: SPANS}).write_ipc(place)
    with pytest.raises(InputError, match="Feather"):
        read_corpus(place)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "n.arrow"
    pl.DataFrame({"text": ["a" * 10_000]}).write_ipc_stream(place, compression="zstd")
    with pytest.raises(InputError, match="without compression"):
        read_corpus(place)
    for columns in ({"note": ["secret"]}, {"text": [5]}, {"text": ["x"], "spans": ["secret"]}):
        with pytest.raises(InputError) as caught:
            read_corpus(arrow(place, **columns))
        assert "secret" not in str(caught.value)
    whole = arrow(place, text=["no fever"], spans=SPANS).read_bytes()
    for cut in range(0, len(whole) - 8, 24):
        place.write_bytes(whole[:cut])
        with pytest.raises(InputError):
            read_corpus(place)
    with pytest.raises(InputError, match="rows"):
        read_corpus(arrow(place, text=["x"] * 20), limits=ReadLimits(rows=10))


@pytest.mark.parametrize("name", ["../outside.arrow", "..", "/etc/passwd", 5, None])
def test_a_list_of_files_leads_nowhere_else(name: object, tmp_path: Path) -> None:
    arrow(tmp_path / "outside.arrow", text=["secret"])
    folder = tmp_path / "c"
    write_corpus(load_corpus("open-notes").select(cases=["0"]), folder, format="datasets")
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(InputError, match="of its folder"):
        read_corpus(folder)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    with pytest.raises(InputError, match="of its folder"):
        read_corpus(folder)


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    write_corpus(load_corpus("open-notes").select(cases=["0"]), folder, format="datasets")
    (data,) = folder.glob("*.arrow")
    data.symlink_to(data.rename(tmp_path / "outside.arrow"))
    with pytest.raises(InputError, match="leads out"):
        read_corpus(folder)
