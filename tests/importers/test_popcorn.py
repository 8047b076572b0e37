"""What a leaderboard's task says beyond its sizes: the tolerance, and where a submission may write its result."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import torch

from audit.claims import importers
from audit.claims.importers import popcorn, writer
from audit.claims.importers.entries import reference_py
from audit.claims.importers.facts import Given, Imported
from audit.model.errors import BadInput
from audit.run.sessions.oracle import load_reference
from tests.importers import published
from tests.importers.published import FORMATS, POPCORN_REFERENCE


def leaderboard(folder: Path, reference: str) -> Imported:
    return importers.read([published.write(folder, **(FORMATS["popcorn"] | {"reference__py": reference}))])


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("x, w, y = data\n    y = torch.relu(x * w)\n    return y", 2),
        ("x, w, y = data\n    return torch.relu(x * w)", 2),
        ("x, w, y = data\n    y[...] = torch.relu(x * w)\n    return y", None),
        ("x, w = data\n    return torch.relu(x * w)", None),
        ("x, w, y = data\n    y = y * 0 + torch.relu(x * w)\n    return y", None),
        ("return torch.relu(data[0])", None),
    ],
)
def test_a_tensor_that_the_reference_never_reads_is_a_destination(body: str, place: int | None, tmp_path: Path) -> None:
    reference = (
        f"import torch\n\n\ndef ref_kernel(data):\n    {body}\n\n\ndef generate_input(rows, seed):\n    return ()\n"
    )
    found = leaderboard(tmp_path, reference)
    assert found.harness.destination == place
    stated = tomllib.loads(writer.claim_toml(found, name="claim"))["harness"]
    assert stated == {"mode": "train"} | ({} if place is None else {"destination": place})


@pytest.mark.parametrize(
    ("call", "relative", "said"),
    [
        ("make_match_reference(ref_kernel)", 1e-5, "the defaults of its utils.py"),
        ("make_match_reference(ref_kernel, rtol=2e-2, atol=1e-3)", 2e-2, "rtol = 0.02, atol = 0.001"),
    ],
)
def test_the_tolerance_is_what_the_check_is_given(call: str, relative: float, said: str, tmp_path: Path) -> None:
    found = leaderboard(tmp_path, POPCORN_REFERENCE.partition("check_implementation")[0] + f"check = {call}\n")
    assert found.tolerance is not None
    assert found.tolerance.relative == relative
    assert said in found.tolerance.reason


@pytest.mark.parametrize(
    ("comparison", "relative"),
    [
        ("verbose_allclose(output, expected, rtol=1e-3, atol=1e-3)", 1e-3),
        ("verbose_allclose(output, expected, rtol=1e-3) or torch.allclose(output, expected, rtol=1e-4)", 1e-4),
        ("verbose_allequal(output, expected)", 0.0),
        ("verbose_allclose(output, expected, rtol=1e-5 * data[0].numel())", None),
        ("torch.allclose(output, expected)", None),
        ("(output - expected).norm() < 1e-3", None),
    ],
)
def test_the_tolerance_is_that_of_the_comparisons(comparison: str, relative: float | None, tmp_path: Path) -> None:
    """Where the check is a function of its own; a tolerance that is no number, or no comparison, leaves it open."""
    check = f"def check_implementation(data, output):\n    expected = ref_kernel(data)\n    return {comparison}\n"
    bare = POPCORN_REFERENCE.partition("check_implementation")[0]
    found = leaderboard(tmp_path, bare + "\n\n" + check)
    assert (None if found.tolerance is None else found.tolerance.relative) == relative


UTILS = """import torch


class DeterministicContext: ...


def match_reference(data, output, reference, rtol=1e-5, atol=1e-8):
    expected = reference(data)
    return "" if COMPARED else "mismatch"


def make_match_reference(reference, **kwargs):
    return lambda data, output: match_reference(data, output, reference=reference, **kwargs)
