"""Files that are there whole or not at all, whatever happens to the writer, and regular files read within bounds.

A new file has no name until it is complete and on the disk, where the system knows such files (Linux); elsewhere it
carries a name that begins with a dot and ends in ``.part``. Parts that a killed writer left are removed by the next
writer of the same file: a writer holds a lock on its part, which the system releases when the process ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from types import TracebackType

from bellcrank.errors import MissingFile, MissingFolder, ModelError, WriteError

try:
    import fcntl
except ImportError:  # Windows: parts of killed writers stay there.
    fcntl = None  # type: ignore[assignment]

RENAMES_OPEN = os.name != "nt"
"""Whether a file can get another name while it is open."""
Name = str | PathLike[str]


def check_target(path: Name) -> Path:
    """The place of a file that is about to be written; raises where it cannot be one."""
    place = Path(path)
    if not place.parent.is_dir():
        raise MissingFolder(
            place, f"cannot write {place.name!r}: there is no folder {str(place.parent)!r}", errno.ENOENT
        )
    if place.is_dir():
        raise WriteError(
            place, f"cannot write {str(place)!r}: it is a folder; name a file in it", errno.EISDIR
        )
    if place.exists() and not place.is_file():
        raise WriteError(place, f"cannot write {str(place)!r}: it is not a regular file", errno.EINVAL)
    return place


def failed(place: Path, error: OSError) -> WriteError:
    """The error of a writing in words that name the file."""
    why = (error.strerror or str(error)).lower()
    return WriteError(
        place, f"cannot write {str(place)!r}: {why}; what was there before is unchanged", error.errno
    )


class NewFile:
    """A file in the making: `appear` puts it in place; leaving without that leaves nothing.

    handle: Open for reading and writing until `close`, also after the file has appeared.
    """

    def __init__(self, path: Name) -> None:
        self.place = check_target(path)
        _remove_abandoned(self.place)
        self._part = self.place.with_name(f".{self.place.name}.{secrets.token_hex(6)}.part")
        self._named = False
        try:
            self.handle = self._opened()
        except OSError as error:
            raise failed(self.place, error) from error
        self._lock()

    def _opened(self) -> int:
        if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
            # Not every file system knows files without names.
            with contextlib.suppress(OSError):
                return os.open(self.place.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(self._part, flags, 0o666)
        self._named = True
        return handle

    def _lock(self) -> None:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self.handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        try:
            write_all(self.handle, data)
        except OSError as error:
            raise failed(self.place, error) from error

    def appear(self) -> None:
        """Put the file in its place, once it is on the disk."""
        try:
            os.fsync(self.handle)
            if not self._named:
                # Python before 3.14 follows links only where a folder is given, needed or not.
                os.link(
                    f"/proc/self/fd/{self.handle}", self._part, src_dir_fd=self.handle, follow_symlinks=True
                )
                self._named = True
            self._put_in_place()
        except OSError as error:
            raise failed(self.place, error) from error
        _flush_folder(self.place.parent)

    def _put_in_place(self) -> None:
        if not RENAMES_OPEN:
            os.close(self.handle)
            self.handle = -1
        os.replace(self._part, self.place)
        self._named = False
        if not RENAMES_OPEN:
            self.handle = os.open(self.place, os.O_RDWR | getattr(os, "O_BINARY", 0))
            os.lseek(self.handle, 0, os.SEEK_END)

    def close(self) -> None:
        """Release the file; what has not appeared is gone."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1
        if self._named:
            with contextlib.suppress(OSError):
                os.unlink(self._part)
            self._named = False

    def __enter__(self) -> NewFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_whole(path: Name, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file that replaces another only when it is complete."""
    with NewFile(path) as file:
        for part in parts:
            file.write(part)
        file.appear()


def write_all(handle: int, data: bytes | memoryview) -> None:
    """Write every byte: the system may take fewer at a time."""
    rest = memoryview(data).cast("B")
    while len(rest):
        # Some systems refuse more than 2 GiB in one call.
        rest = rest[os.write(handle, rest[: 1 << 30]) :]


def read_given(path: Name, most: int) -> bytes:
    """The bytes of a file that a user names, and one more than `most` where it has more."""
    try:
        with Path(path).open("rb") as file:
            return file.read(most + 1)
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: there is no such file") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from error


def read_regular(path: Name, most: int | None = None) -> bytes:
    """The bytes of a regular file; pipes and devices, which may never end, are refused before reading.

    most: Size [bytes] above which the file is refused.
    """
    # Without O_NONBLOCK the opening of a pipe waits for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if most is not None and found.st_size > most:
            raise OSError(errno.EFBIG, f"{found.st_size:,} bytes are more than {most:,}", str(path))
        return file.read() if most is None else file.read(most)


def _remove_abandoned(place: Path) -> None:
    """Remove the parts of killed writers: those that nobody holds."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        names = [
            n for n in os.listdir(place.parent) if n.startswith(f".{place.name}.") and n.endswith(".part")
        ]
        for name in names:
            part = place.with_name(name)
            with contextlib.suppress(OSError):
                handle = os.open(part, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(part)
                finally:
                    os.close(handle)


def _flush_folder(folder: Path) -> None:
    """Bring the new name to the disk, where folders can be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


__all__ = ["NewFile", "check_target", "failed", "read_regular", "write_all", "write_whole"]
