"""Output that appears whole or not at all, and input identified by its hash."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rubricate.errors import InputError, OutputExistsError


@contextmanager
def whole_output(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write to; move what was written to ``path`` only if all went well.

    The yielded path has the same name, in a fresh folder beside the target. Everything written
    into that folder (a file with a companion beside it, or a folder) is moved when the block
    ends, and thrown away when it raises.

    Raises
    ------
    OutputExistsError
        If ``path`` exists and ``overwrite`` is false.
    InputError
        If it cannot be written, if a file would replace a folder or a folder a file, or if the
        folder to replace holds the working folder or the home folder.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "out.txt"
    >>> with whole_output(target) as place:
    ...     _ = place.write_text("done", encoding="utf-8")
    >>> target.read_text(encoding="utf-8")
    'done'
    """
    target = path.absolute()
    if target.exists() and not overwrite:
        raise OutputExistsError(path)
    _refuse_large(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    try:
        yield staging / target.name
        written = sorted(staging.iterdir())
        if not overwrite:
            for part in written:
                if (target.parent / part.name).exists():
                    raise OutputExistsError(path.parent / part.name)
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
            _replace(part, target.parent / part.name, staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _refuse_large(path: Path) -> None:
    """Refuse to replace a folder that holds much more than any output of ours."""
    target = path.resolve()
    places = {"working": Path.cwd()}
    with suppress(RuntimeError):  # who has no home has nothing to lose there
        places["home"] = Path.home()
    for name, place in places.items():
        if target.is_dir() and (target == place or target in place.parents):
            raise InputError(f"{path} holds the {name} folder and is not replaced; choose another")


def _replace(new: Path, target: Path, staging: Path) -> None:
    """Put ``new`` at ``target``; a folder that is in the way is moved aside first."""
    old = staging / f".old.{target.name}"
    if target.is_dir():
        # A full folder cannot be replaced in one step: the old one goes into the staging folder.
        target.replace(old)
    try:
        new.replace(target)
    except BaseException:
        if old.exists():
            old.replace(target)
        raise


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder's files with their names.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a"
    >>> _ = path.write_bytes(b"abc")
    >>> file_hash(path)[:12]
    'ba7816bf8f01'
    """
    digest = hashlib.sha256()
    if path.is_dir():
        for part in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(part.relative_to(path).as_posix().encode() + b"\0")
            digest.update(file_hash(part).encode())
        return digest.hexdigest()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