"""


@pytest.mark.parametrize(
    ("compared", "any_dtype"),
    [
        ("(torch.abs(output - expected) <= atol + rtol * torch.abs(expected)).all()", True),
        ("torch.allclose(output, expected, rtol=rtol, atol=atol)", False),
        ("output.dtype == expected.dtype and not (output - expected).any()", False),
    ],
)
def test_a_check_of_values_alone_takes_any_dtype(compared: str, any_dtype: bool, tmp_path: Path) -> None:
    utils = UTILS.replace("COMPARED", compared)
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"utils__py": utils}))])
    assert found.harness.any_dtype is any_dtype
    assert tomllib.loads(writer.claim_toml(found, name="claim"))["harness"].get("any_dtype", False) is any_dtype


def test_no_check_or_one_that_is_not_there_takes_the_dtype_of_the_reference(tmp_path: Path) -> None:
    bare = POPCORN_REFERENCE.partition("check_implementation")[0]
    assert not leaderboard(tmp_path / "no_check", bare).harness.any_dtype
    assert not leaderboard(tmp_path / "no_utils", POPCORN_REFERENCE).harness.any_dtype


def test_a_task_for_several_gpus_is_missing_one_that_it_needs(tmp_path: Path) -> None:
    found = leaderboard(tmp_path, "import torch.distributed as dist\n" + POPCORN_REFERENCE)
    assert any("several GPUs" in str(one) for one in found.missing if one.essential)


def test_a_check_of_its_own_leaves_the_tolerance_open(tmp_path: Path) -> None:
    found = leaderboard(tmp_path, POPCORN_REFERENCE.partition("check_implementation")[0])
    assert [one.key for one in found.missing if one.essential] == ["tolerance"]


def test_modules_beside_the_reference_are_taken_along(tmp_path: Path) -> None:
    utils = "class DeterministicContext: ...\n\ndef make_match_reference(reference, **tolerance): ...\n"
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"utils__py": utils}))])
    assert found.reference is not None
    assert found.reference.options["beside"] == {"task": "task.py", "utils": "utils.py"}
    assert {"task.py", "utils.py", "reference.py", "submission.py", "task.yml"} == {one.file for one in found.originals}


def test_tests_that_are_all_large_give_smaller_ones(tmp_path: Path) -> None:
    task = (
        'tests: [{"rows": 7168, "features": 24, "seed": 1}]\nbenchmarks: [{"rows": 8192, "features": 24, "seed": 1}]\n'
    )
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"task__yml": task}))])
    assert found.shapes is not None
    assert (found.shapes.claimed["rows"], found.shapes.emulated_by) == (8192, "importer")
    assert found.shapes.emulated[0] == {"rows": 256, "features": 24}
    assert any("the first of them alone (rows = 256, features = 24)" in choice for choice in found.choices)


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("", [33, 64]),
        ("if x.shape[0] > 500: pass", [33, 64, 1024]),  # the claimed rows are above it, both small tests are below
        ("if x.shape[0] > 50: pass", [33, 64]),
        ("if x.shape[0] > 5000: pass", [33, 64]),  # no case but the claimed one is above it
    ],
)
def test_a_case_above_a_limit_of_the_source_is_run_too(code: str, rows: list[int], tmp_path: Path) -> None:
    cases = ", ".join(f'{{"rows": {size}, "features": 24, "seed": 1}}' for size in (33, 64, 1024, 2048))
    task = f'tests: [{cases}]\nbenchmarks: [{{"rows": 8192, "features": 24, "seed": 1}}]\n'
    submission = f"def custom_kernel(data):\n    x, w = data\n    {code or 'pass'}\n    return (x * w).relu()\n"
    found = importers.read(
        [published.write(tmp_path, **(FORMATS["popcorn"] | {"task__yml": task, "submission__py": submission}))]
    )
    assert found.shapes is not None
    assert [shape["rows"] for shape in found.shapes.emulated] == rows


@pytest.mark.parametrize(
    ("cases", "largest"),
    [
        ("tests: [{rows: 33, features: 24, seed: 7}]\nbenchmarks: [{rows: 64, features: 24, seed: 54352}]", 54352),
        ("tests: [{rows: 33, features: 24, seed: 7}, {rows: 34, features: 24}]", 7),
        ("tests: [{rows: 33, features: 24}]", None),
    ],
)
def test_the_largest_published_seed_is_kept(cases: str, largest: int | None, tmp_path: Path) -> None:
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"task__yml": f"{cases}\n"}))])
    assert found.reference is not None
    assert found.reference.options["largest_seed"] == largest
    assert (f"largest_seed={largest}," in reference_py(found.reference)) == (largest is not None)


def test_a_submission_may_be_what_another_function_makes_of_it(tmp_path: Path) -> None:
    submission = "import torch\n\ndef plain(data):\n    return data[0]\n\ncustom_kernel = torch.compile(plain)\n"
    found = importers.read([published.write(tmp_path, **(FORMATS["popcorn"] | {"submission__py": submission}))])
    assert (found.format, found.claimed.entry) == ("popcorn", "audited_entry")
    assert b"return custom_kernel(data if len(data) > 1 else data[0])" in found.claimed.data


OPTIONS = """tests:
  - {"rows": 33, "features": 24, "masked": True, "kind": "normal", "splits": [1, 2], "cond": 0, "seed": 1}
  - {"rows": 8, "features": 24, "masked": False, "kind": "normal", "splits": [1, 2], "cond": 0, "seed": 1}
