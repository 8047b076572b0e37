"""Solutions that are given the reference's module: its state, its layers' settings, its sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from audit import claims
from audit.build.python.load import function_of
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given, Imported
from audit.model import Harness
from audit.model.errors import BadInput
from audit.review.hints import Source, reviewed
from audit.review.reach import reaches
from audit.run.sessions.oracle import load_reference
from tests.importers import published

PLAIN = "import torch\nimport torch.nn as nn\n\n\n"
SOLUTION = (
    PLAIN
    + """class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features))

    def forward(self, x):
        return (x * self.weight).clamp(min=0)
"""
)
PROBLEM = (
    PLAIN
    + """class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 3, padding=1, dilation=1)

    def forward(self, x):
        return self.conv(x)


length = 16


def get_inputs():
    return [torch.randn(1, 2, length)]


def get_init_inputs():
    return []
"""
)
KERNEL = (
    PLAIN
    + """def kernel_function(x, weight, bias=None, padding=0):
    return torch.conv1d(x, weight, bias, padding=padding)
"""
)
TAKES_ANY = KERNEL.replace("(x, weight, bias=None, padding=0)", "(x, *more, weight, bias, padding, **named)")


def imported(folder: Path, given: Given | None = None, **files: str) -> tuple[Imported, Path]:
    found = importers.read([published.write(folder / "source", **files)], given=given)
    return found, writer.write(found, folder / "claim")


def off(folder: Path, shape: dict[str, int], harness: Harness, *init: int) -> float:
    """How far the claimed function is off the reference on one draw of its inputs."""
    task = load_reference(folder / "reference.py")
    values = task.inputs(shape, torch.Generator().manual_seed(3))
    claimed = function_of(folder / "claimed.py", "forward", init_inputs=init, device="cpu", harness=harness)
    return float((claimed(*values).double() - task.oracle(*values)).abs().max())


def test_the_state_of_the_reference_is_taken_over(tmp_path: Path) -> None:
    _, folder = imported(tmp_path, solution__py=SOLUTION, reference__py=published.TASK)
    assert off(folder, {"batch_size": 8}, Harness(mode="eval"), 24) < 1e-5


def test_a_state_of_other_names_does_not_load(tmp_path: Path) -> None:
    other = SOLUTION.replace("self.weight", "self.scale")
    _, folder = imported(tmp_path, solution__py=other, reference__py=published.TASK)
    with pytest.raises(
        LookupError, match=r"^solution.py: parameters of Model do not fit those of reference.py: \w+ key"
    ):
        off(folder, {"batch_size": 8}, Harness(mode="eval"), 24)


@pytest.mark.parametrize("kernel", [KERNEL, TAKES_ANY])
def test_the_settings_of_the_layers_are_handed_over_by_name(kernel: str, tmp_path: Path) -> None:
    found, folder = imported(tmp_path, problem__py=PROBLEM, kernel__py=kernel)
    assert found.format == "kernelagent" and found.auditable
    assert off(folder, {"length": 16}, Harness(mode="eval", dtype="bfloat16")) < 0.05


def test_a_parameter_that_nothing_gives_is_said_at_once(tmp_path: Path) -> None:
    found, _ = imported(tmp_path, problem__py=PROBLEM, kernel__py=KERNEL.replace("weight, bias=None", "W, b"))
    (lacks,) = [one for one in found.missing if one.essential]
    assert "needs `W`, `b`; the set's benchmark hands it 1 input and, by name, weight, bias" in str(lacks)
    assert not found.auditable


def test_lines_of_ours_are_none_of_the_authors_weaknesses(tmp_path: Path) -> None:
    imported(tmp_path, problem__py=PROBLEM, kernel__py=KERNEL)
    folder = claims.load(str(tmp_path / "claim"))
    (variant,) = folder.claim.variant
    text, lines = folder.source_of(variant).read_text(), folder.published_lines(variant)
    assert lines == len(KERNEL.splitlines()) < len(text.splitlines())
    every, own = (reviewed(Source(text, target="claimed", lines=most, python=True)) for most in (None, lines))
    assert [one.line for one in every] == [lines, 32] and [one.line for one in own] == [lines]


def test_a_task_whose_get_inputs_makes_none_is_not_one_that_can_be_asked(tmp_path: Path) -> None:
    text = published.TASK.replace("return [torch.randn(batch_size, features)]", "return []")
    found, _ = imported(tmp_path, solution__py=SOLUTION, reference__py=text)
    assert [one.key for one in found.missing if one.essential] == ["original/task.py"]
    assert "makes them in a way of its own" in str(found.missing[0])


def test_a_size_of_the_module_is_replaced_in_task_and_arguments(tmp_path: Path) -> None:
    given = Given(shape=(("features", 6), ("batch_size", 32)))
    found, folder = imported(tmp_path, given, solution__py=SOLUTION, reference__py=published.TASK)
    assert found.shapes is not None and dict(found.shapes.claimed) == {"batch_size": 32}
    task = load_reference(folder / "reference.py")
    assert task.get_init_inputs() == [6]
    assert off(folder, {"batch_size": 4}, Harness(mode="eval"), 6) < 1e-5
    with pytest.raises(BadInput, match="--shape rows: no size of this claim; known: batch_size"):
        imported(tmp_path / "b", Given(shape=(("rows", 6),)), solution__py=SOLUTION, reference__py=published.TASK)


@pytest.mark.parametrize(("second", "columns"), [("batch_size", 4), ("batch_size, *width", 2048)])
def test_a_number_along_which_inputs_meet_changes_with_the_size(second: str, columns: int, tmp_path: Path) -> None:
    made = f"[torch.rand(batch_size, *width), torch.randint(0, 2, ({second},))]"
    problem = PROBLEM.replace("length = 16", "batch_size = 2048\nwidth = (2048,)").replace("self.conv(x)", "x - y")
    problem = problem.replace("forward(self, x)", "forward(self, x, y)").replace("[torch.randn(1, 2, length)]", made)
    found, folder = imported(tmp_path, problem__py=problem, kernel__py=KERNEL)
    assert ("width: changes [0] with batch_size, which another input has alone" in found.choices) is (columns == 4)
    task = load_reference(folder / "reference.py")
    values = task.inputs({"batch_size": 4}, torch.Generator().manual_seed(0))
    assert list(task.reference(*values).shape) == [4, columns]


def test_a_task_may_return_several_tensors(tmp_path: Path) -> None:
    pair = published.TASK.replace("return torch.relu(x * self.weight)", "return x, x * self.weight")
    found, folder = imported(tmp_path, solution__py=SOLUTION, reference__py=pair)
    assert [one.key for one in found.missing if one.essential] == []
    task = load_reference(folder / "reference.py")
    values = task.inputs({"batch_size": 4}, torch.Generator().manual_seed(0))
    assert [one.shape == values[0].shape for one in task.oracle(*values)] == [True, True]


def test_a_file_without_named_sizes_is_run_as_it_is(tmp_path: Path) -> None:
    unnamed = PROBLEM.replace("length = 16\n", "").replace("2, length)", "2, 16)")
    found, folder = imported(tmp_path, problem__py=unnamed, kernel__py=KERNEL)
    assert found.shapes is not None and dict(found.shapes.claimed) == {"as_published": 1}
    assert off(folder, {"as_published": 1}, Harness(mode="eval", dtype="bfloat16")) < 0.05


@pytest.mark.parametrize("files", [("solution__py", SOLUTION, "reference__py"), ("kernel__py", KERNEL, "problem__py")])
def test_lines_of_ours_reach_nothing_that_checks(files: tuple[str, str, str], tmp_path: Path) -> None:
    name, text, task = files
    _, folder = imported(tmp_path, **{name: text, task: PROBLEM if name == "kernel__py" else published.TASK})
    assert reaches((folder / "claimed.py").read_text(encoding="utf-8")) == []


def test_a_solution_with_another_file_behind_its_python_names_it_and_the_line(tmp_path: Path) -> None:
    files = published.FORMATS["kernelbench_com"]
    rest = "# =====\n# ===== sidecar: scale.cu (9 bytes, loaded by solution.py) =====\n# =====\n\nint a[] = {0x1};\n"
    solution = str(files["solution__py"])
    folder = published.write(tmp_path, **(files | {"solution__py": solution + rest}))
    line = solution.count("\n") + 2
    with pytest.raises(BadInput, match=rf"solution\.py: line {line} begins scale\.cu, and a variant is one file"):
        importers.read([folder])


def sidecar(name: str, text: str) -> str:
    return f"# =====\n# ===== sidecar: {name} ({len(text)} bytes, loaded by solution.py) =====\n# =====\n\n{text}"


def with_sidecar(folder: Path, solution: str, name: str, text: str) -> str:
    solution = f"from __future__ import annotations\n{solution}\n{sidecar(name, text)}"
    files = published.FORMATS["kernelbench_com"] | {"solution__py": solution}
    found = importers.read([published.write(folder, **files)])
    assert found.claimed is not None and found.auditable
    assert found.originals[0].data.decode() == solution
    assert "the files that it loads" in found.claimed.added
    return found.claimed.data.decode()


@pytest.mark.parametrize(
    "load",
    [
        "from torch.utils.cpp_extension import load\nimport os\n"
        "here = os.path.dirname(__file__)\nsource = os.path.join(here, 'scale.cu')\n"
        "module = load(name='scaled', sources=[source], extra_cuda_cflags=['-O3'], verbose=False)\n",
        "from pathlib import Path\nfrom torch.utils import cpp_extension\nHERE = Path(__file__).parent\n"
        "def built():\n    return cpp_extension.load('scaled', sources=[str(HERE / 'scale.cu')],"
        "\n                              extra_cuda_cflags=['-O3'], verbose=False).scaled\n",
    ],
)
def test_a_cuda_file_that_a_solution_loads_stands_in_its_place(load: str, tmp_path: Path) -> None:
    text = with_sidecar(tmp_path, f"{load}\n{published.COM_SOLUTION}", "scale.cu", published.CU)
    assert text.startswith("from __future__ import annotations\nfrom torch.utils.cpp_extension import load_inline\n")
    assert f"_SIDECAR_1 = r'''{published.CU}'''" in text
    built = next(line for line in text.splitlines() if "load_inline(" in line)
    assert "cpp_sources='', cuda_sources=_SIDECAR_1" in built and "extra_cuda_cflags=['-O3'], verbose=False)" in built
    assert "sidecar:" not in text and "import load\n" not in text
    assert {one.construct for one in reaches(text)} <= {"from pathlib import Path"}


def test_a_text_that_a_solution_reads_stands_in_its_place(tmp_path: Path) -> None:
    solution = f"source = (HERE / 'scale.cu').read_text()\n{published.COM_SOLUTION}"
    assert "\nsource = _SIDECAR_1\n" in with_sidecar(tmp_path, solution, "scale.cu", published.CU)


def test_python_that_a_solution_imports_stands_in_its_place(tmp_path: Path) -> None:
    solution = f"from scale import twice as doubled\n{published.COM_SOLUTION}"
    text = with_sidecar(tmp_path, solution, "scale.py", "factor = 2\n\n\ndef twice(x):\n    return factor * x\n")
    assert text.index("factor = 2") < text.index("def twice(x)") < text.index("doubled = twice")
    assert "from scale" not in text


def test_a_call_that_loads_other_files_too_is_not_read(tmp_path: Path) -> None:
    solution = f"module = load(name='scaled', sources=['scale.cu', 'other.cu'])\n{published.COM_SOLUTION}"
    with pytest.raises(BadInput, match=r"begins scale\.cu, and a variant is one file"):
        with_sidecar(tmp_path, solution, "scale.cu", published.CU)
