"""Tasks of imported claims that published formats state by functions; see `imported_task`."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from audit.build.python.load import by_name
from audit.run.imported_task import Arguments, Task, positional
from audit.run.references.imported_file import AS_PUBLISHED, Sizes, seeds_moved

FEWEST_SEEDS = 1 << 16
"""With so many seeds two cases of one audit hardly ever draw the same."""
HALF_STEP = 16
"""Products that one tensor-core instruction sums before it rounds to half precision."""


class DataTask(Task):
    """`generate_input(..., seed)` and `ref_kernel(data)`, the format of popcorn's leaderboards; data is one tuple.

    Args:
        path: the file.
        beside: see `ImportedFile`.
        largest_seed: the largest seed that the task publishes, which bounds the drawn seeds unless it leaves too few. A
            task may put its seed into the values, which a large seed makes all alike.
        options: arguments of the generator other than sizes.
        parts: functions of the file in place of `ref_kernel`, with the places of their arguments among those of
            `generate_inputs`; their results are the outputs.
    """

    def __init__(
        self,
        path: Path,
        *,
        beside: Mapping[str, Path | None],
        largest_seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        parts: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        super().__init__(path, beside=beside)
        self._options, self._parts = dict(options or {}), dict(parts or {})
        self._seeds = None if largest_seed is None else max(largest_seed + 1, FEWEST_SEEDS)

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        given = self._options | {name: size for name, size in shape.items() if name != AS_PUBLISHED}
        make = getattr(self._file.module(), "generate_inputs" if self._parts else "generate_input")
        data = make(**given, seed=seed % self._seeds if self._seeds else seed)
        return list(data) if isinstance(data, tuple | list) else [data]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        module = self._file.module()
        if not self._parts:
            return module.ref_kernel(tuple(arguments) if len(arguments) > 1 else arguments[0])
        return tuple(getattr(module, name)(*(arguments[one] for one in places)) for name, places in self._parts.items())


class DefinitionTask(Task):
    """A definition's `run` with inputs of stated shapes, the format of flashinfer-bench and SOL-ExecBench.

    Args:
        path: the file with the reference.
        inputs: the `shape` (names of axes; None: a number), `dtype` and, for a number, `value` of each input; `stored`
            is the file in `original/` with its bytes in base64, where they are published.
        axes: returns all axes for those of the shape.
        generator: the function of the file that makes all tensors from the axes, where the definition names one.
    """

    def __init__(
        self,
        path: Path,
        *,
        inputs: Mapping[str, Mapping[str, Any]],
        axes: Callable[[Sizes], dict[str, int]],
        generator: str | None = None,
    ) -> None:
        super().__init__(path)
        self._path = path
        self._inputs, self._axes, self._generator = inputs, axes, generator

    def parameters(self) -> list[str]:
        """See `Task`."""
        return list(self._inputs)

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:  # noqa: ARG002
        sizes = self._axes(shape)
        made = {name: one["value"] for name, one in self._inputs.items() if one["shape"] is None}
        if self._generator:
            made |= getattr(self._file.module(), self._generator)({**sizes, **made}, torch.device("cpu"))
        for name, one in self._inputs.items():
            if name not in made and "stored" in one:
                made[name] = _stored(self._path.with_name(one["stored"]), one, [sizes[axis] for axis in one["shape"]])
            elif name not in made:
                made[name] = torch.randn([sizes[axis] for axis in one["shape"]]).to(getattr(torch, one["dtype"]))
        return [made[name] for name in self._inputs]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        return self._file.module().run(*arguments)


def _stored(path: Path, one: Mapping[str, Any], shape: Sequence[int]) -> torch.Tensor:
    """Return the tensor whose bytes stand in that file. Raises ValueError where they are those of another shape."""
    data = bytearray(base64.b64decode(path.read_bytes()))
    tensor = torch.frombuffer(data, dtype=getattr(torch, one["dtype"])).clone()
    if tensor.numel() != math.prod(shape):
        raise ValueError(f"{path.name} holds {tensor.numel():,} elements, and the shape asks for {list(shape)}")
    return tensor.reshape(list(shape))


class FunctionTask(Task):
    """A plain function, and `inputs(shape, generator)` or `get_inputs()` of the same file.

    Args:
        path: the file.
        function: the name of the function in it.
        beside: see `ImportedFile`.
        keywords: names of the last arguments where the function gets them by name; where `get_inputs` returns a dict,
            its keys.
    """

    def __init__(
        self,
        path: Path,
        *,
        function: str,
        beside: Mapping[str, Path | None] | None = None,
        keywords: Sequence[str] = (),
    ) -> None:
        super().__init__(path, beside=beside)
        self._function, self._keywords = function, tuple(keywords)

    def parameters(self) -> list[str]:
        """See `Task`."""
        names = positional(getattr(self._file.module(), self._function))
        return [*(name for name in names if name not in self._keywords), *self._keywords]

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:
        plain = self._file.module()
        if hasattr(plain, "inputs"):
            return self._listed(plain.inputs(dict(shape), torch.Generator().manual_seed(seed)))
        plain = self._file.module(shape)
        with seeds_moved(seed):
            return self._listed(plain.get_inputs())

    def _listed(self, values: Any) -> Arguments:
        if not isinstance(values, Mapping):
            return list(values)
        if sorted(values) != sorted(self._keywords):
            names = ", ".join(map(str, values))
            raise TypeError(f"the inputs are named {names}; give FunctionTask of reference.py these as keywords")
        return [values[name] for name in self._keywords]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        return by_name(getattr(self._file.module(), self._function), self._keywords)(*arguments)


class BenchmarkTask(Task):
    """A class of workloads, the format of Hugging Face's `kernels benchmark`.

    Inputs are the attributes that a workload's setup makes; its `verify_…` computes the right result.

    Args:
        path: the file.
        holder: the class.
        workloads: their names, numbered from 1 by the shapes. All have the same reference.
        arguments: the attributes passed to the kernel, in order.
    """

    def __init__(self, path: Path, holder: str, *, workloads: Sequence[str], arguments: Sequence[str]) -> None:
        super().__init__(path, beside={"kernels": None, "kernels.benchmark": None})
        self._holder, self._workloads, self._arguments = holder, workloads, arguments

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:  # noqa: ARG002
        made = self._made()
        own = getattr(made, f"setup_{self._workloads[shape['workload'] - 1]}", None)
        (own or made.setup)()
        return [getattr(made, name) for name in self._arguments]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        made = self._made()
        for name, value in zip(self._arguments, arguments, strict=True):
            setattr(made, name, value)
        return getattr(made, f"verify_{self._workloads[0]}")()

    def _made(self) -> Any:
        made = getattr(self._file.module(), self._holder)()
        made.device = "cuda"
        return made


class GemmTask(Task):
    """CUDA-L2's half-precision product: `(a, b, b_col_major, c)`, a of M x K, b of K x N, the same in column-major
    order, and the destination.

    Args:
        path: a file in `original/` of the claim folder.
        half_sums: whether the sum over K is kept in half precision, in the reference too.
        padded: the zero padding of each of M, N and K.
    """

    def __init__(self, path: Path, *, half_sums: bool, padded: Mapping[str, int]) -> None:
        super().__init__(path)
        self._half_sums, self._padded = half_sums, dict(padded)

    @property
    def baselines(self) -> dict[str, Callable[..., torch.Tensor]]:
        """The product without padding as torch computes it: by cuBLAS and by cuBLASLt's heuristic, with B row-major
        (`eager`, `cublaslt`) and column-major (`_tn`)."""
        rows, columns = partial(self._unpadded, columns=False), partial(self._unpadded, columns=True)
        return {
            "eager": rows,
            "cublas_tn": columns,
            "cublaslt": partial(_by_cublaslt, rows),
            "cublaslt_tn": partial(_by_cublaslt, columns),
        }

    def _unpadded(self, *arguments: torch.Tensor, columns: bool) -> torch.Tensor:
        a, b, b_col_major, c = arguments
        m, n, k = (size - self._padded[name] for name, size in zip("MNK", (*c.shape, a.shape[1]), strict=True))
        second = b_col_major.reshape(b.shape[1], b.shape[0]).t() if columns else b
        return a[:m, :k] @ second[:k, :n]

    def agreeing(self, arguments: Arguments) -> Arguments:
        """Return the arguments with the second layout made again from the first, after a probe has changed inputs."""
        a, b, _, c = arguments
        return [a, b, col_major(b), c]

    def cost(self, shape: Sizes) -> dict[str, float]:
        """Return the least flops, and the bytes of a, b and c."""
        m, n, k = (float(shape[name]) for name in "MNK")
        return {"flops": 2.0 * m * n * k, "bytes": 2.0 * (m * k + k * n + m * n)}

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:  # noqa: ARG002
        m, n, k = (shape[name] for name in "MNK")
        more_m, more_n, more_k = (self._padded[name] for name in "MNK")
        a = torch.zeros(m + more_m, k + more_k, dtype=torch.float16)
        b = torch.zeros(k + more_k, n + more_n, dtype=torch.float16)
        a[:m, :k], b[:k, :n] = torch.randn(m, k), torch.randn(k, n)
        return [a, b, col_major(b), torch.zeros(m + more_m, n + more_n, dtype=torch.float16)]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        a, b, _, c = arguments
        product = a @ b if double or not self._half_sums else _rounded_often(a, b)
        return product[: c.shape[0] - self._padded["M"], : c.shape[1] - self._padded["N"]]


def col_major(x: torch.Tensor) -> torch.Tensor:
    """Return the elements of a matrix in column-major order, in a tensor of its own shape."""
    return x.t().reshape(x.shape).contiguous()


def _by_cublaslt(product: Callable[..., torch.Tensor], *arguments: torch.Tensor) -> torch.Tensor:
    before = torch.backends.cuda.preferred_blas_library()
    torch.backends.cuda.preferred_blas_library("cublaslt")
    try:
        return product(*arguments)
    finally:
        torch.backends.cuda.preferred_blas_library(before)


def _rounded_often(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Compute a b with a sum that is rounded to half precision after every HALF_STEP products."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    for start in range(0, a.shape[1], HALF_STEP):
        total += a[:, start : start + HALF_STEP] @ b[start : start + HALF_STEP]
    return total
