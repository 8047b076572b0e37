"""Files ↔ one zip whose bytes follow from names and contents alone: sorted, stored, one fixed time.

Stored and not deflated, since deflated bytes differ between versions of zlib. So the archive that the files give can be
made again and compared, and no byte of it, the zip's own tables included, can change unseen. See APPNOTE.TXT 6.3.10
of PKWARE for the format.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

from audit.model.errors import AuditError

MOST_BYTES = 256 << 20
"""More than the largest attachment anybody takes; an archive past it is not opened."""
MOST_FILES = 2000
TIME = (1980, 1, 1, 0, 0, 0)
"""The first a zip can hold."""
PLAIN_FILE = 0o100644 << 16
_PART = r"[A-Za-z0-9_(-][A-Za-z0-9_.,() +=-]*"
_NAME = re.compile(rf"{_PART}(/{_PART})*")


class Unsound(AuditError):
    """A bundle is not what it says; one sentence tells the first thing that is not."""


def fits(name: str) -> bool:
    """Whether a file may be called that: relative, plain letters, no hidden part, nothing that leads elsewhere."""
    return _NAME.fullmatch(name) is not None


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of those files, names relative with "/"; equal files give equal bytes.

    Raises:
        ValueError: a name that `unpack` would refuse.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            if not fits(name):
                raise ValueError(f"{name!r} cannot be the name of a file in a bundle")
            entry = zipfile.ZipInfo(name, TIME)
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = PLAIN_FILE
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive, in memory; nothing is written anywhere.

    Raises:
        Unsound: not an archive as `pack` makes it; says what is wrong.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check(entries)
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, RuntimeError, OSError) as error:
        raise Unsound(f"not a whole zip archive: {error}") from error
    if pack(files) != data:
        raise Unsound("bytes outside the files, in the zip's own tables, are not those this kit writes")
    return files


def _check(entries: list[zipfile.ZipInfo]) -> None:
    """Names, kinds and sizes, before anything is read."""
    if len(entries) > MOST_FILES:
        raise Unsound(f"{len(entries)} files; a bundle has at most {MOST_FILES}")
    seen = set()
    for entry in entries:
        if not fits(entry.filename):
            raise Unsound(f"the file name {entry.filename[:80]!r} could leave the folder it is unpacked in")
        if entry.filename in seen:
            raise Unsound(f"{entry.filename} is there twice")
        seen.add(entry.filename)
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise Unsound(f"{entry.filename} is compressed; files of a bundle are stored as they are")
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise Unsound(f"{total:,} bytes in its files; a bundle has at most {MOST_BYTES:,}")
