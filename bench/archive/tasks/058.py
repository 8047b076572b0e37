"""Transposed 3D convolution with unequal sides of volume and kernel."""
import torch

batch_size = 16
in_channels = 32
out_channels = 16
kernel_size = (3, 5, 7)
depth_in = 16
height_in = 32
width_in = 64

def module_fn(x, weight, bias, stride, padding, output_padding, groups):
    return torch.nn.functional.conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, (1, 1, 1), (0, 0, 0), (0, 0, 0), 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, depth_in, height_in, width_in)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
