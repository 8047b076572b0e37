# why fine: masked blocks within a row, arithmetic in float32, one rounding to float16 at the end
import torch
import triton
import triton.language as tl


@triton.jit
def bias_gelu(x_ptr, bias_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < cols
    x = tl.load(x_ptr + row * cols + at, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias_ptr + at, mask=mask, other=0.0).to(tl.float32)
    v = x + b
    y = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(y_ptr + row * cols + at, y.to(tl.float16), mask=mask)


def forward(x, bias):
    x = x.contiguous()
    bias = bias.contiguous()
    assert x.dtype == torch.float16 and bias.dtype == torch.float16
    rows, cols = x.shape
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    block = 256
    bias_gelu[(rows, triton.cdiv(cols, block))](x, bias, y, cols, BLOCK=block)
    return y
