"""The contracts by which others state a task: inputs, results in float64, and the least work, from a file as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from audit.run.imported_functions import DataTask, DefinitionTask, FunctionTask
from audit.run.imported_task import FunctionalTask, ModuleTask, outputs_in
from audit.run.references.imported_file import ImportedFile
from tests.importers import published


def file(folder: Path, text: str, name: str = "task.py") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def module_task(folder: Path) -> ModuleTask:
    return ModuleTask(file(folder, published.TASK))


def functional_task(folder: Path) -> FunctionalTask:
    return FunctionalTask(file(folder, published.FUNCTIONAL), function="module_fn")


def robust_task(folder: Path) -> FunctionalTask:
    settings = {"inputs": {"batch_size": 4096, "features": 24}, "init": {"features": 24}}
    return FunctionalTask(file(folder, published.ROBUST), function="forward_fn", settings=settings)


def data_task(folder: Path) -> DataTask:
    types = file(folder, published.POPCORN_TYPES, "types_of.py")
    return DataTask(file(folder, published.POPCORN_REFERENCE), beside={"task": types, "utils": None})


def definition_task(folder: Path) -> DefinitionTask:
    inputs = {
        "x": {"shape": ["rows", "features"], "dtype": "float32"},
        "w": {"shape": ["features"], "dtype": "float32"},
    }
    path = file(folder, published.DEFINITION["reference"])
    return DefinitionTask(path, inputs=inputs, axes=lambda shape: {**shape, "features": 24})


def function_task(folder: Path) -> FunctionTask:
    return FunctionTask(file(folder, published.REFERENCE), function="reference")


TASKS = {
    module_task: {"batch_size": 33},
    functional_task: {"batch_size": 33, "features": 24},
    robust_task: {"batch_size": 33, "features": 24},
    data_task: {"rows": 33, "features": 24},
    definition_task: {"rows": 33},
    function_task: {"rows": 33},
}


@pytest.mark.parametrize("make", TASKS, ids=lambda make: make.__name__)
def test_every_contract_gives_inputs_results_and_least_work(make, tmp_path: Path) -> None:
    task, shape = make(tmp_path), TASKS[make]
    arguments = task.inputs(shape, generator())
    again, other = task.inputs(shape, generator()), task.inputs(shape, generator(1))
    assert arguments[0].shape == (33, 24)
    assert all(one.equal(two) for one, two in zip(arguments, again, strict=True))
    assert not arguments[0].equal(other[0])
    assert {one.device.type for one in arguments} == {"cpu"}
    result, right = task.reference(*arguments), task.oracle(*arguments)
    assert (result.dtype, right.dtype) == (torch.float32, torch.float64)
    torch.testing.assert_close(right.float(), result)
    if len(arguments) == 2:
        assert right.equal(torch.relu(arguments[0].double() * arguments[1].double()))
    assert task.cost(shape) == {"flops": 0.0, "bytes": 33 * 24 * 4.0}


WEIGHTS_IN_A_DICT = """
import torch

def generate_input(rows: int, seed: int):
    gen = torch.Generator(device="cuda").manual_seed(seed)
    weights = {"scale": torch.nn.Parameter(torch.randn(8, device="cuda", generator=gen))}
    return torch.randn(rows, 8, device="cuda", generator=gen), weights, {"dim": 8}

def ref_kernel(data):
    x, weights, config = data
    norm = torch.nn.LayerNorm(config["dim"])
    norm.weight = torch.nn.Parameter(weights["scale"])
    return norm(x)
"""


def test_weights_in_a_dict_are_in_float64_for_the_right_result(tmp_path: Path) -> None:
    task = DataTask(file(tmp_path, WEIGHTS_IN_A_DICT), beside={})
    arguments = task.inputs({"rows": 5}, generator())
    result, right = task.reference(*arguments), task.oracle(*arguments)
    assert (result.dtype, right.dtype) == (torch.float32, torch.float64)
    assert right.equal(torch.nn.functional.layer_norm(arguments[0].double(), [8], arguments[1]["scale"].double()))
    assert arguments[1]["scale"].dtype == torch.float32 and not arguments[1]["scale"].requires_grad


SEEDED = """
import torch

