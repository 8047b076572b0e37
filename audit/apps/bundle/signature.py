"""A signature beside a bundle, `BUNDLE.sig`: made and checked by OpenSSH's `ssh-keygen -Y` (since 8.2), with its keys.

GitHub publishes the public keys of a user at `https://github.com/USER.keys`. Format: PROTOCOL.sshsig of OpenSSH.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from audit.apps.bundle.archive import Unsound
from audit.model import sanitizer, untrusted
from audit.model.errors import BadInput

NAMESPACE = "kernel-claim-audit"
"""A signature made for anything else does not count."""
WHO = "signer"
MOST_BYTES = 20_000
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
    untrusted.size_of(key, limit_bytes=MOST_BYTES)
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
    untrusted.size_of(place, limit_bytes=MOST_BYTES)
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
    lines = untrusted.text(key, limit_bytes=MOST_BYTES).splitlines()
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
