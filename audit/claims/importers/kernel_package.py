"""A package of Hugging Face's kernel builder as one Python source: its functions, and `ops` out of `build.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence

from audit.claims.importers import entries, joined, joined_python, module_task, solutions
from audit.claims.importers.facts import Original
from audit.claims.importers.material import Material
from audit.model.errors import BadInput

BUILD, OPS, STABLE = "build.toml", "_ops", "STABLE_TORCH_LIBRARY_EXPAND"
REGISTRATION = """#pragma once
#include <cstring>
#include <torch/extension.h>
struct AuditedOps {
  pybind11::module_& bound;
  c10::DeviceType here;
  template <class... More> void def(const char*, More...) {}
  template <class Result, class... Taken> void def(const char* schema, Result (*function)(Taken...)) {
    impl(std::string(schema, std::strcspn(schema, "(")).c_str(), function);
  }
  template <class Function> void impl(const char* name, Function function) { bound.def(name, function); }
  template <class Function> void impl(const char* name, c10::DeviceType device, Function function) {
    if (device == here) impl(name, function);
  }
};
#define TORCH_LIBRARY_EXPAND(NAME, OPS)                                          \\
  static void audited_ops(AuditedOps&& OPS);                                     \\
  PYBIND11_MODULE(NAME, bound) { audited_ops(AuditedOps{bound, torch::kCUDA}); } \\
  static void audited_ops(AuditedOps&& OPS)
#define REGISTER_EXTENSION(NAME)
"""
"""Stands for the builder's `registration.h`: what is registered for CUDA tensors is bound for Python."""
_LIBRARY = re.compile(r"#[ \t]*include[ \t]*<torch/library\.h>")
_SCHEMA = re.compile(r'\.def\(\s*((?:"[^"\\\n]*"\s*)+)')
_PARAMETER = re.compile(r"(\w+)\s*(=\s*[\w.+-]+)?\s*")


def read(material: Material, functions: Sequence[str]) -> tuple[str, str, list[Original]]:
    """Return the package's name, its source as far as those functions need it, and every file that it was made of.
    Raises BadInput: a build file that is none, a file that is not there, or what one file cannot hold."""
    build = material.only([material.original(name) for name in material.named(BUILD)], what=BUILD)
    try:
        stated = tomllib.loads(build.data.decode())
        name = str(stated["general"]["name"])[:60]
        kernels = stated.get("kernel", {}).values()
        tables = [stated.get("torch", {}), *(one for one in kernels if one["backend"] == "cuda")]
        sources, needs = ({str(one) for table in tables for one in table.get(key, ())} for key in ("src", "depends"))
        flags = [str(one) for table in tables for key in ("cuda-flags", "cxx-flags") for one in table.get(key, ())]
    except (tomllib.TOMLDecodeError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(f"{build.published_as}: not read as a build file ({str(error)[:80]})") from error
    python = joined_python.Joined(material.data, joined_python.place_in(material.files), stands=OPS)
    python.take(_found(material, f"{name.replace('-', '_')}/__init__.py"), functions)
    if python.asked and needs - {"torch"}:
        raise BadInput(f"{build.published_as}: the sources need {min(needs - {'torch'})}, which is not in the folder")
    files = [_found(material, path) for path in sorted(sources)] if python.asked else []
    texts = {file: material.data(file).decode() for file in files}
    built = [_extension(texts, list(dict.fromkeys(flags)), module_task.named_after(name))] if texts else []
    used = [build, *(material.original(one) for one in (*python.files, *texts))]
    kept = [Original(solutions.flattened(one.published_as, BUILD), one.data, one.published_as) for one in used]
    return name, "\n".join([*built, *python.texts.values(), ""]), kept


def _extension(sources: Mapping[str, str], flags: Sequence[str], name: str) -> str:
    """Return Python that builds the sources as one extension, and `ops` with the parameters of their schemas."""
    for file, source in sources.items():
        if STABLE in source:
            raise BadInput(f"{file}: {STABLE} registers by the stable ABI; register by TORCH_LIBRARY_EXPAND")
    text = _LIBRARY.sub("", joined.joined({**sources, "registration.h": REGISTRATION}))
    macros = [flag[2:].partition("=") for flag in ("-DCUDA_KERNEL", *flags) if flag.startswith("-D")]
    defined = "".join(f"#define {macro} {value or 1}\n" for macro, _, value in macros)
    cuda = [flag for flag in flags if not flag.startswith("-D")]
    built = entries.inline(defined + text, cpp="", name=name, functions=None, flags=cuda).decode()
    schemas = ["".join(re.findall(r'"([^"]*)"', found)) for found in _SCHEMA.findall(text)]
    return f"{built}\n\nclass ops:\n" + "\n".join(filter(None, map(_bound, schemas))) + "\n\n"


def _bound(schema: str) -> str:
    """Return a function of `ops`: `scale(Tensor! out, *, float by=1.0) -> ()` becomes `scale(out, *, by=1.0)`."""
    name, _, rest = (part.strip() for part in schema.partition("("))
    if not rest:
        return f"    {name} = _EXTENSION.{name}\n" if entries.plain_name(name) else ""
    listed = [one.strip() for one in rest.rpartition("->")[0].strip().rstrip(")").split(",") if one.strip()]
    found = [_PARAMETER.fullmatch(one.rpartition(" ")[2]) for one in listed if one != "*"]
    names = [one[1] if one else "" for one in found]
    if not all(map(entries.plain_name, (name, *names))):
        raise BadInput(f"{BUILD}: the schema {schema[:60]} is not read; write its parameters as type and name")
    given = ", ".join(one.rpartition(" ")[2] for one in listed)
    return f"    @staticmethod\n    def {name}({given}):\n        return _EXTENSION.{name}({', '.join(names)})\n"


def _found(material: Material, path: str) -> str:
    """Return the name of the file that a path of the package means, however much of the path was named."""
    names = [one for one in material.files if f"/{one}".endswith(f"/{path}") or f"/{path}".endswith(f"/{one}")]
    if len(names) != 1:
        raise BadInput(f"{material.where}: {len(names) or 'no'} files {path}; give the whole folder")
    return names[0]
