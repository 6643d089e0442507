"""Files that are replaced whole: what is there afterwards is all of the new content or all of the old, whenever the machine stops.

The new content is written to a file beside the old one, which then takes its name. Links are followed and stay links, a file keeps its
owner and its rights, and what is no plain file (a device, a pipe) is refused. What a killed process has left behind is swept up by
the next one that writes the same file: the writer holds a lock on its own, so nobody takes it from the living. An interrupt
(Ctrl-C) waits until the file is whole.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from qed.base.errors import SourceError

try:
    import fcntl
except ImportError:  # Windows keeps open files from being deleted by itself
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a new file beside `path` that takes its place when all went well, and vanishes when not."""
    place = Path(os.path.realpath(path))
    try:
        old = _old(place)
        _sweep(place)
        with _beside(place) as (name, file):
            yield file
            file.flush()
            _keep_rights(file.fileno(), old)
            os.fsync(file.fileno())
            os.replace(name, place)
    except SourceError:
        raise
    except OSError as error:
        there = place.parent.is_dir()
        reason = (error.strerror or error) if there else f"there is no folder {str(Path(path).parent)!r}"
        raise SourceError(
            f"Could not write {path}: {reason}. What was there before is unchanged. "
            "Free some space, or choose a folder that exists and may be written to."
        ) from error
    with suppress(OSError):
        _sync_directory(place.parent)


def _old(path: Path) -> os.stat_result | None:
    """Look at what would be replaced; only a plain file may be."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        what = "a directory" if stat.S_ISDIR(found.st_mode) else "no plain file but a device, a pipe or a socket"
        raise OSError(0, f"it is {what}")
    return found


@contextmanager
def _beside(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Make a new file beside `path`, locked while it is written, and remove it unless it was given another name."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        name = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        descriptor = os.open(name, flags, 0o666)
        if _is_locked(descriptor) and os.fstat(descriptor).st_nlink:
            break
        os.close(descriptor)  # swept up between being made and being locked
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield name, file
    finally:
        with suppress(OSError):
            name.unlink()


def _is_locked(descriptor: int) -> bool:
    """Lock a file; False when another process has done so. Where files can not be locked, nothing is swept up either."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _sweep(path: Path) -> None:
    """Remove what killed processes have left of their attempts to write `path`."""
    for left in path.parent.glob(f".{_escaped(path.name)}.????????.part"):
        with suppress(OSError):
            if fcntl is None:
                left.unlink()
                continue
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(descriptor)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _keep_rights(descriptor: int, old: os.stat_result | None) -> None:
    """Give the new file the owner and the rights of the old one, as far as that is allowed."""
    if old is None or not hasattr(os, "fchmod"):
        return
    with suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_directory(directory: Path) -> None:
    """Make the new name itself survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
