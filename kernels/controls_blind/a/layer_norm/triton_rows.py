# mechanism: dropped parameter: the bias is accepted and never added.
import torch
import triton
import triton.language as tl


@triton.jit
def _layer_norm(x_ptr, w_ptr, y_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    keep = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=keep, other=0.0)
    mean = tl.sum(x, axis=0) / cols
    centred = tl.where(keep, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / cols
    w = tl.load(w_ptr + c, mask=keep, other=0.0)
    tl.store(y_ptr + row * cols + c, centred / tl.sqrt(variance + eps) * w, mask=keep)


def forward(x, weight, bias):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    assert bias.shape == weight.shape
    rows, cols = x.shape
    y = torch.empty_like(x)
    _layer_norm[(rows,)](x, weight, y, cols, 1e-5, BLOCK=triton.next_power_of_2(cols), num_warps=8)
    return y