benchmarks:
  - {"rows": 4096, "features": 24, "masked": True, "kind": "normal", "splits": [1, 2], "cond": 0, "seed": 3}
"""


def test_options_are_those_of_the_largest_benchmark(tmp_path: Path) -> None:
    named = "rows: int, features: int, masked: bool, kind: str, splits: list, cond: int, seed: int"
    reference = published.POPCORN_REFERENCE.replace("rows: int, features: int, seed: int", named).replace(
        "    gen = ", '    assert (masked, kind, splits, cond) == (True, "normal", [1, 2], 0)\n    gen = '
    )
    files = {**published.FORMATS["popcorn"], "reference__py": reference, "task__yml": OPTIONS}
    found = importers.read([published.write(tmp_path / "source", **files)])
    assert found.shapes is not None and found.auditable
    assert dict(found.shapes.claimed) == {"rows": 4096, "features": 24}
    assert [dict(one) for one in found.shapes.emulated] == [{"rows": 33, "features": 24}]
    assert any("1 tests and benchmarks with others are left out" in one for one in found.choices)
    task = load_reference(writer.write(found, tmp_path / "claim") / "reference.py")
    assert task.inputs({"rows": 3, "features": 24}, torch.Generator())[0].shape == (3, 24)


GROWING = """
def generate_input(size: int, seed: int):
    return torch.randn(size), torch.empty(size)


def check_implementation(data, output):
    n = data[0].numel()
    scale = n ** 0.5
    rtol = 1e-5 * scale
    return match_reference(data, output, reference=ref_kernel, rtol=rtol, atol=rtol)
"""
HEAD = "import torch\nfrom utils import match_reference\n\n\ndef ref_kernel(data):\n    return data[0].cumsum(0)\n"
TASK = 'tests:\n  - {"size": 64, "seed": 1}\nbenchmarks:\n  - {"size": 4096, "seed": 2}\n'


def one_size(folder: Path, reference: str) -> Imported:
    return importers.read(
        [published.write(folder, **(FORMATS["popcorn"] | {"reference__py": reference, "task__yml": TASK}))]
    )


def test_a_tolerance_that_grows_with_the_size_is_that_of_the_claimed_shape(tmp_path: Path) -> None:
    found = one_size(tmp_path, HEAD + GROWING)
    assert found.tolerance is not None
    assert found.tolerance.relative == pytest.approx(1e-5 * 64)
    assert "4,096 elements of the claimed shape" in found.tolerance.reason


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("torch.randn(size), torch", "torch.randn(size, size), torch"),
        ("data[0].numel()", "len(data[0])"),
        ("** 0.5", "** 99"),
    ],
)
def test_a_tolerance_of_anything_else_stays_missing(text: str, other: str, tmp_path: Path) -> None:
    assert text in GROWING
    found = one_size(tmp_path, HEAD + GROWING.replace(text, other))
    assert [one.key for one in found.missing if one.essential] == ["tolerance"]


def test_a_check_of_a_property_leaves_the_right_result_open_whatever_the_tolerance(tmp_path: Path) -> None:
    """Several results may have the property, as the signs of eigenvectors: none of them may fail for its values."""
    check = "\n\ndef check_implementation(data, output):\n    return (output @ output.T - data[0]).norm() < 1e-3\n"
    given = published.write(
        tmp_path,
        **(
            FORMATS["popcorn"]
            | {"reference__py": HEAD + GROWING.partition("\n\ndef check")[0] + check, "task__yml": TASK}
        ),
    )
    found = importers.read([given], given=Given(tolerance=1e-3))
    (missing,) = [one for one in found.missing if one.essential]
    assert missing.key == "original/reference.py" and "never calls ref_kernel" in missing.what
    assert not found.auditable


def test_a_submission_has_what_it_needs_of_utils(tmp_path: Path) -> None:
    submission = published.SUBMISSION.replace("import torch\n", "import torch\nfrom utils import doubled\n", 1)
    files = FORMATS["popcorn"] | {"submission__py": submission}
    alone = importers.read([published.write(tmp_path / "alone", **files)])
    assert "claimed.py: the submission imports utils; give utils.py of the leaderboard too" in map(str, alone.missing)
    utils = (
        "def doubled(x):\n    return 2 * x\n\n\ndef make_match_reference(*_): ...\n\n\nDeterministicContext = None\n"
    )
    found = importers.read([published.write(tmp_path / "beside", **files, utils__py=utils)])
    assert found.auditable and found.claimed is not None
    assert b"def doubled" in found.claimed.data and b"make_match_reference" not in found.claimed.data
    assert b"from task import input_t, output_t\n" in found.claimed.data


def test_the_types_of_a_package_are_those_of_the_leaderboard(tmp_path: Path) -> None:
    submission = published.SUBMISSION.replace("from task import", "from first_day.task import", 1)
    found = importers.read([published.write(tmp_path, **FORMATS["popcorn"] | {"submission__py": submission})])
    assert found.auditable and found.claimed is not None
    assert b"from task import input_t, output_t\n" in found.claimed.data and popcorn.ADDED_TYPES in found.claimed.added


THEIRS = """def mine_forward(x, w):
    return x * w


