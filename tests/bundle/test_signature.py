"""A signature beside a bundle: the key that made it is named, and any other is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from audit.apps import bundle, cli
from audit.apps.bundle import archive
from audit.model.errors import BadInput

PLACE = Path(__file__).resolve().parents[2] / "reports" / "library_call" / "emulated"
pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A bundle signed with the key `own`; `other` signed nothing."""
    for name in ("own", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    assert cli.main(["bundle", str(PLACE), "--out", str(tmp_path / "b.zip"), "--sign", str(tmp_path / "own")]) == 0
    return tmp_path / "b.zip"


def test_the_signer_is_named(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, other = (str(signed.with_name(name)) for name in ("own.pub", "other.pub"))
    known = subprocess.run(["ssh-keygen", "-lf", own], capture_output=True, text=True, check=True).stdout.split()[1]
    capsys.readouterr()
    assert cli.main(["verify", str(signed), "--key", own]) == 0
    assert f"signed with ED25519 {known}\n" in capsys.readouterr().out
    assert cli.main(["verify", str(signed)]) == 0
    assert f"signed with ED25519 {known}\n" in capsys.readouterr().out
    assert cli.main(["verify", str(signed), "--key", other]) == 1
    assert "is no signature of it by the key of other.pub" in capsys.readouterr().err
    archive.file_of(signed).unlink()
    assert cli.main(["verify", str(signed)]) == 0
    assert "\nnot signed\n" in capsys.readouterr().out
    assert cli.main(["verify", str(signed), "--key", own]) == 1
    assert "it is not signed" in capsys.readouterr().err


def test_a_signature_of_something_else_is_refused(signed: Path, tmp_path: Path) -> None:
    place, other = archive.file_of(signed), tmp_path / "other.txt"
    other.write_text("other")
    of_other = bundle.sign(other, tmp_path / "own").read_bytes()
    place.unlink()
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(tmp_path / "own"), "-n", "file", str(signed)]
    subprocess.run(command, check=True)
    for text in (b"", b"no signature", of_other, place.read_bytes()):
        place.write_bytes(text)
        with pytest.raises((bundle.Unsound, BadInput)):
            bundle.verify(signed)


def test_what_cannot_sign(signed: Path, tmp_path: Path) -> None:
    (tmp_path / "no_key").write_text("none")
    with pytest.raises(BadInput, match="cannot sign"):
        bundle.sign(signed, tmp_path / "no_key")
    with pytest.raises(BadInput, match="cannot be read"):
        bundle.sign(signed, tmp_path / "absent")
    bundle.sign(signed, tmp_path / "own")
    with pytest.raises(BadInput, match="no public key"):
        bundle.verify(signed, key=tmp_path / "own")
