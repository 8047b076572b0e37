"""Transposed 2D convolution of a wide image with a square kernel."""
import torch

batch_size = 16
in_channels = 32
out_channels = 64
kernel_size = 3
height_in = 128
width_in = 256

def module_fn(x, weight, bias, stride, padding, output_padding, groups):
    return torch.nn.functional.conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.ConvTranspose2d(in_channels, out_channels, kernel_size, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, 1, 0, 0, 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, height_in, width_in)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
