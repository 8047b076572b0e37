"""A CUDA extension that a Python source builds from texts: its key, and one equivalent `.cu` unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.build.cache import key_of
from audit.review.rules.python.undeclared_binding import SECOND_MODULE, defines_module, refusal, undeclared
from audit.review.token_scan import mask

_OF_CPP = "#include <torch/extension.h>\n"
"""What torch puts before `cpp_sources`. Without it `torch::cuda` is `at::cuda`."""
_HEADERS = "#include <torch/types.h>\n#include <cuda_runtime.h>\n"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_EXTENSION = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]torch/extension\.h[>\"][ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class InlineCuda:
    """The arguments of one call of torch's `load_inline`.

    Attributes:
        line: the line of the call.
        cpp: texts of `cpp_sources`, in order.
        cuda: texts of `cuda_sources`, in order.
        functions: names bound for Python; None where the sources bind them themselves.
        cuda_line: the first line of the only CUDA text; None where there are several or it is no literal.
        macros: flags of nvcc that define macros or take them back, as far as they are constants.
    """

    line: int
    cpp: tuple[str, ...]
    cuda: tuple[str, ...]
    functions: tuple[str, ...] | None
    cuda_line: int | None
    macros: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of the texts: a call with other texts at run time is another extension."""
        return key_of(self.cpp, self.cuda, self.functions)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The names that torch binds and `cpp_sources` do not declare: torch cannot build the extension."""
        return () if self.functions is None else undeclared(self.cpp, self.functions)

    @property
    def refusal(self) -> str:
        """Why torch's builder cannot build it, in one sentence; empty if no reason is known."""
        twice = self.functions is not None and defines_module((*self.cpp, *self.cuda))
        return refusal(self.undeclared) or (SECOND_MODULE if twice else "")

    @property
    def unit(self) -> tuple[str, bool]:
        """The texts and their binding as one source, and whether its lines are those of the Python file.

        torch compiles the two kinds of texts separately; here the declarations come first if they fit above the CUDA
        text, so that every line keeps its number. Else, and where they are no mere declarations, they come last, and
        their includes first: a device inserts text after the last include of a unit, which must precede all code.
        """
        cpp, cuda = _EXTENSION.sub("", "\n".join(self.cpp)), "\n".join(self.cuda)
        above = f"{_HEADERS}{cpp}\n"
        missing = None if self.cuda_line is None else self.cuda_line - 1 - above.count("\n")
        if (missing is not None and missing < 0) or (cuda and "{" in mask(cpp).masked):
            included = [
                line for line in _INCLUDE.findall(cpp) if "".join(line.split()) not in _HEADERS.replace(" ", "")
            ]
            above = "".join([_HEADERS, *(f"{line}\n" for line in included)])
            missing = None if self.cuda_line is None else self.cuda_line - 1 - above.count("\n")
            cuda = f"{cuda}\n{_OF_CPP}{_INCLUDE.sub('', cpp)}"
        exact = missing is not None and missing >= 0
        return f"{above}{chr(10) * (missing or 0)}{cuda}\n{self._binding}", exact

    @property
    def _binding(self) -> str:
        if self.functions is None:
            return ""
        bound = "".join(f'    m.def("{name}", &{name}, "{name}");\n' for name in self.functions)
        return f"\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{bound}}}\n"
