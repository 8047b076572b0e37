"""What `TORCH_LIBRARY` registers, called through `torch.ops`."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from audit.model.errors import CompileError, Unsupported
from tests.emulated.child import FOLDER, run


@pytest.fixture(scope="module")
def registered():
    return build(FOLDER / "operators.cu")


def test_operators_are_called_by_their_schemas(registered):
    code = """
o, x = torch.ops.audited_operators, torch.arange(4.0)
out = torch.zeros(4)
o.times_into(out, x)
again, count = o.counted([x, x], True)
answer = [o.times(x).tolist(), o.times(x, factor=3).tolist(), out.tolist(), again.tolist(), count,
          o.more.of_two(x, 0.5).tolist(), str(o.counted.default._schema), functions["times"](x).tolist()]
"""
    whole = [0.0, 2.0, 4.0, 6.0]
    schema = "audited_operators::counted(Tensor[] _0, bool _1) -> (Tensor, int)"
    expected = [whole, [0.0, 3.0, 6.0, 9.0], [0.0, 3.0, 6.0, 9.0], whole, 2, [0.0, 0.5, 1.0, 1.5], schema, whole]
    assert run(registered, code) == expected


def test_an_operator_without_a_cuda_function_and_wrong_arguments_raise(registered):
    code = """
o, x, answer = torch.ops.audited_operators, torch.ones(4), []
for call in (lambda: o.nowhere(x), lambda: o.laid_out(x), lambda: o.times(x, "a"), lambda: o.counted([x])):
    try:
        call()
    except (NotImplementedError, RuntimeError) as error:
        answer.append(type(error).__name__)
"""
    assert run(registered, code) == ["NotImplementedError", "NotImplementedError", "RuntimeError", "RuntimeError"]


def test_a_second_library_of_the_same_operators_takes_the_place_of_the_first(tmp_path):
    text = (FOLDER / "operators.cu").read_text().replace("factor * in[i]", "10 * factor * in[i]")
    (tmp_path / "operators.cu").write_text(text)
    second = build(tmp_path / "operators.cu")
    code = f"""
load(Path({str(second.library)!r}), {second.header_set!r}, prefix=runtime.prefix)
answer = torch.ops.audited_operators.times(torch.ones(1)).item()
"""
    assert run(build(FOLDER / "operators.cu"), code) == 20.0


def test_a_parameter_that_torch_takes_in_no_schema_does_not_compile(tmp_path):
    """As torch's own static_assert: of integers int64_t alone, of floats double alone."""
    text = (FOLDER / "operators.cu").read_text().replace("bool twice", "int twice")
    (tmp_path / "narrow.cu").write_text(text)
    with pytest.raises(CompileError):
        build(tmp_path / "narrow.cu")


def test_a_function_for_the_other_device_beside_it_is_refused_by_name(tmp_path):
    text = (FOLDER / "operators.cu").read_text().replace("torch::kCUDA, times));", "torch::kCPU, on_cpu));")
    (tmp_path / "both.cu").write_text(text)
    with pytest.raises(Unsupported, match="an operator that `impl` registers for kCPU"):
        build(tmp_path / "both.cu")
