"""Strided, padded, grouped transposed 3D convolution with unequal sides of volume and kernel."""
import torch

batch_size = 16
in_channels = 32
out_channels = 64
kernel_size = (3, 5, 7)
depth = 16
height = 32
width = 64
stride = (2, 2, 2)
padding = (1, 2, 3)
output_padding = (1, 1, 1)
groups = 4

def module_fn(x, weight, bias, stride, padding, output_padding, groups):
    return torch.nn.functional.conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.ConvTranspose3d(in_channels, out_channels, kernel_size, groups=groups, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, stride, padding, output_padding, groups)

def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
