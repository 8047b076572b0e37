"""The rules of source review: a function each, in a file with those of its subject.

A row of `named_calls.toml` is a rule that names of calls decide alone. The two tables are what is asked, in this order.
"""

from __future__ import annotations

from typing import Any

from audit.review.cuda_reading import CudaReading
from audit.review.python_reading import PythonReading
from audit.review.rule import Rule
from audit.review.rules import named_calls
from audit.review.rules.cuda import (
    dispatch,
    grids,
    host_calls,
    launches,
    library,
    static_state,
    synchronisation,
    tensors,
)
from audit.review.rules.cuda.float_index import float_index
from audit.review.rules.python import branches, caches, inputs, operators, process_state, triton
from audit.review.rules.python.undeclared_binding import second_module, undeclared_binding

CUDA: tuple[Rule[CudaReading], ...] = (
    grids.launch_geometry,
    grids.floor_grid,
    grids.tail_guard,
    launches.shared_extent,
    float_index,
    launches.dynamic_shared,
    synchronisation.missing_barrier,
    synchronisation.divergent_collective,
    synchronisation.partial_collective,
    synchronisation.volatile_warp,
    tensors.unread_input,
    tensors.unwritten_output,
    tensors.adds_to_uninitialised,
    tensors.writes_input,
    static_state.static_cache,
    static_state.call_counter,
    named_calls.CUDA["graph_replay"],
    dispatch.fixed_shape,
    dispatch.value_dispatch,
    library.library_call,
    library.library_step,
    launches.unlaunched_kernel,
    host_calls.cast_down,
    host_calls.backend_flags,
    host_calls.side_stream,
    named_calls.CUDA["threads"],
    named_calls.CUDA["self_timing"],
    host_calls.cache_control,
    named_calls.CUDA["process_state"],
    named_calls.CUDA["environment_read"],
    named_calls.CUDA["file_access"],
    launches.legacy_stream,
    launches.unchecked_launch,
    host_calls.layout,
)
PYTHON: tuple[Rule[PythonReading], ...] = (
    operators.fallback,
    undeclared_binding,
    second_module,
    operators.library_operator,
    operators.library_part,
    triton.triton_grid,
    triton.tuning_trials,
    triton.unmasked_access,
    inputs.unused_input,
    inputs.fresh_result,
    inputs.input_mutation,
    caches.result_cache,
    caches.last_call,
    branches.call_count,
    named_calls.PYTHON["cuda_graph"],
    named_calls.PYTHON["file_cache"],
    named_calls.PYTHON["seed_replay"],
    branches.shape_branch,
    branches.value_branch,
    branches.training_branch,
    inputs.loose_weights,
    operators.narrow_dtype,
    process_state.backend_settings,
    named_calls.PYTHON["torch_stream"],
    named_calls.PYTHON["child_process"],
    named_calls.PYTHON["own_timing"],
    process_state.patched_names,
    process_state.tensor_subclass,
    process_state.harness_sniffing,
    named_calls.PYTHON["environment_variable"],
    named_calls.PYTHON["heap_scan"],
    named_calls.PYTHON["dynamic_code"],
)
_ALL: tuple[Rule[Any], ...] = (*CUDA, *PYTHON)
RULES: dict[str, Rule[Any]] = {rule.name: rule for rule in _ALL}
"""Every rule by its name, which is unique."""
