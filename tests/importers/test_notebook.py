"""Notebooks as people write them: where the CUDA text stands, how it is built, and what its result is compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit import claims
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given, Imported
from audit.model import untrusted
from audit.model.errors import BadInput
from tests.importers import published
from tests.importers.published import CU, DECLARED, KERNEL, RETURNING

HEAD = "import torch\nfrom torch.utils.cpp_extension import load, load_inline"
INPUTS = (
    "n = 256\ndevice = torch.device('cuda')\nx = torch.randn(n, 24).to(device)\nx = x * 2\n"
    "w = torch.randn(24, device=device)"
)
BUILD = "k = load('k', ['k.cu'])"


def notebook(folder: Path, *cells: str, **given: Any) -> Imported:
    document = published.notebook([("code", cell) for cell in cells])
    return importers.read([published.write(folder, claim__ipynb=document)], given=Given(**given))


def task_of(found: Imported) -> str:
    return next(one.data.decode() for one in found.originals if one.file == "task.py")


def test_a_file_that_a_cell_writes(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, HEAD, f"%%writefile scaled.cu\n{CU}", "k = load('scaled', ['scaled.cu'])", INPUTS,
        "torch.testing.assert_close(k.forward(x, w), torch.relu(x * w))",
    )  # fmt: skip
    assert found.auditable
    assert found.claimed is not None
    assert found.claimed.data == CU.encode()
    assert found.provenance == "claim.ipynb cell 2"
    task = task_of(found)
    assert task.index("x = torch.randn") < task.index("x = x * 2") < task.index("def reference(x, w):")
    assert "return torch.relu(x * w)" in task
    assert "load(" not in task


def test_results_and_functions_under_other_names(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, HEAD, f"text = '''{CU}'''\nopen('k.cu', 'w').write(text)",
        "ext = load(name='k', sources=['k.cu'], extra_cuda_cflags=['-O3'])\nfast = ext.forward",
        f"{INPUTS}\nplain = lambda x, w: torch.relu(x * w)",
        "got = fast(x, w)\nwant = plain(x, w)\nprint(torch.allclose(want, got))",
    )  # fmt: skip
    assert found.auditable
    assert found.flags == ("-O3",)
    assert "return plain(x, w)" in task_of(found)
    assert found.tolerance is not None
    assert "torch.allclose's default rtol = 1e-5" in found.tolerance.reason


def test_a_function_taken_from_what_load_returns(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, HEAD, f"text = '''{CU}'''\nwith open('k.cu', 'w') as f:\n    f.write(text)",
        "fast = load(name='k', sources=['k.cu'], extra_cuda_cflags=['-O3']).forward", INPUTS,
        "print(torch.allclose(fast(x, w), torch.relu(x * w), rtol=1e-3))",
    )  # fmt: skip
    assert found.auditable
    assert found.claimed is not None
    assert (found.claimed.entry, found.flags) == ("forward", ("-O3",))


def test_texts_given_to_load_inline(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, HEAD, f"cuda = r'''{KERNEL + RETURNING}'''\ncpp = '{DECLARED}'",
        "ext = load_inline(name='k', cpp_sources=cpp, cuda_sources=cuda, functions=['scaled'])", INPUTS,
        "print(torch.allclose(ext.scaled(x, w), torch.relu(x * w), rtol=1e-3))",
    )  # fmt: skip
    assert found.auditable
    assert found.claimed is not None
    assert (found.claimed.file, found.claimed.entry) == ("claimed.py", "audited_entry")
    for text in (KERNEL + RETURNING, DECLARED, 'functions=["scaled"]'):
        assert text in found.claimed.data.decode()


def test_what_is_timed_stands_in_for_what_is_compared(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, HEAD, f"text = '''{CU}'''", "ext = load_inline('k', '', text)", INPUTS,
        "print(do_bench(lambda: ext.forward(x, w)))\nprint(do_bench(lambda: torch.relu(x * w)))",
    )  # fmt: skip
    assert "return torch.relu(x * w)" in task_of(found)
    assert [one.key for one in found.missing if one.essential] == ["tolerance"]
    assert found.steps == ("cell 5: do_bench(lambda: ext.forward(x, w))", "cell 5: do_bench(lambda: torch.relu(x * w))")


def test_several_texts_are_not_chosen_between(tmp_path: Path) -> None:
    other = CU.replace("fmaxf", "fminf")
    cells = [HEAD, f"a = '''{CU}'''", f"b = '''{other}'''", "ext = load_inline('k', '', b)"]
    with pytest.raises(BadInput, match=r"2 CUDA texts fit of cell 2 \(a\), cell 3 \(b\); choose one with --row CELL"):
        notebook(tmp_path, *cells)
    assert notebook(tmp_path, *cells, row=3).originals[0].data == other.encode()
    assert notebook(tmp_path, *cells, f"c = '''{other}'''", row=2).originals[0].data == CU.encode()


@pytest.mark.parametrize(
    ("cells", "key"),
    [
        ([BUILD, "k.forward(x, w)"], "no cell compares or times"),
        ([BUILD, "print(torch.allclose(k.forward(x[0], w), x))"], "plain names"),
        ([BUILD, "m = torch.ones(24)", "print(torch.allclose(k.forward(x, w), x * w * m))"], "plain names"),
        ([], "no cell calls"),
    ],
)
def test_what_a_notebook_does_not_show_is_missing(cells: list[str], key: str, tmp_path: Path) -> None:
    found = notebook(tmp_path, HEAD, f"text = '''{CU}'''\nopen('k.cu', 'w').write(text)", INPUTS, *cells)
    assert not found.auditable
    assert any(key in one.what and one.essential for one in found.missing), [str(one) for one in found.missing]


def test_cells_that_are_no_python_are_left_alone(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, "!nvidia-smi\n%load_ext autoreload", "%%bash\nls", "this is ( not python", HEAD,
        f"%%writefile k.cu\n{CU}", "k = load('k', ['k.cu'])", INPUTS,
        "if True:\n    !pip list\nprint(torch.allclose(k.forward(x, w), torch.relu(x * w)))",
    )  # fmt: skip
    assert found.auditable


def told(folder: Path, output: str, **metadata: Any) -> Imported:
    document = published.notebook(published.CELLS, output) | {"metadata": metadata}
    return importers.read([published.write(folder, claim__ipynb=document)], given=Given())


@pytest.mark.parametrize(
    ("output", "value", "gpu"),
    [
        ("0  Tesla T4  Off\nSpeedup over PyTorch: 108.9x\n", 108.9, "T4"),
        ("NVIDIA A100-SXM4-40GB\nthe kernel is 87 times faster\n", 87.0, "A100 40GB"),
        ("speed-up 3.5\nspeed-up 3.5\n", 3.5, None),
    ],
)
def test_a_ratio_that_a_cell_printed(output: str, value: float, gpu: str | None, tmp_path: Path) -> None:
    (figure,) = told(tmp_path, output).figures
    assert (figure.value, figure.unit, figure.gpu) == (value, "ratio", gpu)
    assert figure.concluded.startswith("cell 7 printed: ")


def test_a_notebook_with_large_outputs_stays_byte_for_byte_in_a_claim_that_loads(tmp_path: Path) -> None:
    document = published.notebook(published.CELLS)
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * (untrusted.SOURCE_BYTES + 1)}}
    document["cells"][-1]["outputs"] = [picture]
    source = published.write(tmp_path / "given", claim__ipynb=document)
    loaded = claims.load(str(writer.write(importers.read([source], given=Given()), tmp_path / "made")))
    (kept,) = [one for one in loaded.audited.sources if one.file == "original/notebook.ipynb"]
    assert kept.size_bytes > untrusted.SOURCE_BYTES


def test_the_gpu_that_colab_was_asked_for(tmp_path: Path) -> None:
    (figure,) = told(tmp_path, "speedup 2x", colab={"gpuType": "L4"}).figures
    assert figure.gpu == "L4"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("speedup: 2x\nspeedup: 3x\n", "several ratios (2 in cell 7, 3 in cell 7)"),
        ("kernel 0.267 ms\ntorch 30.2 ms\nspeedup from 3.1 to 0.2 ms\n", "no published figures"),
        ("speedup: nanx, speedup 0x\n", "no published figures"),
    ],
)
def test_no_ratio_is_chosen_for_the_user(output: str, said: str, tmp_path: Path) -> None:
    found = told(tmp_path, output)
    assert found.figures == ()
    assert any(said in str(one) for one in found.missing if one.key == "speedup")


@pytest.mark.parametrize("outputs", [7, [3], [{"data": 5}], [{"text": [1, None]}], [{"data": {"text/plain": {}}}]])
def test_outputs_of_any_shape_are_read_past(outputs: Any, tmp_path: Path) -> None:
    document = published.notebook(published.CELLS)
    document["cells"][-1]["outputs"] = outputs
    found = importers.read([published.write(tmp_path, claim__ipynb=document)], given=Given())
    assert (found.auditable, found.figures) == (True, ())


WRAPPER = """def load_cuda(cuda_src, cpp_src, funcs, opt=True):
    return load_inline('ext', cuda_sources=[cuda_src], cpp_sources=[cpp_src], functions=funcs,
                       extra_cuda_cflags=['-O2'] if opt else [])"""
BEGIN = "begin = r'''\n#define PLACED 1\n'''"


def chapters(folder: Path, row: int) -> Imported:
    """Two chapters that bind the same names."""
    other = f"{KERNEL.replace('scale', 'other')}{RETURNING.replace('scale<', 'other<').replace('scaled', 'raised')}"
    return notebook(
        folder, HEAD, WRAPPER, BEGIN,
        f"src = begin + r'''{KERNEL}'''\nsrc += r'''{RETURNING}'''\ncpp = '{DECLARED}'",
        "module = load_cuda(src, cpp, ['scaled'])",
        "a, w = torch.randn(4096, 24), torch.randn(24)\nx = a.contiguous().cuda()\nweights = w.cuda()",
        "print((module.scaled(x, weights) - torch.relu(a * w)).abs().max())",
        f"src = begin + r'''{other}'''\ncpp = '{DECLARED.replace('scaled', 'raised')}'",
        "module = load_cuda(src, cpp, ['raised'], opt=False)\nf = getattr(module, 'raised')",
        "n = 512\nx = torch.ones(n, 24).cuda()",
        "assert torch.isclose(f(x, weights), torch.relu(x * weights), rtol=1e-3).all()",
        row=row, tolerance=1e-4,
    )  # fmt: skip


def test_chapters_that_bind_the_same_names(tmp_path: Path) -> None:
    first, second = chapters(tmp_path / "1", 4), chapters(tmp_path / "2", 8)
    assert first.auditable and second.auditable, (first.missing, second.missing)
    assert first.originals[0].data == f"\n#define PLACED 1\n{KERNEL}{RETURNING}".encode(), (
        "put together from three texts"
    )
    assert (first.flags, second.flags) == (("-O2",), ())
    assert "def reference(x, weights):\n    return torch.relu(x * weights)" in task_of(first), (
        "a and w are x and weights"
    )
    assert "a, w = torch.randn(4096, 24), torch.randn(24)" in task_of(first)
    assert first.shapes is not None and dict(first.shapes.claimed) == {"size_24": 24, "size_4096": 4096}
    assert "_EXTENSION.raised" in second.claimed.data.decode() if second.claimed else False
    assert "torch.ones(n, 24)" in task_of(second)
    assert second.shapes is not None and dict(second.shapes.claimed)["n"] == 512


def test_a_comparison_within_a_function_that_takes_nothing(tmp_path: Path) -> None:
    found = notebook(
        tmp_path, HEAD, f"cuda = r'''{KERNEL + RETURNING}'''\ncpp = '{DECLARED}'",
        "ext = load_inline(name='k', cpp_sources=cpp, cuda_sources=cuda, functions=['scaled'])",
        "def check(rows=300):\n    x = torch.randn(rows, 24, device='cuda')\n    w = torch.randn(24, device='cuda')\n"
        "    assert torch.allclose(ext.scaled(x, w), torch.relu(x * w), rtol=1e-3)\n    return True\n\ncheck()",
    )  # fmt: skip
    assert found.auditable, found.missing
    assert found.shapes is not None and dict(found.shapes.claimed) == {"rows": 300}
    assert "return torch.relu(x * w)" in task_of(found)


def test_the_line_to_type_names_the_cell(tmp_path: Path) -> None:
    cells = [
        HEAD,
        f"a = '''{CU}'''",
        "ext = load_inline('k', '', a)",
        INPUTS,
        "print(ext.forward(x, w) - torch.relu(x * w))",
    ]
    document = published.notebook(
        [("code", cell) for cell in [*cells, "print(abs(ext.forward(x, w) - torch.relu(x * w)))"]]
    )
    source = published.write(tmp_path / "s", claim__ipynb=document) / "claim.ipynb"
    found = importers.read([source], given=Given(row=2))
    said = importers.lines(found, tmp_path / "c", [str(source), "--row", "2"])
    assert said[-1] == f"  to type: audit import {source} --row 2 --to {tmp_path / 'c'}_2 --tolerance 1e-3"
