import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from rubricate.errors import InputError, OutputExistsError
from rubricate.files import (
    FolderLock,
    file_hash,
    hold_folder,
    is_plain_name,
    missing_path,
    program_hash,
    whole_output,
)
from rubricate.outputs import Kind

#: Here it does not matter what is replaced.
ANY = Kind("anything", lambda path: "")


def test_nothing_appears_when_writing_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), whole_output(tmp_path / "out") as place:
        place.mkdir()
        (place / "half").write_text("x", encoding="utf-8")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [whole_output, hold_folder])
def test_a_full_disk_is_told_with_what_could_not_be_written(
    write: Callable[[Path], AbstractContextManager[object]], tmp_path: Path
) -> None:
    target = tmp_path / "out"
    with pytest.raises(InputError, match="out cannot be written: no room"), write(target):
        raise OSError(errno.ENOSPC, "no room")
    with pytest.raises(PermissionError), write(target):
        raise PermissionError(errno.EACCES, "not yours")
    assert not list(tmp_path.iterdir())


def test_a_lock_needs_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int, body: bytes) -> int:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("rubricate.files.os.write", full)
    lock = FolderLock.take(tmp_path)
    assert lock is not None and FolderLock.take(tmp_path) is None
    lock.release()
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten_unless_asked(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(OutputExistsError), whole_output(target) as place:
        place.write_text("new", encoding="utf-8")
    assert target.read_text(encoding="utf-8") == "old"
    with whole_output(target, overwrite=True, kind=ANY) as place:
        place.write_text("new", encoding="utf-8")
    assert target.read_text(encoding="utf-8") == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


def test_a_companion_in_the_way_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "out.txt.more").write_text("old", encoding="utf-8")
    with pytest.raises(OutputExistsError), whole_output(tmp_path / "out.txt") as place:
        place.write_text("new", encoding="utf-8")
        place.with_name("out.txt.more").write_text("new", encoding="utf-8")
    assert not (tmp_path / "out.txt").exists()


def test_a_full_folder_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").write_text("x", encoding="utf-8")
    with whole_output(target, overwrite=True, kind=ANY) as place:
        place.mkdir()
        (place / "new").write_text("y", encoding="utf-8")
    assert [p.name for p in target.iterdir()] == ["new"]


