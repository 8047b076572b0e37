"""Texts of strangers stay what they are in the files we write."""

from __future__ import annotations

import ast
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from audit.claims.importers import entries, writer

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TEXTS)
def test_a_toml_string_reads_back(text: str) -> None:
    assert tomllib.loads(f"key = {writer.quoted(text)}") == {"key": text}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TEXTS | st.text("'\\\n\"r", max_size=20))
def test_a_python_literal_reads_back(text: str) -> None:
    written = entries.literal(text)
    assert ast.literal_eval(written) == text
    assert written.count("\n") in (0, text.count("\n"))
