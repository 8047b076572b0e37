"""The rules of source review, one a file; `named_calls` holds those that names of calls decide alone.

The two lists are what is asked, in this order.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from audit.review.cuda_reading import CudaReading
from audit.review.python_reading import PythonReading
from audit.review.rule import Rule
from audit.review.rules.cuda import named_calls as cuda_calls
from audit.review.rules.python import named_calls as python_calls

_CUDA = """
launch_geometry floor_grid tail_guard shared_extent dynamic_shared missing_barrier divergent_collective volatile_warp
unread_input unwritten_output adds_to_uninitialised writes_input static_cache call_counter graph_replay fixed_shape
value_dispatch library_call unlaunched_kernel cast_down backend_flags side_stream threads self_timing cache_control
process_state file_access legacy_stream unchecked_launch layout
"""
_PYTHON = """
fallback undeclared_binding library_operator triton_grid unmasked_access unused_input fresh_result input_mutation
result_cache last_call call_count cuda_graph file_cache seed_replay shape_branch value_branch training_branch
loose_weights narrow_dtype backend_settings torch_stream child_process own_timing patched_names tensor_subclass
harness_sniffing heap_scan dynamic_code
"""


def _of_file(name: str) -> Any:
    """Return the rule of a file in this folder."""
    return import_module(f"{__name__}.{name}").RULE


CUDA: tuple[Rule[CudaReading], ...] = tuple(
    cuda_calls.RULES.get(name) or _of_file(f"cuda.{name}") for name in _CUDA.split()
)
PYTHON: tuple[Rule[PythonReading], ...] = tuple(
    python_calls.RULES.get(name) or _of_file(f"python.{name}") for name in _PYTHON.split()
)
_ALL: tuple[Rule[Any], ...] = (*CUDA, *PYTHON)
RULES: dict[str, Rule[Any]] = {rule.name: rule for rule in _ALL}
"""Every rule by its name, which is unique."""