def test_a_failed_overwrite_leaves_the_old(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").write_text("x", encoding="utf-8")
    with pytest.raises(RuntimeError), whole_output(target, overwrite=True, kind=ANY) as place:
        place.mkdir()
        raise RuntimeError
    assert [p.name for p in target.iterdir()] == ["old"]


def test_the_old_comes_back_when_the_new_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").write_text("x", encoding="utf-8")
    move = Path.replace

    def fail_once(place: Path, to: Path) -> Path:
        if to == target and not (place / "old").exists():
            raise OSError("the disk is gone")
        return move(place, to)

    monkeypatch.setattr(Path, "replace", fail_once)
    with (
        pytest.raises(OSError, match="gone"),
        whole_output(target, overwrite=True, kind=ANY) as place,
    ):
        place.mkdir()
    assert [p.name for p in target.iterdir()] == ["old"]
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_who_has_no_home_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", no_home)
    with whole_output(tmp_path / "out") as place:
        place.write_text("done", encoding="utf-8")
    assert (tmp_path / "out").exists()


def test_hash_sees_names_and_content(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    first = file_hash(folder)
    (folder / "a").rename(folder / "b")
    assert file_hash(folder) != first


def test_a_folder_is_never_replaced_by_a_file_nor_a_file_by_a_folder(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    (folder / "precious").write_text("x", encoding="utf-8")
    file.write_text("x", encoding="utf-8")
    with pytest.raises(InputError), whole_output(folder, overwrite=True, kind=ANY) as place:
        place.write_text("new", encoding="utf-8")
    with pytest.raises(InputError), whole_output(file, overwrite=True, kind=ANY) as place:
        place.mkdir()
    assert (folder / "precious").exists()
    assert file.read_text(encoding="utf-8") == "x"


def test_the_working_folder_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "here" / "below"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    for target in (Path(), inside, inside.parent, Path("..")):
        with pytest.raises(InputError), whole_output(target, overwrite=True, kind=ANY) as place:
            place.mkdir()
    assert inside.is_dir()


WRITING = """
import os, signal, sys
import os
import subprocess
import sys
from pathlib import Path
from rubricate.files import whole_output
from rubricate.outputs import Kind

any_kind = Kind("any", lambda path: "")
with whole_output(Path(sys.argv[1]), overwrite=True, kind=any_kind) as place:
    place.mkdir()
    (place / "new").write_text("half")
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    print("ready", flush=True)
    sys.stdin.readline()
"""


def start_writing(target: Path, what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WRITING, str(target), what],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.engine
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    target, beside = tmp_path / "out", tmp_path / ".out.making-mine"
    beside.mkdir()
    with start_writing(target, "kill") as killed:
        killed.communicate()
    [left] = set(tmp_path.glob(".out.making-*")) - {beside}
    with start_writing(target, "wait") as working:
        assert working.stdout is not None and working.stdout.readline() == "ready\n"
        assert not left.exists()
        with whole_output(target) as place:
            place.mkdir()
            (place / "own").write_text("x", encoding="utf-8")
        # What another process is still at work on stays.
        assert len(set(tmp_path.glob(".out.making-*")) - {beside}) == 1
        working.communicate("\n")
        assert working.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"out", ".out.making-mine"}
    assert [path.name for path in target.iterdir()] == ["new"]


def test_an_old_folder_that_a_killed_process_moved_aside_comes_back(tmp_path: Path) -> None:
    aside = tmp_path / ".out.making-abcdefgh" / ".old.out"
    aside.mkdir(parents=True)
    (aside / "old").write_text("x", encoding="utf-8")
    with pytest.raises(OutputExistsError), whole_output(tmp_path / "out"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "old").exists()


def test_a_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x", encoding="utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".lock").symlink_to(precious)
    with pytest.raises(InputError), hold_folder(folder):
        pass
    assert precious.read_text(encoding="utf-8") == "x"


def test_a_folder_has_one_holder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with hold_folder(folder):
        with pytest.raises(InputError, match=f"process {os.getpid()} "), hold_folder(folder):
            pass
        (folder / "kept").touch()
    with hold_folder(folder):
        pass
    assert [path.name for path in folder.iterdir()] == ["kept"]
    with pytest.raises(RuntimeError), hold_folder(tmp_path / "new"):
        raise RuntimeError
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/", "a\0", "é" * 200, "../a"])
def test_what_leads_elsewhere_or_nowhere_is_no_plain_name(name: str) -> None:
    assert not is_plain_name(name)
    assert is_plain_name("a") and is_plain_name("..a") and is_plain_name("\udc80" * 80)


def test_the_program_is_known_by_what_decides_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(name: str, **files: str) -> str:
        for path, said in files.items():
            place = tmp_path / name / path.replace("__", "/").replace("_", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(said, encoding="utf-8")
        monkeypatch.setattr("rubricate.files.PACKAGE", tmp_path / name)
        return program_hash("text", "spans.py")

    usual = {"text__a_py": "x", "text__t_tsv": "fever", "spans_py": "y"}
    whole = made("usual", **usual, cli__a_py="1", text__w_npz="weights")
    assert made("elsewhere", **usual, cli__a_py="2", text__w_npz="others") == whole
    others = [{"text__a_py": "z"}, {"text__t_tsv": "cough"}, {"spans_py": ""}, {"text__b_py": ""}]
    found = {made(f"other-{i}", **(usual | one), text__w_npz="") for i, one in enumerate(others)}
    assert len(found | {whole}) == 5
    cached = tmp_path / "usual" / "text" / "__pycache__"
    cached.mkdir()
    (cached / "a.pyc").write_bytes(b"1")
    (tmp_path / "usual").rename(tmp_path / "cached")
    assert made("cached") == whole


def test_a_path_that_is_not_there_is_told_the_nearest_beside_it(tmp_path: Path) -> None:
    (tmp_path / "rubric-2026.xlsx").touch()
    (tmp_path / ".rubrc.xlsx").touch()
    said = str(missing_path(tmp_path / "rubrc-2026.xlsx"))
    assert repr(str(tmp_path / "rubric-2026.xlsx")) in said
    for other in (tmp_path / "marks.xlsx", tmp_path / "nowhere" / "rubric.xlsx"):
        name = other.name if other.parent.exists() else f"({len(str(other))} characters)"
        assert str(missing_path(other)) == f"{name}: no such file or folder."
    assert "'open-notes'" in str(missing_path(Path("open-note"), "open-notes"))
    assert "standard input" in str(missing_path(Path("-")))
