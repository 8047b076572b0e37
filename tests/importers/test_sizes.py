"""Named sizes of a task, and the smaller ones proposed for the emulated device."""

from __future__ import annotations

import pytest

from audit.claims.importers import module_task, sizes
from audit.claims.importers.facts import Shapes
from audit.claims.python_text import PythonText


def shapes_of(constants: str, made: str, *, model: str = "", source: str = "") -> Shapes:
    text = f"import torch\n{constants}\n\nclass Model:\n    def forward(self, x):\n        return x {model}\n\n"
    text += f"def get_inputs():\n    return [{made}]\n\ndef get_init_inputs():\n    return [channels]\n"
    task = PythonText(f"{text}channels = 8\n".encode(), where="task.py")
    return sizes.of_module(task, apart=("Model", "get_init_inputs"), sources=[source])[0]


def first_and_last(found: Shapes) -> tuple[dict[str, int], dict[str, int]]:
    return dict(found.emulated[0]), dict(found.emulated[-1])


@pytest.mark.parametrize(
    ("constants", "made", "claimed", "first", "last"),
    [
        ("N = 4096", "torch.randn(N, N)", {"N": 4096}, {"N": 256}, {"N": 8}),
        ("N = 1024 * 1024", "torch.randn(N)", {"N": 1048576}, {"N": 256}, {"N": 8}),
        ("N = 1 << 20", "torch.randn(N)", {"N": 1048576}, {"N": 256}, {"N": 8}),
        ("rows: int = 4000", "torch.randn(rows, 33)", {"rows": 4000}, {"rows": 160}, {"rows": 2}),
        (
            "b = 128\nh, w = 320, 32",
            "torch.randn(b, channels, h, w)",
            {"b": 128, "h": 320, "w": 32},
            {"b": 128, "h": 64, "w": 32},
            {"b": 2, "h": 8, "w": 8},
        ),
        (
            "b = 128\nh, w = 32, channels",
            "torch.randn(b, h, w)",
            {"b": 128, "h": 32},
            {"b": 128, "h": 32},
            {"b": 2, "h": 8},
        ),
        ("b = 1000\nn = 3", "torch.randint(0, 9, (b, n))", {"b": 1000, "n": 3}, {"b": 232, "n": 3}, {"b": 2, "n": 3}),
        ("n = 512\nm = n * 2", "torch.randn(n, m)", {"n": 512}, {"n": 256}, {"n": 2}),
        ("n = 4097", "torch.randn(n, n)", {"n": 4097}, {"n": 1 + 256}, {"n": 9}),
        ("", "torch.randn(16, 16)", {"as_published": 1}, {"as_published": 1}, {"as_published": 1}),
    ],
)
def test_sizes_and_what_they_are_made_smaller_to(
    constants: str, made: str, claimed: dict[str, int], first: dict[str, int], last: dict[str, int]
) -> None:
    found = shapes_of(constants, made, source="#define WARP 32\nint two = WARP / 16;")
    assert dict(found.claimed) == claimed
    assert first_and_last(found) == (first, last)
    assert found.emulated_by == ("claim" if claimed == sizes.PLAIN else "importer")


@pytest.mark.parametrize(
    ("constants", "made", "claimed"),
    [
        ("N = int(1e6) + 48577", "torch.randn(N)", sizes.PLAIN),
        ("n = 16", "torch.randn(n, 32 * 64, 2048 // 1)", {"n": 16}),
        ("", "torch.randn(4096 * 4096)", sizes.PLAIN),
    ],
)
def test_the_claimed_shape_alone_where_what_is_left_of_the_inputs_is_large(
    constants: str, made: str, claimed: dict[str, int]
) -> None:
    found = shapes_of(constants, made)
    assert (dict(found.claimed), [dict(one) for one in found.emulated]) == (claimed, [claimed])
    assert found.emulated_by == "importer"


@pytest.mark.parametrize(
    ("constants", "made", "claimed", "last"),
    [
        ("", "torch.randn(4096, 300, 4)", {"size_300": 300, "size_4096": 4096}, {"size_300": 4, "size_4096": 2}),
        ("", "torch.zeros((4096, 512)), torch.full((512,), 4096)", {"size_512": 512}, {"size_512": 8}),
        ("", "torch.randint(0, 1000, (300, 20))", {"size_20": 20, "size_300": 300}, {"size_20": 4, "size_300": 2}),
        ("n = 512", "torch.randn(n, 24)", {"n": 512}, {"n": 2}),  # no number is large
        ("n = 512", "torch.randn(n, 4096)", {"n": 512, "size_4096": 4096}, {"n": 2, "size_4096": 8}),
        ("k = 4096\nn = 512", "torch.randn(n, 4096)", {"n": 512}, {"n": 2}),  # 4096 stands elsewhere too
    ],
)
def test_numbers_in_calls_that_make_tensors_are_sizes(
    constants: str, made: str, claimed: dict[str, int], last: dict[str, int]
) -> None:
    found = shapes_of(constants, made)
    assert (dict(found.claimed), dict(found.emulated[-1])) == (claimed, last)


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
    assert shapes_of("rows = 64", "torch.randn(rows, channels)").claimed == {"rows": 64}
    assert shapes_of("rows = 64", "torch.randn(rows, 8)", model="* rows").claimed == {"as_published": 1}


