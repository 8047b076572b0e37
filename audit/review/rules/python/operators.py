"""Rules about operators of the library and the precision of values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain, takewhile

from audit.review.python_reading import PythonReading
from audit.review.python_tree import FunctionNode, inside, parameters_off, raises
from audit.review.rule import Spot, names, rule

OPERATORS = names("""
    matmul mm bmm addmm baddbmm addbmm addmv mv dot vdot inner outer linear bilinear einsum tensordot kron
    chain_matmul conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_transpose3d
    cudnn_convolution unfold fold softmax log_softmax softmin layer_norm group_norm instance_norm batch_norm
    rms_norm native_layer_norm native_group_norm native_batch_norm normalize local_response_norm cosine_similarity
    relu relu6 gelu silu mish elu selu celu leaky_relu prelu hardtanh hardswish hardsigmoid softplus softsign
    sigmoid logsigmoid tanh tanhshrink threshold glu exp exp2 expm1 log log2 log10 log1p sqrt rsqrt pow square
    reciprocal sin cos erf abs neg sign add sub mul div true_divide floor_divide addcmul addcdiv rsub fmod remainder
    lerp maximum minimum clamp clamp_min clamp_max where masked_fill sum mean prod var std norm amax amin argmax
    argmin logsumexp cumsum cumprod cummax cummin median nansum var_mean std_mean topk sort argsort gather scatter
    scatter_add index_add bincount histc max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d interpolate
    upsample_nearest2d upsample_bilinear2d scaled_dot_product_attention multi_head_attention_forward embedding_bag
    cross_entropy cross_entropy_loss nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy
    binary_cross_entropy_with_logits cosine_embedding_loss triplet_margin_loss hinge_embedding_loss cdist pdist lstm
    gru rnn_tanh rnn_relu lstm_cell gru_cell tril triu diagonal_scatter
""")
"""Tensor operators that do arithmetic: no allocation, copy, view or random number; no underscore, no `_out`."""
_HOMES = names("torch torch.nn.functional torch.linalg torch.special torch.ops.aten torch._C._nn")
DRAWS = re.compile(r"torch\.(?:randn?|randint|rand(?:n)?_like|randperm|normal)")
"""Functions of the library that draw random numbers."""
_METHODS = OPERATORS - names("add sub sort where sum dot fold topk pow")
"""Method names that only tensors have; the others belong to sets, lists and frames as well."""
_LAYERS = names("""
    torch.nn.Linear torch.nn.Bilinear torch.nn.Conv torch.nn.LSTM torch.nn.GRU torch.nn.RNN torch.nn.MultiheadAttention
    torch.nn.Transformer torch.nn.BatchNorm torch.nn.LayerNorm torch.nn.GroupNorm torch.nn.InstanceNorm torch.nn.RMSNorm
""")
_BUILDER = "torch.utils.cpp_extension."
_EXPECTED = frozenset({"KeyError", "IndexError", "StopIteration", "ImportError", "ModuleNotFoundError"})
_NARROW = frozenset(
    f"{home}.{kind}" for home in ("torch", "triton.language") for kind in ("float16", "bfloat16", "half")
) | {"triton.language.float8e5", "triton.language.float8e4nv"}
_NARROWS = frozenset({"half", "bfloat16"})
_TF32 = ("allow_tf32=True", "allow_tf32=1", "input_precision='tf32'")
_AUTOCAST_ON = "torch.is_autocast_enabled"
_AUTOCAST = frozenset({"torch.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast"})


def operator_name(reading: PythonReading, call: ast.Call) -> str | None:
    """Return the operator that a call of a Python source computes with, as the file writes it; None for no operator."""
    name = reading.name(call)
    home, _, last = name.rpartition(".")
    if home in _HOMES or home.startswith("torch.ops.aten."):
        return name if last.removesuffix("_") in OPERATORS else None
    if not isinstance(call.func, ast.Attribute) or home.split(".")[0] in reading.modules:
        return None
    method = call.func.attr
    return f".{method}()" if method.removesuffix("_") in _METHODS and home != "self" else None


@rule("kernels_ran")
def library_operator(reading: PythonReading) -> list[Spot]:
    """Does an operator or a layer of the library compute a result that no kernel of the file has part in?

    Silent outside `forward` and the functions it is built from, on allocation, copies and views, on functions of an
    extension that the file builds, and where such a kernel is reached, which `library_part` asks about.
    """
    return [] if _reaches_a_kernel(reading) else _library_operators(reading)


@rule("kernels_ran", standing="advice")
def library_part(reading: PythonReading) -> list[Spot]:
    """Does an operator or a layer of the library compute part of the result, beside kernels of the file?

    Silent where `library_operator` is.
    """
    return _library_operators(reading) if _reaches_a_kernel(reading) else []


def _reaches_a_kernel(reading: PythonReading) -> bool:
    """Return whether what models and entries call, or without these any function, names a kernel of the file."""
    models = [node for node in reading.nodes(ast.ClassDef) if node.name in ("Model", "ModelNew")]
    return bool(reading.own_kernels & reading.reached([*models, *reading.entries] or reading.functions))


def _library_operators(reading: PythonReading) -> list[Spot]:
    layers, built = _held(reading, *_LAYERS), _held(reading, _BUILDER)
    return [spot for function in reading.functions for spot in _of_function(reading, function, layers, built)]


def _of_function(reading: PythonReading, function: FunctionNode, layers: set[str], own: set[str]) -> list[Spot]:
    if function.name == "__init__":
        return []
    spots = []
    for node in ast.walk(function):
        if reading.function(node) is not function:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            spots.append(Spot(node.lineno, "@ computes part of the result in the library"))
        elif isinstance(node, ast.Call):
            written = reading.name(node)
            if written.rpartition(".")[0] in own:
                continue
            name = f"{written}()" if written in layers else operator_name(reading, node)
            spots += [Spot(node.lineno, f"{name} computes part of the result in the library")] if name else []
    return spots


def _held(reading: PythonReading, *makers: str) -> set[str]:
    """Return the names bound to a call of one of the makers: attributes as `self.linear`, variables as `extension`."""
    return {
        name
        for node in reading.nodes(ast.Assign)
        if isinstance(node.value, ast.Call) and reading.name(node.value).startswith(makers)
        for name in map(reading.name, node.targets)
    }


@rule("kernels_ran", standing="advice")
def fallback(reading: PythonReading) -> Iterator[Spot]:
    """Does an `except` let the library do what the kernel could not?

    Silent on handlers that raise again or return a constant, on missing keys and on missing modules.
    """
    for handler in reading.nodes(ast.ExceptHandler):
        holder = next(reading.ancestors(handler), None)
        tried = holder.body if isinstance(holder, ast.Try) and _catches_failures(reading, handler) else []
        if not _computes(reading, tried) or raises(handler.body):
            continue
        if _computes(reading, handler.body) or _returns(handler.body):
            text = "whatever fails above is caught here, and something else computes the result"
            yield Spot(handler.lineno, text)
        elif reading.function(handler) is not None and all(isinstance(each, ast.Pass) for each in handler.body):
            yield Spot(handler.lineno, "whatever fails above is caught here and passed over")


def _catches_failures(reading: PythonReading, handler: ast.ExceptHandler) -> bool:
    """Return whether it catches more than what a look-up or an import is expected to raise."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or reading.name(kind) not in _EXPECTED for kind in kinds)


