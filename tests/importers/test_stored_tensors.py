"""Inputs of a workload that stand in safetensors files: they are kept as text and loaded as they are."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch

from audit import claims
from audit.claims import importers
from audit.claims.importers import writer
from audit.model.errors import BadInput
from audit.run.sessions.oracle import load_reference
from tests.importers import published

ROWS = 4
VALUES = [float(number) for number in range(24)]
PATH = "./blob/workloads/w.safetensors"


def safetensors(key: str = "w", **changed: Any) -> bytes:
    data = struct.pack("<24f", *VALUES)
    about = {"dtype": "F32", "shape": [24], "data_offsets": [0, len(data)]} | changed
    header = json.dumps({"__metadata__": {"format": "pt"}, key: about}).encode()
    return struct.pack("<Q", len(header)) + header + data


def source(folder: Path, stored: bytes | None, *, key: str = "w") -> Path:
    place = {"type": "safetensors", "path": PATH, "tensor_key": key}
    workload = published.WORKLOAD | {"axes": {"rows": ROWS}, "inputs": {"x": {"type": "random"}, "w": place}}
    traces = published.lines({"definition": published.DEFINITION["name"], "workload": workload})
    written = published.write(folder / "source", **(published.FORMATS["flashinfer_bench"] | {"traces__jsonl": traces}))
    if stored is not None:
        (written / "blob/workloads").mkdir(parents=True)
        (written / PATH).write_bytes(stored)
    return written


def test_a_stored_input_is_loaded_as_it_is(tmp_path: Path) -> None:
    found = importers.read([source(tmp_path, safetensors())])
    assert found.auditable and "shapes: the claimed one alone, since inputs stand in files" in found.choices
    folder = writer.write(found, tmp_path / "claim")
    assert "blob/workloads/w.safetensors: w, its 96 bytes in base64" in {
        one.published_as for one in claims.load(str(folder)).claim.original
    }
    task = load_reference(folder / "reference.py")
    for seed in range(2):
        x, w = task.inputs({"rows": ROWS}, torch.Generator().manual_seed(seed))
        assert (tuple(x.shape), w.tolist()) == ((ROWS, 24), VALUES)
    assert torch.equal(task.reference(x, w), torch.relu(x * w))


def test_a_stored_input_that_was_not_given_is_missing(tmp_path: Path) -> None:
    found = importers.read([source(tmp_path, None)])
    assert [str(one) for one in found.missing if one.essential] == [
        f"reference.py INPUTS: input w: it stands in {PATH}; say there how it is made"
    ]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"shape": [4, 6]}, "its file has float32 of shape [4, 6], not float32 of shape [24]"),
        ({"dtype": "I32"}, "its file has int32 of shape [24], not float32 of shape [24]"),
    ],
)
def test_a_stored_input_of_another_shape_or_type_is_missing(changed: dict[str, Any], why: str, tmp_path: Path) -> None:
    found = importers.read([source(tmp_path, safetensors(**changed))])
    assert any(why in str(one) for one in found.missing if one.essential)


@pytest.mark.parametrize(
    ("stored", "key", "why"),
    [
        (b"\xff" * 64, "w", "w.safetensors: no safetensors file: its header cannot be read"),
        (struct.pack("<Q", 4) + b"[1]]", "w", "no safetensors file"),
        (safetensors("other"), "w", "holds no tensor w; it has: __metadata__, other"),
        (safetensors(data_offsets=[0, 400]), "w", "400 bytes are stated, which are not those of its shape"),
        (safetensors(dtype="F8"), "w", "no shape and place of a known type (F8)"),
        (safetensors(data_offsets=[96, 0]), "w", "bytes are stated"),
        (safetensors(shape=[24.0]), "w", "no shape and place"),
    ],
)
def test_a_broken_file_is_one_sentence(stored: bytes, key: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        importers.read([source(tmp_path, stored, key=key)])
    assert why in str(refused.value)
