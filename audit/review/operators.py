"""Tensor operators of the library that do arithmetic: no allocation, copy, view or random number."""

from __future__ import annotations

import ast
import re

from audit.review.python_reading import PythonReading
from audit.review.rule import names

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
"""Without in-place underscore and `_out`."""
_HOMES = names("torch torch.nn.functional torch.linalg torch.special torch.ops.aten torch._C._nn")
DRAWS = re.compile(r"torch\.(?:randn?|randint|rand(?:n)?_like|randperm|normal)")
"""Functions of the library that draw random numbers."""
_METHODS = OPERATORS - names("add sub sort where sum dot fold topk pow")
"""Method names that only tensors have; the others belong to sets, lists and frames as well."""


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
