"""Named sizes of a task, and the smaller ones proposed for the emulated device."""

from __future__ import annotations

import pytest

from audit.importers import sizes
from audit.importers.python_text import PythonText


def shapes_of(
    constants: str, made: str, *, model: str = "", source: str = ""
) -> tuple[dict[str, int], list[dict[str, int]]]:
    text = f"import torch\n{constants}\n\nclass Model:\n    def forward(self, x):\n        return x {model}\n\n"
    text += f"def get_inputs():\n    return [{made}]\n\ndef get_init_inputs():\n    return [channels]\n"
    task = PythonText(f"{text}channels = 8\n".encode(), where="task.py")
    found, _ = sizes.of_module(task, apart=("Model", "get_init_inputs"), sources=[source])
    return dict(found.claimed), [dict(one) for one in found.emulated]


@pytest.mark.parametrize(
    ("constants", "made", "claimed", "emulated"),
    [
        ("N = 4096", "torch.randn(N, N)", {"N": 4096}, {"N": 128}),
        ("N = 1 << 20", "torch.randn(N)", {"as_published": 1}, None),
        ("N = 1024 * 1024", "torch.randn(N)", {"N": 1048576}, {"N": 16384}),
        ("rows: int = 4000", "torch.randn(rows, 33)", {"rows": 4000}, {"rows": 250}),
        ("b = 128\nh, w = 32, 32", "torch.randn(b, channels, h, w)", {"b": 128}, {"b": 16}),
        ("b = 64\nshape = (256, 4)", "torch.rand(b, *shape)", {"b": 64}, {"b": 16}),
        ("b = 1000\nn = 3", "torch.randint(0, 9, (b, n))", {"b": 1000, "n": 3}, {"b": 1000, "n": 3}),
        ("n = 512\nm = n * 2", "torch.randn(n, m)", {"n": 512}, {"n": 16}),
        ("n = 4097", "torch.randn(n, n)", {"n": 4097}, {"n": 4097}),
        ("", "torch.randn(16, 16)", {"as_published": 1}, {"as_published": 1}),
    ],
)
def test_sizes_and_what_they_are_halved_to(
    constants: str, made: str, claimed: dict[str, int], emulated: dict[str, int] | None
) -> None:
    assert shapes_of(constants, made) == (claimed, [emulated] if emulated else [])


def test_a_name_that_a_function_binds_for_itself_is_another() -> None:
    text = (
        "rows = 64\nlocal = 5\n\ndef f(x):\n    rows, local = x.shape\n    return rows * local\n\n"
        "def get_inputs():\n    return [torch.randn(rows, 8)]\n\n"
        "def get_init_inputs():\n    local = 9\n    return [local]\n"
    )
    task = PythonText(text.encode(), where="task.py")
    assert task.integers == {"rows": 64, "local": 5}
    assert sizes.of_module(task, apart=["f"])[0].claimed == {"rows": 64}
    assert task.returned("get_init_inputs") is None
    rebound = f"{text}\ndef g():\n    global rows\n    rows = 3\n"
    assert PythonText(rebound.encode(), where="task.py").integers == {"local": 5}


def test_what_the_module_needs_too_is_no_size() -> None:
    assert shapes_of("rows = 64", "torch.randn(rows, channels)")[0] == {"rows": 64}
    assert shapes_of("rows = 64", "torch.randn(rows, 8)", model="* rows")[0] == {"as_published": 1}


def test_a_size_that_stands_in_the_kernel_is_not_made_smaller() -> None:
    constants, made = "n = 1024\nm = 1024\nk = 512", "torch.randn(n, k), torch.randn(k, m)"
    assert shapes_of(constants, made, source="#define K 512\n") == (
        {"n": 1024, "m": 1024, "k": 512},
        [{"n": 16, "m": 16, "k": 512}],
    )
    assert shapes_of(constants, made, source="if (n == 1024)")[1] == [{"n": 1024, "m": 1024, "k": 16}]
    assert shapes_of("n = 4096", "torch.randn(n, n)", source="if (n == 4096)")[1] == []
    assert shapes_of(constants, made, source="x1024 10240 1024.5")[1] == [{"n": 64, "m": 64, "k": 128}]


SOLUTION = """
import torch
N = 4096
BLOCK = 512
_SOURCE = "kernel<<<64, 256>>>(x, 777);"
_module = load_inline(cuda_sources=_SOURCE)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return _module.scaled(x, BLOCK)

def get_inputs():
    return [torch.randn(N, N)]
"""


def test_a_size_that_a_solution_only_repeats_for_its_own_inputs_is_halved() -> None:
    used = PythonText(SOLUTION.encode(), where="solution.py").used_by("ModelNew")
    assert shapes_of("N = 4096", "torch.randn(N, N)", source=used)[1] == [{"N": 128}]
    assert shapes_of("N = 512", "torch.randn(N, N)", source=used)[1] == [{"N": 512}]
    assert shapes_of("N = 777", "torch.randn(N, N)", source=used)[1] == [{"N": 777}]
