# why fine: the definition in plain torch operators, and claim.toml says that it is no kernel of its own.
import torch


def forward(x, weight, bias):
    mean = x.mean(dim=1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(dim=1, keepdim=True)
    return centred * torch.rsqrt(variance + 1e-5) * weight + bias
