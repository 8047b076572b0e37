"""A claim of several Python files: what a file imports from those beside it becomes part of it; what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from audit.claims import importers
from audit.claims.importers import joined_python, writer
from audit.claims.importers.facts import Imported
from audit.model.errors import BadInput
from audit.review.reach import reaches
from audit.run.sessions.oracle import load_reference
from tests.importers import published

KERNEL = """import torch
from scaling import scaled as by  # the one that is fast
from scaling.names import FACTOR


def kernel(x):
    return by(x) * FACTOR
"""
SCALING = """from .names import FACTOR


def unused(x):
    return x


def scaled(x):
    return x / FACTOR
"""
NAMES = "FACTOR = 2\nOTHER = 3\n"
REFERENCE = """import sizes
import torch

rows, TOLERANCE = 8, 1e-4


def reference(x):
    return x * sizes.ONE


def get_inputs():
    return [torch.randn(rows, 4)]
"""
FILES = {"kernel.py": KERNEL, "scaling/__init__.py": SCALING, "scaling/names.py": NAMES,
         "reference.py": REFERENCE, "sizes.py": "ONE = 1\n"}  # fmt: skip


def imported(folder: Path, **files: str) -> Imported:
    for name, text in (FILES | files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return importers.read([folder])


def joined(files: dict[str, str]) -> str:
    return joined_python.in_one("main.py", files, lambda name: files[name].encode())[0].decode()


def value(files: dict[str, str]) -> Any:
    names: dict[str, Any] = {}
    exec(joined(files), names)
    return names["value"]


def test_a_kernel_has_what_it_imports_in_its_own_file(tmp_path: Path) -> None:
    found = imported(tmp_path / "source")
    assert found.auditable and found.claimed is not None
    assert found.claimed.added == joined_python.ADDED
    text = found.claimed.data.decode()
    assert "unused" not in text and "OTHER" not in text and "import torch\n" in text
    assert text.endswith(KERNEL.partition("FACTOR\n")[2])
    assert reaches(text) == []
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["kernel"](torch.ones(2)).equal(torch.ones(2))
    assert {one.file for one in found.originals} >= {"kernel.py", "scaling___init__.py", "scaling_names.py"}


def test_a_reference_is_run_with_what_it_imports(tmp_path: Path) -> None:
    folder = writer.write(imported(tmp_path / "source"), tmp_path / "claim")
    reference = load_reference(str(folder / "reference.py"))
    (x,) = reference.inputs({"rows": 8}, torch.Generator())
    assert reference.reference(x).equal(x)


def test_a_reference_does_not_load_the_kernel(tmp_path: Path) -> None:
    found = imported(tmp_path, **{"reference.py": f"import kernel\n{REFERENCE}"})
    assert found.reference is not None
    assert found.reference.options["beside"] == {"sizes": "beside_sizes.py"}


def test_a_file_without_such_imports_stays_byte_for_byte() -> None:
    text = "import torch ; import os\n\n\n\nvalue = 1 # no more"
    assert joined({"main.py": text, "other.py": "x = 1\n"}) == text


@pytest.mark.parametrize(
    ("main", "other"),
    [
        ("from other import f\nvalue = f(3)\n", "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return x + 1\n"),
        (
            "import other\n\n\ndef run():\n    f = other.f(3)\n    return f\n\n\nvalue = run()\n",
            "def f(x):\n    return x + 1\n",
        ),
        ("import other as o\nvalue = o.ONE + o.f(2)\n", "ONE = 1\n\n\ndef f(x):\n    return ONE + x\n"),
        ("from . import other\nvalue = other.THREE + 1\n", "THREE = 3\n"),
        ("try:\n    from other import f\nexcept ImportError:\n    f = None\nvalue = f\n", "f = 4\n"),
        ("from other import *\nvalue = f() + math.gcd(1, 1)\n", "import math\nvalue = 0\n\n\ndef f():\n    return 3\n"),
        (
            "from other import f\nvalue = f() + 1\n",
            "ONCE = 0\n\n\ndef f():\n    global ONCE\n    ONCE += 3\n    return ONCE\n",
        ),
        (
            "x = 1\nfrom other import f\nvalue = f() + x\n",
            "try:\n    import math\nexcept ImportError:\n    math = None\n"
            "if math:\n\n    def f():\n        x = 3\n        return x\n",
        ),
        (
            "import torch\nONE = torch.cuda.device(1).idx\nfrom other import f\nvalue = f()\n",
            "import torch\nONE = torch.cuda.device(1).idx\n\n\ndef f():\n    return ONE + 3\n",
        ),
        ("SIZE = 2\nfrom other import f\nvalue = f()\n", "SIZE = 2\n\n\ndef f():\n    return SIZE + 2\n"),
    ],
)
def test_the_joined_text_means_what_the_files_mean(main: str, other: str) -> None:
    assert value({"main.py": main, "other.py": other}) == 4


@pytest.mark.parametrize(
    ("main", "other", "words"),
    [
        ("from other import f, g\n", "def f(): ...\n", "other.py: binds no g"),
        ("from .others import f\n", "", "main.py: line 1 imports f, which is not beside it; give its file"),
        ("def run():\n    from other import x\n", "x = 1\n", "main.py: line 1 imports within a function"),
        ("import other\nvalue = str(other)\n", "x = 1\n", "uses the module other otherwise than as other.NAME"),
        ("x = 3\nfrom other import y\n", "x = 1\ny = x\n", "other.py: binds x, as main.py does; rename one of them"),
        ("import os; from other import x\n", "x = 1\n", "main.py: line 1 holds two statements"),
        ("from other import y\n", "from main import x\n\ny = x\n", "main.py: binds no x"),
    ],
)
def test_what_one_file_cannot_hold_is_refused_with_its_line(main: str, other: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        joined({"main.py": main, "other.py": other})
    assert words in str(error.value)


def test_a_name_that_many_ways_lead_to_is_taken_once() -> None:
    body = (
        "from m{1} import f{1}, g{1}\n\n\ndef f{0}():\n    return f{1}() + g{1}()\n\n\ndef g{0}():\n    return f{0}()\n"
    )
    files = {f"m{one}.py": body.format(one, one + 1) for one in range(60)}
    files |= {"m60.py": "def f60():\n    return 1\n\n\ng60 = f60\n", "main.py": "from m0 import f0\n"}
    assert joined(files).count("def ") == 2 * 60


def test_a_solution_of_several_python_files_has_no_file_missing(tmp_path: Path) -> None:
    main = "from .more import ONE\n\n\ndef run(x, w):\n    return x * w * ONE\n"
    spec = published.SOLUTION_JSON["spec"] | {"entry_point": "main.py::run", "destination_passing_style": False}
    sources = [{"path": "main.py", "content": main}, {"path": "more.py", "content": "ONE = 1\n"}]
    solution = published.SOLUTION_JSON | {"spec": spec, "sources": sources}
    files = published.FORMATS["flashinfer_bench"] | {"solution__json": solution}
    found = importers.read([published.write(tmp_path, **files)])
    assert found.auditable and found.claimed is not None
    assert b"ONE = 1\n" in found.claimed.data and b"from .more" not in found.claimed.data
