# why fine: a Triton program computes the loss of a row; torch only adds the rows and divides by those that count
import torch
import triton
import triton.language as tl


@triton.jit
def row_loss(logits, target, losses, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    base = logits + row * classes
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, classes, BLOCK):
        at = start + lanes
        top = tl.maximum(top, tl.load(base + at, mask=at < classes, other=float("-inf")))
    peak = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, classes, BLOCK):
        at = start + lanes
        value = tl.load(base + at, mask=at < classes, other=float("-inf"))
        total += tl.exp(value - peak)
    label = tl.load(target + row)
    keep = label != -100
    picked = tl.load(base + tl.where(keep, label, 0))
    loss = tl.log(tl.sum(total, axis=0)) - (picked - peak)
    tl.store(losses + row, tl.where(keep, loss, 0.0))


def forward(logits, target):
    logits = logits.contiguous()
    target = target.contiguous()
    assert logits.dtype == torch.float32 and target.dtype == torch.int64
    rows, classes = logits.shape
    losses = torch.empty(rows, device=logits.device, dtype=torch.float32)
    row_loss[(rows,)](logits, target, losses, classes, BLOCK=512)
    counted = (target != -100).sum()
    return (losses.sum(dtype=torch.float64) / counted).to(torch.float32)
