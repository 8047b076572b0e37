"""Files ↔ one zip whose bytes follow from names and contents alone, and the manifest that lists every other file.

Stored and not deflated, since deflated bytes differ between versions of zlib: the archive of the same files can be made
again and compared, and no byte of it, the zip's own tables included, can change unseen. Format: APPNOTE.TXT 6.3.10 of
PKWARE. The manifest has the SHA-256 of each file, the claim, the verdict, and the version that made the bundle.

A signature lies beside the zip, `BUNDLE.sig`: made and checked by OpenSSH's `ssh-keygen -Y` (since 8.2), with its keys.
GitHub publishes the public keys of a user at `https://github.com/USER.keys`. Format: PROTOCOL.sshsig of OpenSSH.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from audit import __version__
from audit.model import Record, SourceFile, VerdictName, sanitizer, untrusted
from audit.model.base import Frozen, problem
from audit.model.errors import AuditError, BadInput

MOST_BYTES = 64 << 20
"""More than the largest attachment anybody takes; an archive past it is not opened."""
MOST_FILES = 500
MOST_NAME = 120
"""Characters of a file's name."""
TIME = (1980, 1, 1, 0, 0, 0)
"""The first a zip can hold."""
PLAIN_FILE = 0o100644 << 16
END = struct.Struct("<4s4H2LH")
"""The zip's last record: signature, two disk numbers, entries here and in all, size and place of the table, comment."""
ENTRY, ZIP64 = 46, b"PK\6\7"
"""Bytes of an entry of the table without its name; the signature of the record that only a large archive has."""
_PART = r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?"
_NAME = re.compile(rf"{_PART}(/{_PART})*")


class Unsound(AuditError):
    """A bundle is not what it says; one sentence names the first difference."""


def fits(name: str) -> bool:
    """Return whether a file may have that name: relative, plain letters, no hidden part, no dot at an end."""
    return len(name) <= MOST_NAME and _NAME.fullmatch(name) is not None


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of those files, names relative with "/"; equal files give equal bytes. Raises ValueError: a name that
    `unpack` would refuse."""
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
    """The files of an archive, in memory; nothing is written anywhere. Raises Unsound: not an archive as `pack` makes
    it; says what is wrong."""
    _check_end(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check(entries, len(data))
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, RuntimeError, OSError) as error:
        raise Unsound(f"not a whole zip archive: {error}") from error
    if pack(files) != data:
        raise Unsound("bytes outside the files, in the zip's own tables, are not those this kit writes")
    return files


def _check_end(data: bytes) -> None:
    """The last record, before the table it speaks of is read: a table may list a million names."""
    if not data:
        raise Unsound("the file is empty")
    if not data.startswith(b"PK"):
        raise Unsound("not a zip archive, as `audit bundle` writes it")
    end = END.unpack(data[-END.size :]) if len(data) >= END.size else (b"",)
    if end[0] != b"PK\5\6" or end[-1]:
        raise Unsound("not a whole zip archive: it is cut, or bytes follow its end")
    if data[-END.size - 20 :].startswith(ZIP64) or 0xFFFF in end or 0xFFFFFFFF in end:
        raise Unsound("a zip64 archive; a bundle is small enough for a plain one")
    if end[4] > MOST_FILES or end[5] > MOST_FILES * (ENTRY + MOST_NAME):
        raise Unsound(f"{end[4]:,} files in {end[5]:,} bytes of names; a bundle has at most {MOST_FILES}")


def _check(entries: list[zipfile.ZipInfo], size: int) -> None:
    """Names, kinds and sizes, before anything is read."""
    seen: dict[str, str] = {}
    for entry in entries:
        name, shown = entry.filename, f"{entry.filename[:MOST_NAME]!r}"
        if not fits(name):
            raise Unsound(f"the file name {shown} could leave the folder it is unpacked in, or be taken for another")
        if name.casefold() in seen:
            twin = seen[name.casefold()]
            raise Unsound(f"{name} is there twice" if twin == name else f"{name} and {twin} differ in case alone")
        seen[name.casefold()] = name
        if entry.flag_bits & 1:
            raise Unsound(f"{name} is encrypted; files of a bundle are stored as they are")
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise Unsound(f"{name} is compressed; files of a bundle are stored as they are")
        if entry.external_attr != PLAIN_FILE:
            raise Unsound(f"{name} is a link, a folder or another special entry; a bundle holds plain files")
    if sum(entry.file_size for entry in entries) > size:
        raise Unsound("its files overlap: together they are larger than the archive")


MANIFEST = "manifest.json"
SCHEMA = 2
"""History: 1 (2026-11) first published form; 2 (2026-11) `drawn_with`, and reports that follow from the record."""
MOST_MANIFEST_BYTES = 400 * MOST_FILES


class Manifest(Frozen):
    """The files, claim and verdict that a bundle states.

    `kit` is the version that made it, and `drawn_with` the library that drew its figures.
    """

    schema_: Literal[2] = Field(default=2, alias="schema")
    kit: str = __version__
    drawn_with: str
    claim: str
    verdict: VerdictName
    files: tuple[SourceFile, ...]


def stated(record: Record, files: Mapping[str, bytes], *, drawn_with: str, kit: str = __version__) -> bytes:
    """Return the manifest of those files as JSON."""
    entries = tuple(SourceFile.of(name, files[name]) for name in sorted(files))
    claim, verdict = record.claim.statement.name, record.verdict.name
    manifest = Manifest(kit=kit, drawn_with=drawn_with, claim=claim, verdict=verdict, files=entries)
    return encoded(manifest.model_dump(mode="json", by_alias=True))


def checked(files: Mapping[str, bytes]) -> Manifest:
    """Return the manifest among those files; every other file is the one that it lists. Raises Unsound: there is none,
    it lists other files, or a file has another SHA-256."""
    if MANIFEST not in files:
        raise Unsound(f"it has no {MANIFEST}, so it is no bundle of this kit")
    if len(files[MANIFEST]) > MOST_MANIFEST_BYTES:
        raise Unsound(f"{MANIFEST} has {len(files[MANIFEST]):,} bytes; at most {MOST_MANIFEST_BYTES:,} are read")
    try:
        untrusted.json_document(files[MANIFEST], MANIFEST)
        manifest = Manifest.model_validate_json(files[MANIFEST])
    except BadInput as error:
        raise Unsound(str(error)) from error
    except ValidationError as error:
        raise Unsound(f"{MANIFEST} is none of schema {SCHEMA}: {problem(error)}") from error
    listed = {entry.file: entry for entry in manifest.files}
    there = set(files) - {MANIFEST}
    if added := sorted(there - set(listed)):
        raise Unsound(f"{added[0]} is in the bundle and not in its manifest")
    if removed := sorted(set(listed) - there):
        raise Unsound(f"{removed[0]} is in the manifest and not in the bundle")
    for name, entry in listed.items():
        if (len(files[name]), sha256(files[name])) != (entry.size_bytes, entry.sha256):
            raise Unsound(f"{name} has SHA-256 {sha256(files[name])}, the manifest says {entry.sha256}")
    return manifest


def sha256(data: bytes) -> str:
    """Return 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def encoded(value: object) -> bytes:
    """Return JSON in the form that every file made for a bundle has."""
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode()