def _computes(reading: PythonReading, body: list[ast.stmt]) -> bool:
    """Return whether statements call an operator, or return what a call gives."""
    calls = [node for each in body for node in inside(each, ast.Call)]
    operator = any(any(inside(each, ast.MatMult)) for each in body)
    return operator or any(operator_name(reading, call) for call in calls) or (_returns(body) and bool(calls))


def _returns(body: list[ast.stmt]) -> bool:
    """Return whether statements return something other than a constant."""
    returns = (node for each in body for node in inside(each, ast.Return))
    return any(node.value is not None and not isinstance(node.value, ast.Constant) for node in returns)


@rule("precision", precise=True)
def narrow_dtype(reading: PythonReading) -> list[Spot]:
    """Are values rounded to half, bfloat16 or TF32 on the way?

    Silent on comparisons of types, on allocation, on values just drawn, on `tl.dot` without a word about precision,
    under a condition on a parameter of the function or on torch's autocast, and in a file that asks for or allocates
    such a type, or widens what it loads: it works in the type of its inputs.
    """
    if _works_in_narrow(reading):
        return []
    found, drawn = dict[int, str](), _around_draws(reading)
    for call, name in reading.calls():
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = [*call.args, *(each.value for each in call.keywords)]
        if call.func in drawn or _is_asked_for(reading, call):
            continue
        if method in _NARROWS and not given and name != f"torch.{method}":
            found[call.lineno] = f".{method}()"
        elif method in ("to", "type", "astype", "cast") and (
            kind := next((reading.name(each) for each in given if reading.name(each) in _NARROW), None)
        ):
            found[call.lineno] = f".{method}({kind})"
        elif name in _AUTOCAST:
            found[call.lineno] = name
        elif name == "triton.language.dot" and any(ast.unparse(each) in _TF32 for each in call.keywords):
            found[call.lineno] = "a dot product in TF32"
    return [Spot(line, f"{result} rounds values to fewer bits than they came with") for line, result in found.items()]


def _is_asked_for(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether the call stands under a condition that the caller alone decides: a parameter that is not true by
    default, or torch's autocast."""
    function = reading.function(call)
    given = parameters_off(function) if function else set()
    tests = [each.test for each in reading.ancestors(call) if isinstance(each, ast.If)]
    named = any(isinstance(one, ast.Name) and one.id in given for one in tests)
    return named or any(isinstance(one, ast.Call) and reading.name(one) == _AUTOCAST_ON for one in tests)


def _around_draws(reading: PythonReading) -> set[ast.AST]:
    """Return the calls that draw random numbers, and every node around one."""
    found: set[ast.AST] = set()
    for call in reading.nodes(ast.Call):
        if DRAWS.fullmatch(reading.name(call)):
            found.update(takewhile(lambda node: node not in found, chain([call], reading.ancestors(call))))
    return found


def _works_in_narrow(reading: PythonReading) -> bool:
    """Return whether a type of few bits is what the file compares with or gives to what it makes."""
    compared = (side for node in reading.nodes(ast.Compare) for side in (node.left, *node.comparators))
    made = (each.value for node in reading.nodes(ast.Call) for each in node.keywords if each.arg == "dtype")
    named = any(reading.name(each) in _NARROW for each in (*compared, *made))
    return named or any(_is_widened_load(reading, call) for call in reading.nodes(ast.Call))


def _is_widened_load(reading: PythonReading, call: ast.Call) -> bool:
    """Return whether that is `tl.load(...).to(tl.float32)`, of values that came in fewer bits."""
    widened = isinstance(call.func, ast.Attribute) and call.func.attr == "to" and len(call.args) == 1
    loaded = isinstance(call.func, ast.Attribute) and reading.name(call.func.value) == "triton.language.load"
    return widened and loaded and reading.name(call.args[0]) == "triton.language.float32"