def mine_backward(x, w, grad):
    return grad * w
"""
RIGHT = """import torch

RTOL, ATOL = 1e-3, 1e-4


def reference_forward(x, w):
    return x * w


def reference_backward(x, w, grad):
    return grad * w


def generate_inputs(rows, features, seed=42):
    torch.manual_seed(seed)
    x, w, grad = torch.randn(rows, features), torch.randn(features), torch.randn(rows, features)
    return x, w, grad
"""
TWO = {
    "submission__py": THEIRS,
    "reference__py": RIGHT,
    "task__yml": "tests:\n  - {rows: 8}\nbenchmarks:\n  - {rows: 512}\n",
    "eval__py": "import reference\nWIDE = 24\ndef run(rows):\n    return reference.generate_inputs(rows, WIDE)\n",
}


def test_results_of_several_functions_are_the_outputs_of_one_call(tmp_path: Path) -> None:
    found = importers.read([published.write(tmp_path / "source", **TWO)])
    assert found.auditable and found.claimed is not None and found.tolerance is not None and found.shapes is not None
    assert found.claimed.data.endswith(
        b"def audited_entry(input_0, input_1, input_2):\n"
        b"    return mine_forward(input_0, input_1), mine_backward(input_0, input_1, input_2)\n"
    )
    assert found.tolerance.relative == 1e-3
    assert dict(found.shapes.claimed) == {"features": 24, "rows": 512}
    assert "sizes that eval.py gives whatever the test: features = 24" in found.choices
    reference = load_reference(str(writer.write(found, tmp_path / "claim") / "reference.py"))
    x, w, grad = arguments = reference.inputs({"rows": 8, "features": 24}, torch.Generator())
    assert [one.equal(right) for one, right in zip(reference.reference(*arguments), (x * w, grad * w), strict=True)]
    assert [one.dtype for one in reference.oracle(*arguments)] == [torch.float64] * 2


def test_a_size_that_no_file_states_is_missing_with_the_line_to_type(tmp_path: Path) -> None:
    source = published.write(tmp_path, **{name: text for name, text in TWO.items() if name != "eval__py"})
    found = importers.read([source])
    assert "--shape rows=64 features=64" in " ".join(str(one) for one in found.missing if one.essential)
    assert importers.read([source], given=Given(shape=(("rows", 64), ("features", 64)))).auditable


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mine_backward", "mine_other"),
        ("(x, w, grad)", "(x, w, other)"),
        ("def mine_f", "def a_forward(): ...\n\n\ndef mine_f"),
    ],
)
def test_functions_without_one_counterpart_each_are_no_submission(old: str, new: str, tmp_path: Path) -> None:
    files = TWO | {"submission__py": TWO["submission__py"].replace(old, new)}
    with pytest.raises(BadInput, match="no known format"):
        importers.read([published.write(tmp_path, **files)])


@pytest.mark.parametrize(
    ("computed", "keys"),
    [
        ("torch.linalg.cholesky_ex(data).L", ["tolerance"]),
        ("torch.linalg.eigh(data)", ["tolerance", "original/reference.py"]),
    ],
)
def test_a_property_with_one_right_result_needs_a_tolerance_alone(
    computed: str, keys: list[str], tmp_path: Path
) -> None:
    reference = (
        f"import torch\n\n\ndef ref_kernel(data):\n    return {computed}\n\n\ndef generate_input(rows, seed):\n"
        "    return torch.eye(rows)\n\n\ndef check_implementation(data, output):\n    return True, ''\n"
    )
    assert [one.key for one in leaderboard(tmp_path, reference).missing if one.essential] == keys
