import hashlib
import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.model.errors import BadInput
from tests.conftest import some


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the triangular claim to spoil."""
    return Path(shutil.copytree(claims.KERNELS / "triangular_mm", tmp_path / "triangular_mm"))


def spoil(folder: Path, old: str, new: str) -> None:
    text = (folder / "claim.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "claim.toml").write_text(text.replace(old, new, 1), encoding="utf-8")


def test_every_claim_loads_and_lists_exactly_its_files() -> None:
    for name in some(claims.names()):
        loaded = claims.load(name, lessons=True)
        on_disk = {path.name for path in loaded.path.iterdir() if path.suffix in (".cu", ".py")} - {"reference.py"}
        assert on_disk == {variant.file for variant in loaded.claim.variant}, name


def test_sources_carry_the_hash_of_the_exact_bytes() -> None:
    loaded = claims.load("triangular_mm")
    for source in some(loaded.audited.sources):
        data = (loaded.path / source.file).read_bytes()
        assert (source.sha256, source.size_bytes) == (hashlib.sha256(data).hexdigest(), len(data))


def test_triangular_claim_states_what_was_published() -> None:
    claim = claims.load("triangular_mm").claim
    assert {speedup.gpu: speedup.ratio for speedup in claim.speedup} == {
        "T4": 108.9,
        "A100": 87.37,
        "L4": 27.23,
        "H100": 150.0,
    }
    assert claim.shapes.claimed == {"N": 4096}
    assert [shape["N"] for shape in claim.shapes.others] == [1, 33, 255, 1000, 4095]
    assert claim.claimed is not None
    assert claim.claimed.file == "claimed.cu"


def test_unknown_claim_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match="triangular_mm"):
        claims.load("no_such_claim")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "triangular_mm"', 'name = "triangular_mm', "not valid TOML"),
        ('dtype = "float32"', 'dtype = "float32"\ncolour = "red"', "key colour"),
        ("ratio = 108.9", 'ratio = "fast"', "key speedup.0.ratio"),
        ("ratio = 108.9", "ratio = inf", "not finite"),
        ("ratio = 108.9", "ratio = -1.0", "key speedup.0.ratio"),
        ('role = "claimed"', 'role = "guilty"', "key variant.0.role"),
        ('"-O3"', '"-I../other"', "protocol.flags: -I../other is outside of the claim"),
        ('"-O3"', '"-I/usr/include"', "protocol.flags: -I/usr/include is outside of the claim"),
        ('"-O3"', '"-Iabsent"', "protocol.flags: -Iabsent is no folder of the claim"),
        ('"-O3"', '"-I"', "protocol.flags: -I is no folder of the claim"),
        ('file = "claimed.cu"', 'file = "../escape.cu"', "key variant.0.file"),
        ('file = "claimed.cu"', 'file = "absent.cu"', "absent.cu: the file is missing"),
        ('file = "no_op.cu"', 'file = "claimed.cu"', "named twice: claimed.cu"),
        ('role = "claimed"', f'role = "claimed"\nsha256 = "{"0" * 64}"', "sha256 says 0000"),
        ("emulated = [{ N = 1 }, { N = 33 }, { N = 255 }]", "emulated = []", "key shapes.emulated"),
        ("emulated = [{ N = 1 }", "emulated = [{ N = 0 }", "key shapes.emulated.0.N"),
    ],
)
def test_each_bad_claim_is_one_sentence(folder: Path, old: str, new: str, message: str) -> None:
    spoil(folder, old, new)
    with pytest.raises(BadInput) as error:
        claims.load(str(folder))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_source_that_is_not_utf8(folder: Path) -> None:
    (folder / "claimed.cu").write_bytes(b"// \xff\xfe\n")
    with pytest.raises(BadInput, match=r"claimed\.cu: not UTF-8 at byte 3"):
        claims.load(str(folder))


def test_missing_reference(folder: Path) -> None:
    (folder / "reference.py").unlink()
    with pytest.raises(BadInput, match=r"reference\.py: the file is missing"):
        claims.load(str(folder))
