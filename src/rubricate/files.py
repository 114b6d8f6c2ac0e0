"""Output that appears whole or not at all, folders held by one process, files by their hash."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

from rubricate.errors import (
    LONGEST_SHOWN,
    ArgumentError,
    Fault,
    InputError,
    RubricateError,
    nearest,
)
from rubricate.outputs import Kind, check_output, tell_replaced

#: The file in a folder whose lock says that a process is at work there.
LOCK_FILE = ".lock"
#: The byte that is locked: past what is written, so that others can read who holds it.
_LOCKED_BYTE = 1 << 20
#: No lock is taken through a link, whose target would be emptied.
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
#: What the names of files end with that are not complete.
PART = ".part"
#: Names of a folder among which one that is like another is sought.
_MOST_BESIDE = 10_000
#: Where the program's own files are.
PACKAGE = Path(__file__).parent
#: Weights are large; whoever uses them keeps them with what was made, and their hash.
_WEIGHTS = {".onnx", ".npz"}


class FolderLock:
    """The right to write into a folder, which one process has at a time.

    The system takes it from a process that ends, however it ends: a killed one leaves nothing that
    has to be removed by hand.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> first = FolderLock.take(folder)
    >>> FolderLock.take(folder) is None
    True
    >>> first.release()
    >>> FolderLock.take(folder) is None
    False
    """

    def __init__(self, path: Path, number: int) -> None:
        self._path = path
        self._number: int | None = number

    @staticmethod
    def take(folder: Path) -> FolderLock | None:
        """Return the lock of a folder that exists; None while another process has it."""
        path = folder / LOCK_FILE
        while True:
            number = os.open(path, _LOCK_FLAGS, 0o644)
            try:
                locked = _lock(number)
            except OSError as error:
                os.close(number)
                raise InputError(
                    f"{folder} cannot be locked ({error.strerror}): its file system has no locks. "
                    "Write to another one."
                ) from error
            if not locked:
                os.close(number)
                return None
            # Whoever had it before may have deleted the file between opening and locking.
            with suppress(OSError):
                if os.path.samestat(os.fstat(number), path.stat()):
                    break
            os.close(number)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        said = f"process {os.getpid()} on {platform.node() or 'this machine'}, since {now}\n"
        # On a full disk the lock holds all the same, and what is written next fails.
        with suppress(OSError):
            os.ftruncate(number, 0)
            os.write(number, said.encode(errors="replace"))
        return FolderLock(path, number)

    @staticmethod
    def holder(folder: Path) -> str:
        """Return the process that holds the lock, and the start of the lock."""
        with suppress(OSError, UnicodeDecodeError):
            said = (folder / LOCK_FILE).read_text(encoding="utf-8").strip()
            if re.fullmatch(r"process \d+ on .{1,80}, since [\d:T+-]{1,40}", said):
                return said
        return "another process"

    def release(self) -> None:
        """Give the folder back."""
        if self._number is None:
            return
        # Deleted while it is locked: nobody else can have it. Windows deletes no open file.
        with suppress(OSError):
            self._path.unlink()
        os.close(self._number)
        self._number = None


def _lock(number: int) -> bool:
    """Lock an open file; False if another process has it."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(number, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        os.lseek(number, 0, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _full_disk_named(path: Path) -> Iterator[None]:
    """Say what could not be written when there is no room for it; the system does not."""
    try:
        yield
    except RubricateError:
        raise
    except Exception as error:
        why = _no_room(error)
        if not why:
            raise
        raise InputError(
            f"{path} cannot be written: {why}. Make room and run the same command again."
        ) from error


#: A full disk, a quota, and the largest file that a user may write.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _no_room(error: BaseException | None) -> str:
    """Return the system's message about a full disk; nothing for other errors.

    Libraries put the system's error into one of their own, with its words or its number; numpy
    tells only that less was written than was asked for.
    """
    while error is not None:
        said = str(error)
        for code in NO_ROOM:
            if isinstance(error, OSError) and error.errno == code:
                return error.strerror or os.strerror(code)
            named = (os.strerror(code), f"(os error {code})", f"IO_{errno.errorcode[code]}")
            if any(one in said for one in named):
                return os.strerror(code)
        if isinstance(error, OSError) and error.errno is None and _SHORT_WRITE.search(said):
            return os.strerror(errno.ENOSPC)
        error = error.__cause__ or error.__context__
    return ""


_SHORT_WRITE = re.compile(r"\d+ requested and \d+ written")


#: What of a file's mode lets others than its owner in.
_OTHERS = 0o077
_OTHERS_WRITE = 0o022


