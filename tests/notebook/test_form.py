"""A form takes what it knows, of the right type, and says in one sentence what it does not take."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from audit.apps.notebook.claim import ClaimForm, KernelForm, start_kernel
from audit.apps.notebook.form import AuditForm, folder, injected
from audit.model.errors import BadInput


def test_it_takes_its_fields() -> None:
    form = ClaimForm.read(
        claim="triangular_mm", device="emulated", language="ja", out="", copy_to="", interactive=False
    )
    assert str(folder(form, form.claim)) == "out/triangular_mm"
    assert str(folder(AuditForm.read(out="there"), "x")) == "there"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"claim": 7}, "parameter claim: Input should be a valid string; it is 7: in a parameters file quote it"),
        ({"claim": 2.1}, "it is 2.1: in a parameters file quote it, for unquoted 2.10 is read as 2.1"),
        ({"claim": "x", "device": "abacus"}, "parameter device: Input should be 'auto', 'cuda' or 'emulated'"),
        ({"claim": "x", "language": "de"}, "parameter language"),
        ({"claim": "x", "interactive": "false"}, "parameter interactive: Input should be a valid boolean"),
        ({"claim": "x", "colour": "blue"}, "parameter colour"),
        ({}, "parameter claim: Field required"),
    ],
)
def test_one_sentence(fields: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        ClaimForm.read(**fields)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value._render_traceback_() == [f"audit: {caught.value}"], "no traceback in a notebook"


def test_what_papermill_set_and_the_form_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = ["x = 1", '# Parameters\nclaim = "a"\ndevise = "cuda"\n']
    assert injected(cells) == ["claim", "devise"]
    shell = SimpleNamespace(user_ns={"In": cells})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with pytest.raises(BadInput, match=r"parameter devise: unknown; known: .*device"):
        ClaimForm.read(claim="a")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kernel": "no_such.cu"}, "no_such.cu"),
        ({"upload": True, "interactive": False}, "parameter upload"),
    ],
)
def test_a_kernel_that_is_not_there(fields: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        start_kernel(KernelForm.read(**fields))