NAMESPACE = "kernel-claim-audit"
"""A signature made for anything else does not count."""
WHO = "signer"
MOST_SIGNATURE_BYTES = 20_000
LIMIT_S = 300
"""A person may be asked for a passphrase."""
GOOD = re.compile(rb'^Good "[^"]*" signature (?:for \S+ )?with (\S+) key (\S+)', re.MULTILINE)


def file_of(bundle: Path) -> Path:
    """Return the place of a bundle's signature."""
    return bundle.with_name(f"{bundle.name}.sig")


def sign(bundle: Path, key: Path) -> Path:
    """Sign a bundle and return the file of the signature; one that is there is replaced.

    `key` is a private key as `ssh-keygen` makes it, or the public one of a key that an agent holds. Raises BadInput: no
    such key, no ssh-keygen, or it cannot sign.
    """
    untrusted.size_of(key, limit_bytes=MOST_SIGNATURE_BYTES)
    file_of(bundle).unlink(missing_ok=True)
    done = _ssh_keygen("sign", "-f", str(key.absolute()), str(bundle.absolute()))
    if done.returncode or not file_of(bundle).is_file():
        raise BadInput(f"{key}: cannot sign: {_last(done.stderr)}")
    return file_of(bundle)


def signer(bundle: Path, *, key: Path | None = None) -> str | None:
    """Return the kind and the fingerprint of the key that signed a bundle; None where it is not signed.

    `key` is the public key that must have signed it, in one line; None takes any. Raises Unsound: the signature is not
    one of this bundle, or the key did not sign it. Raises BadInput: no such key, or no ssh-keygen.
    """
    place = file_of(bundle)
    if not place.exists():
        if key is not None:
            raise Unsound(f"it is not signed: there is no {place.name} beside it")
        return None
    untrusted.size_of(place, limit_bytes=MOST_SIGNATURE_BYTES)
    given = ["-s", str(place.absolute())]
    if key is None:
        done = _ssh_keygen("check-novalidate", *given, bundle=bundle)
    else:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as allowed:
            allowed.write(f"{WHO} {_public(key)}\n")
            allowed.flush()
            done = _ssh_keygen("verify", "-I", WHO, "-f", allowed.name, *given, bundle=bundle)
    found = GOOD.search(done.stdout)
    if done.returncode or not found:
        by = "" if key is None else f" by the key of {key.name}"
        raise Unsound(f"{place.name} is no signature of it{by}: {_last(done.stderr or done.stdout)}")
    return sanitizer.line(b" ".join(found.groups()).decode("utf-8", "replace"))


def _public(key: Path) -> str:
    lines = untrusted.text(key, limit_bytes=MOST_SIGNATURE_BYTES).splitlines()
    if len(lines) != 1 or not lines[0].startswith(("ssh-", "ecdsa-", "sk-")):
        raise BadInput(f"{key}: no public key of OpenSSH in one line, such as id_ed25519.pub")
    return lines[0]


def _ssh_keygen(action: str, *options: str, bundle: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise BadInput(
            "signatures need ssh-keygen; install OpenSSH 8.2 or newer (Debian: apt-get install openssh-client)"
        )
    command = [program, "-Y", action, "-n", NAMESPACE, *options]
    try:
        data = None if bundle is None else bundle.read_bytes()
        return subprocess.run(command, input=data, capture_output=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"ssh-keygen gave no answer within {LIMIT_S} s") from error


def _last(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return sanitizer.line(lines[-1], limit=200) if lines else "ssh-keygen says nothing"