def make_private(path: Path) -> None:
    """Make an empty file that only its owner reads; FileExistsError where there is one.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "secret"
    >>> make_private(path)
    >>> is_exposed(path)
    False
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def is_exposed(path: Path) -> bool:
    """Tell whether others on this machine can read a file, or replace what is in its folder.

    Windows keeps who may read elsewhere: there it tells False.
    """
    if os.name == "nt" or not path.exists():
        return False
    folder = path.parent.stat().st_mode
    is_reached = bool(folder & _OTHERS) and bool(path.stat().st_mode & _OTHERS)
    # In a folder like /tmp (sticky) others add files, and replace none.
    return is_reached or bool(folder & _OTHERS_WRITE and not folder & stat.S_ISVTX)


@contextmanager
def hold_folder(folder: Path, *, private: bool = False) -> Iterator[None]:
    """Make a folder and keep other processes out of it; InputError if one is at work there.

    With ``private``, a folder that is made lets nobody in but its owner.
    """
    try:
        made = not folder.exists()
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        lock = FolderLock.take(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    if lock is None:
        raise InputError(
            f"{folder} is in use by another run ({FolderLock.holder(folder)}). "
            "Wait until it has ended, or write somewhere else."
        )
    try:
        with _full_disk_named(folder):
            yield
    finally:
        lock.release()
        if made:
            # What failed before it wrote anything leaves no empty folder.
            with suppress(OSError):
                folder.rmdir()


def write_whole(path: Path, body: bytes) -> None:
    """Write a file that is either complete or not there, whatever happens to this process.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a"
    >>> write_whole(path, b"abc")
    >>> [one.name for one in path.parent.iterdir()]
    ['a']
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PART}")
    try:
        with part.open("xb") as stream:
            stream.write(body)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def whole_output(
    path: Path, *, overwrite: bool = False, kind: Kind | None = None,
    inputs: Iterable[str | Path] = (),
) -> Iterator[Path]:  # fmt: skip
    """Yield a path to write to; move what was written to ``path`` only if all went well.

    With ``overwrite`` an earlier output of this ``kind`` is replaced, and nothing else, and never
    what is one of the ``inputs``: see `rubricate.outputs`.

    The yielded path has the same name, in a fresh folder beside the target. Everything written
    into that folder (a file with a companion beside it, or a folder) is moved when the block
    ends, and thrown away when it raises.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "out.txt"
    >>> with whole_output(target) as place:
    ...     _ = place.write_text("done", encoding="utf-8")
    >>> target.read_text(encoding="utf-8")
    'done'
    """
    target, read = path.absolute(), tuple(inputs)
    with suppress(OSError):
        _remove_left(target)
    check_output(path, kind, overwrite=overwrite, inputs=read)
    # No folder is replaced that holds much more than any output of ours.
    places = {"working": Path.cwd()}
    with suppress(RuntimeError):  # who has no home has nothing to lose there
        places["home"] = Path.home()
    for name, place in places.items():
        if path.resolve() in (place, *place.parents) and path.is_dir():
            raise InputError(f"{path} holds the {name} folder and is not replaced; choose another")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging, lock = _stage(target)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    try:
        with _full_disk_named(path):
            yield staging / target.name
        written = sorted(part for part in staging.iterdir() if part.name != LOCK_FILE)
        for part in written:
            there = target.parent / part.name
            if there.exists() and there.is_dir() != part.is_dir():
                # Who asks for a file does not expect a whole folder to go.
                kinds = ("a folder", "a file") if there.is_dir() else ("a file", "a folder")
                raise InputError(
                    f"{path.parent / part.name} is {kinds[0]}, and {kinds[1]} is to be written: "
                    "delete it first, or choose another name"
                )
        for part in written:
            # What lies beside the output is replaced under the same rule, at the last moment.
            check_output(path.parent / part.name, kind, overwrite=overwrite, inputs=read)
        for part in written:
            tell_replaced(path.parent / part.name, kind)
            _replace(part, target.parent / part.name, staging)
    finally:
        lock.release()
        shutil.rmtree(staging, ignore_errors=True)


#: What the folders end with in which output is made.
_STAGING = re.compile(r"\.making-[a-z0-9_]{8}")
_OLD = ".old."


def _stage(target: Path) -> tuple[Path, FolderLock]:
    """Make a folder beside the target that says by its lock that somebody is at work in it."""
    while True:
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.making-", dir=target.parent))
        # Before it was locked another process may have taken it for one that was left.
        with suppress(FileNotFoundError):
            lock = FolderLock.take(staging)
            if lock is not None:
                return staging, lock


