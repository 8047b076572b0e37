"""A claim folder of somebody else's: plain files of bounded sizes inside the folder, and a statement of any text."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import claims
from audit.claims.importers.writer import quoted
from audit.model import Claim
from audit.model.errors import BadInput

STATEMENT = (claims.KERNELS / "triangular_mm" / "claim.toml").read_text(encoding="utf-8")
LINES = STATEMENT.splitlines(keepends=True)
PIECES = st.sampled_from([
    "[", "]", "[[variant]]\n", "{", "}", '"', '"""', "'", "=", ".", ",", "\n", "\\u0000", "\\U0010ffff", "\x00",
    "\x1b[2J", "\u202e", "nan", "inf", "-0", "1e999", "9" * 50, "1979-05-27", "true", "../", "name = 1\n",
    "file = 'a.cu'\n", "#",
])  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(claims.KERNELS / "triangular_mm", tmp_path / "triangular_mm"))


def refusal(folder: Path) -> str:
    """Why the claim there is not taken; fails where it is."""
    with pytest.raises(BadInput) as error:
        claims.load(str(folder))
    return str(error.value)


def says(pattern: str, text: str) -> bool:
    """Whether one line says something of that pattern, and nothing else stands there."""
    return "\n" not in text and re.search(pattern, text) is not None


@pytest.mark.parametrize("file", ["claimed.cu", "reference.py", "claim.toml"])
def test_a_file_is_a_plain_one_inside_the_folder(file: str, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes((folder / file).read_bytes())
    place = folder / file
    place.unlink()
    place.symlink_to(secret)
    assert says(f"{file}: leads out of the folder", refusal(folder))
    place.unlink()
    place.symlink_to("/dev/zero")
    assert says("leads out of the folder|no claim of this name", refusal(folder))
    place.unlink()
    os.mkfifo(place)
    assert says("no plain file|no claim of this name", refusal(folder))


def test_a_link_within_the_folder_is_followed(folder: Path) -> None:
    (folder / "claimed.cu").rename(folder / "kept.txt")
    (folder / "claimed.cu").symlink_to("kept.txt")
    assert claims.load(str(folder)).claim.claimed is not None


def test_a_source_is_bounded(folder: Path) -> None:
    with (folder / "no_op.cu").open("wb") as file:
        file.truncate(2 << 30)
    assert says("2,147,483,648 bytes; at most 4,000,000 are read", refusal(folder))


def test_files_are_few(folder: Path) -> None:
    variants = "".join(
        f'[[variant]]\nfile = "v{number}.cu"\nrole = "repair"\ntechnique = "t"\n' for number in range(400)
    )
    with (folder / "claim.toml").open("a", encoding="utf-8") as file:
        file.write(variants)
    assert says("key variant: Tuple should have at most 80 items", refusal(folder))


STATEMENTS = (
    "a=" + "[" * 3000, "a=" + "{b=" * 2000, "a=" + "1" * 5000, ".".join("a" * 20_000) + "=1", "x" * 300_000, "\0",
    "a=nan", "a=" + "[" * 300 + "]" * 300, STATEMENT.replace("108.9", "1e308"), STATEMENT.replace("4096", "9" * 4000),
)  # fmt: skip


@pytest.mark.parametrize("text", STATEMENTS, ids=range(len(STATEMENTS)))
def test_a_statement_no_reader_takes_is_one_sentence(text: str) -> None:
    with pytest.raises(BadInput) as error:
        claims.parse(text, "x")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_any_text_is_a_claim_or_bad_input(data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        place = data.draw(st.integers(0, len(lines[at])))
        piece = data.draw(PIECES)
        cut = data.draw(st.sampled_from([0, 0, 1, 5, 80]))
        lines[at] = lines[at][:place] + piece + lines[at][place + cut :]
    try:
        assert isinstance(claims.parse("".join(lines), "x"), Claim)
    except BadInput as error:
        assert str(error).startswith("x: ")


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_title_says_only_itself(text: str) -> None:
    title = next(line for line in LINES if line.startswith("title = "))
    found = claims.parse(STATEMENT.replace(title, f"title = {quoted(text)}\n", 1), "x")
    assert found.title == text
    assert found.model_copy(update={"title": ""}) == claims.parse(STATEMENT, "x").model_copy(update={"title": ""})
