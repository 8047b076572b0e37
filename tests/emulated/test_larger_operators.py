"""`TORCH_LIBRARY` with the header sets that take a minute and more to compile once."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from tests.emulated.child import FOLDER, run

pytestmark = pytest.mark.audits


@pytest.mark.parametrize("used", ["py::dict none();", "torch::nn::Linear none();"])
def test_larger_header_sets_register_too(tmp_path, used):
    """A use of torch's C++ frontend, or of the real pybind11, needs another header set than `micro`."""
    text = (FOLDER / "operators.cu").read_text().partition("TORCH_LIBRARY_FRAGMENT")[0]
    text = text.replace("torch/library.h", "torch/extension.h").replace("__global__", f"{used}\n__global__", 1)
    (tmp_path / "larger.cu").write_text(text)
    built = build(tmp_path / "larger.cu")
    code = "answer = [torch.ops.audited_operators.times(torch.ones(1)).item(), sorted(functions)]"
    assert built.header_set != "micro"
    assert run(built, code) == [2.0, ["counted", "laid_out", "nowhere", "times", "times_into"]]
