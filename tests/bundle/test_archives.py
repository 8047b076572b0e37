"""Archives that `audit bundle` did not write: each is refused in one sentence, before anything in it is read."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from audit.apps import bundle, cli
from audit.apps.bundle import archive
from tests.bundle.forging import packed, told

END = archive.END.size


def deflated() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("bomb", bytes(40 << 20))
    return buffer.getvalue()


def encrypted() -> bytes:
    """Both headers of the file say that it is encrypted."""
    data = bytearray(packed([("secret", b"x" * 20)]))
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + place] |= 1
    return bytes(data)


def zip64() -> bytes:
    """The table is found through the records of a large archive."""
    data = packed([("large", b"x")])
    body, (*_, size, place, _) = data[:-END], archive.END.unpack(data[-END:])
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, place)
    locator = struct.pack("<4sLQL", archive.ZIP64, 0, len(body), 1)
    return body + record + locator + archive.END.pack(b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


def overlapping() -> bytes:
    """Many names in the table for one content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr(zipfile.ZipInfo("a0", archive.TIME), b"x" * 5000)
        for number in range(1, 50):
            entry = zipfile.ZipInfo(f"a{number}", archive.TIME)
            entry.file_size, entry.compress_size, entry.header_offset = 5000, 5000, 0
            entry.CRC = made.filelist[0].CRC
            made.filelist.append(entry)
        for entry in made.filelist:
            entry.create_system, entry.external_attr = 3, archive.PLAIN_FILE
    return buffer.getvalue()


def many_names() -> bytes:
    """So many entries that reading the table would take a memory."""
    return packed((f"n{number}", b"") for number in range(archive.MOST_FILES + 1))


LISTED = packed([("plain", b"x")])
WITH_COMMENT = LISTED[:-2] + struct.pack("<H", 7) + b"comment"
LINK, FOLDER, PIPE = ((kind | 0o644) << 16 for kind in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO))
REFUSED = {
    "nothing": (b"", "the file is empty"),
    "a PDF": (b"%PDF-1.7", "not a zip archive"),
    "an archive of nothing": (packed([]), "no manifest.json"),
    "cut": (LISTED[:-1], "it is cut"),
    "bytes behind": (LISTED + b"x", "bytes follow its end"),
    "bytes before": (b"x" + LISTED, "not a zip archive"),
    "another archive before": (LISTED + packed([("other", b"y")]), "zip's own tables"),
    "a comment": (WITH_COMMENT, "bytes follow its end"),
    "encrypted": (encrypted(), "secret is encrypted"),
    "zip64": (zip64(), "a zip64 archive"),
    "deflated": (deflated(), "bomb is compressed"),
    "overlapping": (overlapping(), "its files overlap"),
    "many names": (many_names(), "501 files"),
    "a link": (packed([("report.md", b"/etc/passwd")], mode=LINK), "report.md is a link"),
    "a folder": (packed([("figures", b"")], mode=FOLDER), "figures is a link, a folder"),
    "a pipe": (packed([("pipe", b"")], mode=PIPE), "another special entry"),
    "a program": (packed([("run", b"")], mode=0o100755 << 16), "another special entry"),
    "one name, two files": (packed([("twice", b"a"), ("twice", b"b")]), "twice is there twice"),
    "a twin in case": (packed([("a.md", b""), ("A.md", b"")]), "A.md and a.md differ in case alone"),
    "another order": (packed([("b.md", b""), ("a.md", b"")]), "zip's own tables"),
}  # fmt: skip
NAMES = (
    "../escape", "/etc/passwd", "a/../../b", "a//b", "./a", "a/.", "a\\..\\b", "C:a", ".hidden", "a ", "a.", "a\t",
    "report.md/", "a /b", "écrit.md", "e\u0301crit.md", "\uff41.md", "\u202ea.md", "a\u200b.md", "a:b", "a\x01b",
    "x" * 121,
)  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_an_archive_of_others_is_refused(tmp_path: Path, kind: str) -> None:
    data, words = REFUSED[kind]
    assert words in told(tmp_path / "x.zip", data)


@pytest.mark.parametrize("name", NAMES, ids=map(ascii, NAMES))
def test_a_name_that_could_be_taken_for_another_is_refused(tmp_path: Path, name: str) -> None:
    assert "the file name" in told(tmp_path / "x.zip", packed([(name, b"")]))


def test_a_name_cut_at_a_null_byte_is_refused(tmp_path: Path) -> None:
    data = packed([("report.md_x", b"")]).replace(b"report.md_x", b"report.md\0x")
    assert "zip's own tables" in told(tmp_path / "x.zip", data)


def test_an_opened_folder_is_told_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    assert cli.main(["verify", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"audit: {tmp_path}: a folder; name the zip that `audit bundle` wrote\n"
    with pytest.raises(bundle.Unsound, match="empty"):
        (tmp_path / "x.zip").touch()
        bundle.verify(tmp_path / "x.zip")