def module_sizes(constants: str, returned: str, *, model: str = "") -> tuple[str, dict[str, int], list[str]]:
    text = f"import torch\n{constants}\n\nclass Model:\n    def forward(self, x):\n        return x {model}\n\n"
    task = PythonText(f"{text}def get_init_inputs():\n    return {returned}\n".encode(), where="task.py")
    made = module_task.made_with(task)
    return made.text, dict(made.named), list(made.sizes)


@pytest.mark.parametrize(
    ("constants", "returned", "model", "text", "sizes"),
    [
        ("n = 4096", "[n, n, 0.5, True, None]", "", "[n, n, 0.5, True, None]", ["n"]),
        ("n = 64\nk = 3\nbias = (n, 1, 1)", "[n, k, bias]", "", "[n, k, (n, 1, 1)]", ["n", "k"]),
        ("n = 64\nm = 32", "[n, m]", "+ m", "[n, m]", ["n"]),  # the class reads m itself
        ("n = 64", "[n, 3]", "", "[64, 3]", []),  # a whole number without a name
        ("n = 64\nm = n // 2", "[n, m]", "", "[64, 32]", []),
        ("n = 16\nk = 3", "[n, k]", "", "[16, 3]", []),  # no size is large
        ("n = 64", "[]", "", "[]", []),
    ],
)
def test_sizes_of_a_module_are_those_returned_by_name(
    constants: str, returned: str, model: str, text: str, sizes: list[str]
) -> None:
    assert module_sizes(constants, returned, model=model)[::2] == (text, sizes)


def test_a_module_has_smaller_candidates_too() -> None:
    text = "n = 4096\nb = 512\nclass Model:\n    pass\n\ndef get_inputs():\n    return [torch.randn(b, n)]\n"
    task = PythonText(f"import torch\n{text}".encode(), where="task.py")
    found, choices = sizes.of_module(task, apart=["Model"], module=["n"])
    assert [dict(one) for one in found.emulated[:2]] == [{"n": 4096, "b": 256}, {"n": 256, "b": 256}]
    assert (found.module, found.claimed) == (("n",), {"n": 4096, "b": 512})
    assert "the first 2 of them alone (n = 4096, b = 256; n = 256, b = 256), which keep every" in choices[1]


def test_the_first_candidate_keeps_what_the_kernel_names() -> None:
    constants, made = "n = 1024\nm = 1024\nk = 512", "torch.randn(n, k), torch.randn(k, m)"
    assert shapes_of(constants, made, source="#define K 512\n").emulated[0] == {"n": 512, "m": 512, "k": 512}
    assert shapes_of(constants, made, source="if (n == 1024)").emulated[0] == {"n": 1024, "m": 1024, "k": 512}
    assert shapes_of(constants, made, source="x1024 1024.5").emulated[0] == {"n": 256, "m": 256, "k": 256}
    assert shapes_of(constants, made, source="#define BN 128\n").emulated[0] == {"n": 256, "m": 256, "k": 256}


def test_a_size_that_equals_a_thread_count_is_still_a_size() -> None:
    found = shapes_of("batch = 256\nn = 4096", "torch.randn(batch, n)", source="k<<<1, 256>>>(x);")
    assert first_and_last(found) == ({"batch": 256, "n": 256}, {"batch": 2, "n": 8})


def test_what_only_repeats_is_made_smaller_first() -> None:
    found = shapes_of("m = 256\nk = 4096", "torch.randn(m, k), torch.randn(k, 8)")
    assert [dict(one) for one in found.emulated[:2]] == [{"m": 256, "k": 256}, {"m": 128, "k": 256}]
    assert all(one["m"] == 2 for one in found.emulated if one["k"] < 256)


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


def test_numbers_that_a_solution_only_repeats_for_its_own_inputs_are_none_of_its_kernel() -> None:
    used = PythonText(SOLUTION.encode(), where="solution.py").used_by("ModelNew")
    assert shapes_of("N = 4096", "torch.randn(N, N)", source=used).emulated[0] == {"N": 1024}
    assert shapes_of("N = 512", "torch.randn(N, N)", source=used).emulated[0] == {"N": 512}
    assert shapes_of("N = 777", "torch.randn(N, N)", source=used).emulated[0] == {"N": 777}
