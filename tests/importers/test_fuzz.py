"""Ten thousand mutated inputs, the same ones every time: each is refused in one sentence or imported, none is run."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audit.claims import importers
from audit.claims.importers import entries, tables, writer
from audit.claims.importers.facts import Imported
from audit.model.errors import BadInput
from tests.importers import published
from tests.importers.test_formats import poisoned

IMPORTS, TABLES = 1500, 2500
PIECES = (
    *(bytes([one]) for one in b"\x00{[\"'\n,\\("),
    *(b"\xff\xfe", b"NaN", b"-1e999", b"null", b"../", b"(" * 50, b"import os\n", b"__global__", b"\xf0\x9f\x98\x80"),
)


def mutated(data: bytes, dice: random.Random) -> bytes:
    """One to three of: a cut, a piece put in, a part left out, a part twice, a byte changed."""
    for _ in range(dice.randint(1, 3)):
        start = dice.randrange(len(data) + 1)
        end = min(len(data), start + dice.choice((1, 3, 40, 400)))
        data = dice.choice(
            (
                data[:start],
                data[:start] + dice.choice(PIECES) + data[start:],
                data[:start] + data[end:],
                data[:end] + data[start:],
                data[:start] + bytes([dice.randrange(256)]) + data[start + 1 :],
            )
        )
    return data


def restated(value: Any, dice: random.Random) -> Any:
    """The same JSON with one value, somewhere, of another kind."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        return {**value, key: restated(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        return [*value[:at], restated(value[at], dice), *value[at + 1 :]]
    return dice.choice(
        [None, True, -1, 0, 3.5, float("nan"), "", "x", "a.b::c", [], [[]], {}, {"type": "var"}, 10**400]
    )


def sources(mark: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Every fixture as files, its Python made to leave a mark when it is run."""
    for name, files in published.FORMATS.items():
        trapped = poisoned(files, mark)
        texts = {key: one if isinstance(one, str) else json.dumps(one) for key, one in trapped.items()}
        yield name, {published.file_of(key): text.encode() for key, text in texts.items()}


def spoilt(files: dict[str, bytes], dice: random.Random) -> dict[str, bytes]:
    """The same files, one of them spoilt or gone."""
    name = dice.choice(list(files))
    if dice.random() < 0.05 and len(files) > 1:
        return {other: data for other, data in files.items() if other != name}
    if name.endswith(("json", "ipynb", "jsonl")) and dice.random() < 0.6:
        return {**files, name: json.dumps(restated(json.loads(files[name]), dice)).encode() + b"\n"}
    return {**files, name: mutated(files[name], dice)}


def survives(attempt: Callable[[], Any]) -> Any:
    """What the attempt gives; a refusal must be one sentence."""
    try:
        return attempt()
    except BadInput as error:
        assert "\n" not in str(error), str(error)
        return None


def test_imports(tmp_path: Path) -> None:
    mark, dice, taken = tmp_path / "ran", random.Random(7), 0
    written = 0
    fixtures = list(sources(mark))
    modules = set(sys.modules)
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(IMPORTS):
        name, files = fixtures[number % len(fixtures)]
        for path in folder.iterdir():
            path.unlink()
        for file, data in spoilt(files, dice).items():
            (folder / file).write_bytes(data)
        found = survives(partial(importers.read, [folder], format_=dice.choice([None, name])))
        if isinstance(found, Imported):
            taken += 1
            tomllib.loads(writer.claim_toml(found, name="fuzzed"))
            if found.reference is not None:
                compile(entries.reference_py(found.reference), "reference.py", "exec")
            if found.auditable and taken % 12 == 0:
                written += 1
                shutil.rmtree(writer.write(found, tmp_path / "claim"))
    assert not mark.exists()
    assert "torch" not in set(sys.modules) - modules
    assert IMPORTS // 4 < taken < IMPORTS
    assert written > IMPORTS // 60


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet", "csv.gz"])
def test_tables(suffix: str, tmp_path: Path) -> None:
    from tests.importers import test_tables

    writers = {"csv": "csv", "json": "array", "jsonl": "lines", "parquet": "parquet", "csv.gz": "csv.gz"}
    whole = test_tables.WRITERS[writers[suffix]](tmp_path).read_bytes()
    dice, path, read = random.Random(suffix), tmp_path / f"mutated.{suffix}", 0
    for _ in range(TABLES // 5):
        path.write_bytes(mutated(whole, dice))
        table = survives(lambda: tables.read(path, numbers=["ms"]))
        read += table is not None
    assert read
