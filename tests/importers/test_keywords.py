"""Arguments by name: of the reference, of the kernel, and both in one audit."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from audit import claims
from audit.build.python.load import function_of
from audit.claims import importers, python_text
from audit.claims.importers import writer
from audit.claims.python_text import PythonText
from audit.model import Harness
from audit.model.errors import BadInput
from audit.run.calls.harness import require_places
from audit.run.sessions.oracle import load_reference

REFERENCE = (
    "import torch\nN = 64\nRTOL = 1e-4\ndef get_inputs(): return {made}\ndef reference({given}): return x * scale\n"
)
DICT, LIST = '{"x": torch.randn(N, 8), "scale": 2.0}', "[torch.randn(N, 8), 2.0]"


def read(folder: Path, made: str, given: str, kernel: str) -> Path:
    (folder / "ref.py").write_text(REFERENCE.format(made=made, given=given))
    (folder / "k.py").write_text(f"def kernel({kernel}): return x * scale\n")
    writer.write(importers.read([folder / "k.py", folder / "ref.py"]), folder / "claim")
    return folder / "claim"


@pytest.mark.parametrize(
    ("made", "given", "kernel", "named"),
    [
        (DICT, "*, x, scale", "*, x, scale", ("x", "scale")),
        (DICT, "x, scale", "scale, x", ("x", "scale")),
        (DICT, "x, scale, bias=None", "x, scale=1.0, **options", ("x", "scale")),
        (LIST, "x, *, scale", "x, *, scale", ("scale",)),
        (LIST, "x, scale", "x, *, scale, fast=True", ("scale",)),
        (LIST, "x, *, scale=1.0", "x, scale", ("scale",)),
        (LIST, "*, x, scale", "*, scale, x", ("x", "scale")),
        (LIST, "x, scale", "x, scale, *, fast=True", ()),
    ],
)
def test_both_functions_get_their_arguments_as_they_take_them(
    made: str, given: str, kernel: str, named: tuple[str, ...], tmp_path: Path
) -> None:
    folder = read(tmp_path, made, given, kernel)
    harness = claims.load(str(folder)).claim.harness
    assert harness.keywords == named
    task = load_reference(folder / "reference.py")
    values = task.inputs({"N": 64}, torch.Generator().manual_seed(0))
    assert torch.equal(task.reference(*values), 2.0 * values[0])
    called = function_of(folder / "claimed.py", "kernel", init_inputs=[], device="cpu", harness=harness)
    assert torch.equal(called(*values), 2.0 * values[0])


def test_a_dict_whose_keys_are_not_read_is_told_with_what_to_write(tmp_path: Path) -> None:
    folder = read(tmp_path, "dict(x=torch.randn(N, 8), scale=2.0)", "x, scale", "x, scale")
    with pytest.raises(TypeError, match=r"named x, scale; give FunctionTask of reference\.py these as keywords"):
        load_reference(folder / "reference.py").inputs({"N": 64}, torch.Generator())


def test_more_names_than_arguments_are_refused() -> None:
    with pytest.raises(BadInput, match=r"key harness\.keywords: 2 names, and a call has 1 arguments"):
        require_places(Harness(keywords=("x", "scale")), [1.0])
    require_places(Harness(keywords=("x",)), [1.0])


def test_a_kernel_that_is_no_function_gets_all_by_position() -> None:
    assert python_text.named_of_kernel(None, ("x",), ["x"]) == ()
    text = PythonText(b"def kernel(x, *, scale, bias=None): ...", where="k.py")
    assert python_text.named_of_kernel(text.functions["kernel"], (), ["x", "s"]) == ("scale",)
    assert isinstance(text.tree, ast.Module)
