"""What the published harness does around a call: modes, dtypes, destinations, and where arguments lie."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from audit.build.python.load import function_of
from audit.model import Harness
from audit.model.errors import BadInput
from audit.run.calls import harness
from audit.run.calls.arguments import Arguments
from audit.run.imported_task import FunctionalTask, ModuleTask
from tests.small_claim import CLAIM

MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((4,), 1 / 3))
        self.dropout = torch.nn.Dropout(1.0)

    def forward(self, x, fn=None):
        return self.dropout(x * self.weight) if fn is None else fn(x, self.weight, self.training)

def module_fn(x, weight, training):
    return torch.nn.functional.dropout(x * weight, 1.0, training)

def get_inputs():
    return [torch.ones(3, 4), torch.arange(3)][:1]

def get_init_inputs():
    return []
"""


def folder(place: Path, stated: str) -> Path:
    (place / "original").mkdir()
    (place / "original" / "task.py").write_text(MODULE)
    (place / "claim.toml").write_text(CLAIM.format(harness=stated))
    return place / "original" / "task.py"


def drawn() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_without_a_statement_nothing_is_done(tmp_path: Path) -> None:
    assert harness.stated(tmp_path) == Harness()
    path = folder(tmp_path, "")
    assert harness.stated(tmp_path) == Harness()
    task = ModuleTask(path)
    (x,) = task.inputs({}, drawn())
    assert (x.dtype, task.reference(x).dtype) == (torch.float32, torch.float32)
    assert not task.reference(x).any(), "as it is made a module is in training, and all is dropped"


def test_what_is_stated_travels_in_a_request(tmp_path: Path) -> None:
    folder(tmp_path, 'mode = "eval"\ndtype = "float16"\ndestination = 2\nhost = [1, 3]')
    stated = harness.stated(tmp_path)
    assert stated == Harness(mode="eval", dtype="float16", destination=2, host=(1, 3))
    assert Harness.model_validate_json(stated.model_dump_json()) == stated


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ('mode = "test"', "key harness.mode: Input should be 'train' or 'eval'"),
        ('dtype = "float8"', "key harness.dtype: Input should be 'float32', 'float16' or 'bfloat16'"),
        ("destination = -1", "key harness.destination: "),
        ("colour = 1", "key harness.colour: "),
    ],
)
def test_an_unknown_mode_or_dtype_is_one_sentence(stated: str, message: str, tmp_path: Path) -> None:
    folder(tmp_path, stated)
    with pytest.raises(BadInput) as result:
        harness.stated(tmp_path)
    assert message in str(result.value)
    assert "\n" not in str(result.value)


def test_an_imported_module_is_in_the_mode_and_the_dtype_of_the_harness(tmp_path: Path) -> None:
    task = ModuleTask(folder(tmp_path, 'mode = "eval"\ndtype = "bfloat16"'))
    (x,) = task.inputs({}, drawn())
    assert (x.dtype, task.reference(x).dtype) == (torch.bfloat16, torch.bfloat16)
    right = task.oracle(x)
    assert right.dtype == torch.float64
    assert right.eq(float(torch.tensor(1 / 3).bfloat16())).all(), "of the rounded parameters"


def test_a_function_gets_the_mode_that_its_module_hands_on(tmp_path: Path) -> None:
    training = FunctionalTask(folder(tmp_path, ""), function="module_fn").inputs({}, drawn())
    (tmp_path / "claim.toml").write_text(CLAIM.format(harness='mode = "eval"\ndtype = "float16"'))
    x, weight, evaluated = FunctionalTask(tmp_path / "original" / "task.py", function="module_fn").inputs({}, drawn())
    assert (training[2], evaluated) == (True, False)
    assert {x.dtype, weight.dtype} == {torch.float16}


def test_a_claimed_module_is_in_the_same_mode_and_dtype(tmp_path: Path) -> None:
    source = tmp_path / "claimed.py"
    source.write_text(MODULE.replace("class Model", "class ModelNew"))
    made = {"init_inputs": (), "device": "cpu"}
    x = torch.ones(3, 4)
    assert not function_of(source, "forward", **made, harness=Harness())(x).any()
    evaluated = function_of(source, "forward", **made, harness=Harness(mode="eval", dtype="float16"))(x.half())
    assert evaluated.dtype == torch.float16
    assert evaluated.all()


def test_a_destination_is_the_result_where_nothing_is_returned() -> None:
    def into(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
        y.copy_(2 * x)
        return None if x.numel() == 1 else x

    handed = harness.returning(into, Harness(destination=1))
    one, two, place = torch.ones(1), torch.ones(2), torch.zeros(1)
    assert handed(one, place) is place
    assert place.item() == 2.0
    assert handed(two, torch.zeros(2)) is two
    assert harness.returning(into, Harness())(one, place) is None


@pytest.mark.parametrize("status", [None, 1, True])
def test_a_destination_is_the_result_where_a_status_is_returned(status: object) -> None:
    place = torch.zeros(1)
    assert harness.returning(lambda *_: status, Harness(destination=1))(torch.ones(1), place) is place
    assert harness.returning(lambda *_: 1.5, Harness(destination=1))(torch.ones(1), place) == 1.5


def test_arguments_of_the_host_stay_there() -> None:
    values = [torch.ones(2), torch.ones(3), 4]
    arguments = Arguments(values, lambda x: x.to("meta"), host=(1,))
    for given in (arguments.buffers, arguments.fresh()):
        assert [one.device.type for one in given[:2]] == ["meta", "cpu"]
        assert given[2] == 4
    assert arguments.buffers[1].data_ptr() != values[1].data_ptr()
    laid_out = Arguments(values, lambda x: x, host=(1,)).laid_out("offset")
    assert [one.storage_offset() for one in laid_out[:2]] == [64, 0]
