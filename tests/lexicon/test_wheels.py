"""Tables of names shipped as pickles: read as plain data, refused when they are more than that."""

from __future__ import annotations

import bz2
import pickle
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.lexicon.build import SOURCES
from rubricate.lexicon.wheels import read_drugs, read_mesh


def write(path: Path, content: object) -> Path:
    path.write_bytes(bz2.compress(pickle.dumps(content)))
    return path


def test_names_are_grouped(tmp_path: Path) -> None:
    table = {
        "lipitor": ["atorvastatin"],
        "atorvastatin": ["atorvastatin"],
        "(3r,5r)-7-[2-(4-fluorophenyl)]": ["atorvastatin"],
        "alone": ["alone"],
        "x": ["atorvastatin"],
    }
    path = write(tmp_path / "t.bz2", {"drug_variant_to_canonical": table})
    [group] = read_drugs(path)
    assert group.id == "drugs:atorvastatin"
    assert [phrase.text for phrase in group.phrases] == ["atorvastatin", "lipitor"]


def test_inverted_index_entries_are_left_out(tmp_path: Path) -> None:
    table = {"pain, chest": ["chest pain"], "chest pains": ["chest pain"]}
    path = write(tmp_path / "t.bz2", {"disease_variant_to_canonical": table})
    [group] = read_mesh(path)
    assert [phrase.text for phrase in group.phrases] == ["chest pain", "chest pains"]


class _Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("harm"),))  # type: ignore[return-value]


def test_code_in_a_pickle_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "t.bz2", {"drug_variant_to_canonical": _Harmful()})
    with pytest.raises(InputError):
        list(read_drugs(path))
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"plain", bz2.compress(b""), bz2.compress(pickle.dumps({}))])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.bz2"
    path.write_bytes(content)
    with pytest.raises(InputError):
        list(read_mesh(path))


@pytest.mark.data
@pytest.mark.parametrize(("name", "reader"), [("drugs", read_drugs), ("mesh", read_mesh)])
def test_the_installed_tables(name: str, reader: object) -> None:
    path = SOURCES[name].locate()
    if path is None:
        pytest.skip(f"{SOURCES[name].how_to_get} was not run")
    assert sum(1 for _ in SOURCES[name].read(path)) > 1_000