def get_inputs():
    torch.manual_seed(0)
    generator = torch.Generator(device="cuda").manual_seed(7)
    return [torch.randn(8), torch.rand(8, generator=generator, device="cuda")]

def f(x, y):
    return x + y
"""


def test_inputs_whose_file_sets_its_seeds_are_drawn_anew(tmp_path: Path) -> None:
    task = FunctionTask(file(tmp_path, SEEDED), function="f")
    one, again, other = (task.inputs({}, generator(seed)) for seed in (0, 0, 1))
    assert all(x.equal(y) for x, y in zip(one, again, strict=True))
    assert not any(x.equal(y) for x, y in zip(one, other, strict=True))
    assert torch.Generator().manual_seed(7).initial_seed() == 7


def test_drawing_inputs_leaves_the_generator_of_the_process_alone(tmp_path: Path) -> None:
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    module_task(tmp_path).inputs({"batch_size": 3}, generator())
    assert torch.random.get_rng_state().equal(before)


def test_a_module_has_the_parameters_of_its_seed(tmp_path: Path) -> None:
    torch.manual_seed(42)
    weight = torch.randn(24)
    ones = torch.ones(1, 24)
    task = module_task(tmp_path)
    assert task.reference(ones).equal(torch.relu(weight)[None])
    assert task.oracle(ones).equal(torch.relu(weight.double())[None])


def test_a_module_is_made_for_the_shape_that_is_computed(tmp_path: Path) -> None:
    task = module_task(tmp_path)
    small, as_published = ({"batch_size": 5, "features": size} for size in (8, 24))
    x, wide = (task.inputs(shape, generator())[0] for shape in (small, as_published))
    assert (x.shape, wide.shape) == ((5, 8), (5, 24))
    task.at(small)
    assert same_shape(task.reference(x), x) and same_shape(task.oracle(x), x)
    with pytest.raises(RuntimeError, match="size of tensor"):
        task.reference(wide)
    task.at(as_published)
    assert same_shape(task.reference(wide), wide)
    assert task.work(small) < task.work(as_published)


def same_shape(result: object, x: torch.Tensor) -> bool:
    return isinstance(result, torch.Tensor) and result.shape == x.shape


def test_sizes_that_follow_from_a_constant_follow_it(tmp_path: Path) -> None:
    module = ImportedFile(file(tmp_path, "rows = 4\ncolumns = rows * 2\n"))
    assert (module.module().columns, module.module({"rows": 8}).columns) == (8, 16)
    with pytest.raises(LookupError, match=r"task\.py has no constant cols; it has: rows, columns"):
        module.module({"cols": 1})


def test_a_dataclass_with_annotations_as_text_finds_its_module(tmp_path: Path) -> None:
    text = "from dataclasses import dataclass\n\n@dataclass\nclass Config:\n    rows: 'int' = 4\n"
    assert ImportedFile(file(tmp_path, text)).module().Config().rows == 4


def test_sizes_that_stand_side_by_side_are_replaced_alone(tmp_path: Path) -> None:
    text = "depth, rows = 2, 4\nfor a, b in [(1, 2)]:\n    pass\nx, *y = 1, 2\ncells = depth * rows\n"
    module = ImportedFile(file(tmp_path, text))
    assert (module.module().cells, module.module({"rows": 8}).cells, module.module({"depth": 3}).cells) == (8, 16, 12)
    with pytest.raises(LookupError, match=r"it has: depth, rows, cells$"):
        module.module({"x": 1})


def test_numbers_in_calls_follow_a_shape_that_names_them(tmp_path: Path) -> None:
    text = "import torch\n\ndef reference(x, y):\n    return x @ y\n\n\ndef get_inputs():\n"
    path = file(tmp_path, f"{text}    return [torch.randn(4096, 512), torch.ones((512, 300))]\n")
    task = FunctionTask(path, function="reference")
    made = task.inputs({"size_4096": 5, "size_512": 7}, generator())
    assert [tuple(one.shape) for one in made] == [(5, 7), (7, 300)]
    with pytest.raises(LookupError, match="it has: size_4096, size_512, size_300"):
        task.inputs({"size_64": 5}, generator())


def test_seeds_stay_within_those_that_the_task_publishes(tmp_path: Path) -> None:
    path = file(tmp_path, "import torch\n\ndef generate_input(rows, seed):\n    return torch.full((rows,), seed)\n")

    def drawn(**published: int) -> set[int]:
        task = DataTask(path, beside={}, **published)
        return {int(task.inputs({"rows": 1}, generator(seed))[0]) for seed in range(50)}

    assert max(drawn()) > 1 << 24
    assert max(drawn(largest_seed=93246)) <= 93246
    assert len(drawn(largest_seed=7)) > 45


def test_the_least_work_is_nothing_where_it_is_not_certain(tmp_path: Path) -> None:
    shared = file(
        tmp_path, "import torch\n\ndef get_inputs():\n    return [torch.ones(4, 4)]\n\ndef f(x):\n    return x.t()\n"
    )
    repeated = file(tmp_path, shared.read_text().replace("x.t()", "(x.sum() + 1).expand(4, 4)"), "repeated.py")
    broken = file(tmp_path, shared.read_text().replace("x.t()", "x if x.sum() > 0 else -x"), "broken.py")
    assert FunctionTask(shared, function="f").cost({})["bytes"] == 0.0
    assert FunctionTask(repeated, function="f").cost({})["bytes"] == 4.0
    assert FunctionTask(broken, function="f").cost({})["bytes"] == 0.0


SHAPES_ALONE = """
import sys
from pathlib import Path