def _remove_left(target: Path) -> None:
    """Remove what processes that were killed left when they made the same output."""
    start = f".{target.name}"
    for staging in target.parent.glob(f"{glob.escape(start)}.making-*"):
        if not _STAGING.fullmatch(staging.name.removeprefix(start)) or not staging.is_dir():
            continue
        with suppress(FileNotFoundError):
            lock = FolderLock.take(staging)
            if lock is None:
                continue
            # Killed between two steps: the old output had gone, and the new one was not there yet.
            for old in staging.glob(f"{_OLD}*"):
                place = target.parent / old.name.removeprefix(_OLD)
                if not place.exists():
                    old.replace(place)
            lock.release()
            shutil.rmtree(staging, ignore_errors=True)


def _replace(new: Path, target: Path, staging: Path) -> None:
    """Put ``new`` at ``target``; a folder that is in the way is moved aside first."""
    old = staging / f"{_OLD}{target.name}"
    if target.is_dir():
        # A full folder cannot be replaced in one step: the old one goes into the staging folder.
        target.replace(old)
    try:
        new.replace(target)
    except BaseException:
        if old.exists():
            old.replace(target)
        raise


def packaged_text(part: str, *names: str) -> str:
    """Return a text file that lies beside the modules of a part of the package.

    >>> packaged_text("screening", "readable.json")[0]
    '{'
    """
    return files(f"rubricate.{part}").joinpath(*names).read_text(encoding="utf-8")


def packaged_bytes(part: str, *names: str) -> bytes:
    """Return a file that lies beside the modules of a part of the package.

    >>> packaged_bytes("matchers", "lexicon", "no_words.parquet")[:4]
    b'PAR1'
    """
    return files(f"rubricate.{part}").joinpath(*names).read_bytes()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder's files with their names.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a"
    >>> _ = path.write_bytes(b"abc")
    >>> file_hash(path)[:12]
    'ba7816bf8f01'
    """
    digest = hashlib.sha256()
    if path.is_dir():
        for part in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(os.fsencode(part.relative_to(path).as_posix()) + b"\0")
            digest.update(file_hash(part).encode())
        return digest.hexdigest()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def program_hash(*parts: str) -> str:
    """Return the SHA-256 of files and folders of the program: its code, tables and settings.

    Of weights the names alone count.

    >>> program_hash("run") == program_hash("run"), program_hash("run") == program_hash("rules")
    (True, False)
    """
    return _hash_parts(PACKAGE, parts)


@cache
def _hash_parts(package: Path, parts: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        place = package / part
        found = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
        for path in found:
            if "__pycache__" in path.parts:
                continue
            digest.update(path.relative_to(package).as_posix().encode() + b"\0")
            if path.suffix not in _WEIGHTS:
                digest.update(file_hash(path).encode())
    return digest.hexdigest()


def missing_path(path: Path, *more: str) -> ArgumentError:
    """Return the error for a file or folder that is not there, with the nearest one beside it.

    ``more`` are names that would do as well.

    >>> print(missing_path(Path("open-note"), "open-notes"))
    open-note: no such file or folder; did you mean 'open-notes'?
    """
    shown, said = shown_path(path), f"no such file or folder{near_paths(path, *more)}"
    # A path that is not shown as it is may be a text that somebody gave in its place.
    return ArgumentError([Fault(said, path) if shown == str(path) else Fault(f"{shown}: {said}")])


def shown_path(path: Path) -> str:
    """Return the name of a missing path for messages. The path may be a note that was pasted.

    At most its last part is shown: where the folder exists, and the part is one word.

    >>> shown_path(Path("notes.csv")), shown_path(Path("no fever")), shown_path(Path("a/b/c"))
    ('notes.csv', '(8 characters)', '(5 characters)')
    """
    is_there = False
    with suppress(OSError, ValueError):
        is_there = path.parent.is_dir()
    is_word = path.name.isprintable() and len(path.name.split()) == 1
    if str(path) in ("-", "..") or (is_there and is_word and len(path.name) <= LONGEST_SHOWN):
        return path.name or str(path)
    return f"({len(str(path))} characters)"


def near_paths(path: Path, *more: str) -> str:
    """Return the end of a message about a missing path."""
    beside: dict[str, str] = {name: name for name in more}
    with suppress(OSError):
        names = (entry.name for entry in islice(os.scandir(path.parent), _MOST_BESIDE))
        beside |= {name: str(path.with_name(name)) for name in names if name[:1] != "."}
    near = nearest(path.name, beside, cutoff=0.75)  # endings alone are alike enough otherwise
    if str(path) == "-":
        return ": standard input is not read. Save it to a file first."
    return f"; did you mean {beside[near]!r}?" if near else "."


def is_plain_name(name: str) -> bool:
    """Tell whether a text is the name of something in a folder, and no way out of it.

    >>> is_plain_name("network.onnx"), is_plain_name(".."), is_plain_name("a/b")
    (True, False, False)
    """
    # No file system takes longer names.
    short = len(name.encode("utf-8", "surrogatepass")) <= 255
    return short and name not in ("", ".", "..") and "\0" not in name and Path(name).name == name