import torch
from audit.run.imported_functions import FunctionTask
task = FunctionTask(Path({path!r}), function="reference")
print(task.cost({{"batch_size": 4096}})["bytes"], "torch._dynamo" in sys.modules)
print(torch.compile(lambda x: torch.sin(x) + 1, backend="eager")(torch.zeros(2)).tolist())
print(task.cost({{"batch_size": 2}})["bytes"], sys.modules["torch._dynamo"].__name__)
"""


def test_the_least_work_takes_no_import_of_torchs_compiler_which_works_afterwards(tmp_path: Path) -> None:
    text = "import torch\n\nbatch_size = 8\n\n\ndef reference(x):\n    return torch.tanh(x) + 1\n\n\n"
    text += "def get_inputs():\n    return [torch.randn(batch_size, 3)]\n"
    source = SHAPES_ALONE.format(path=str(file(tmp_path, text)))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["49152.0 False", "[1.0, 1.0]", "24.0 torch._dynamo"]


def test_a_result_is_one_tensor_or_several() -> None:
    x, y = torch.ones(1), torch.zeros(2)
    for one in ((x,), {"y": x}, x, (x, None)):
        assert outputs_in(one) is x
    for several in ((x, y), [x, (y,)], {"a": x, "b": y}, torch.max(torch.eye(2), dim=1)):
        assert len(outputs_in(several)) == 2
    for value in ([], 3.0, {"y": 1}, (x, 2), None):
        with pytest.raises(TypeError, match="of them tensors; all must be"):
            outputs_in(value)


def test_a_model_that_ignores_its_function_is_told(tmp_path: Path) -> None:
    path = file(tmp_path, published.FUNCTIONAL.replace("return fn(x, self.weight)", "return x"))
    with pytest.raises(TypeError, match="does not call the function"):
        FunctionalTask(path, function="module_fn").inputs({}, generator())


def test_arguments_have_the_names_of_the_function_in_the_file(tmp_path: Path) -> None:
    assert module_task(tmp_path).parameters() == ["x"]
    assert definition_task(tmp_path).parameters() == ["x", "w"]
    assert function_task(tmp_path).parameters() == ["x", "w"]
    assert data_task(tmp_path).parameters() == []
    several = FunctionTask(file(tmp_path, "def reference(s, mask, *more): ...", "several.py"), function="reference")
    assert several.parameters() == ["s", "mask"]
