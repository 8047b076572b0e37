"""Writes every page: `python -m audit.apps.pages`."""

from __future__ import annotations

from audit.apps.pages import ROOT, pages, stale

if __name__ == "__main__":
    made = pages()
    for path in stale():
        (ROOT / path).write_text(made[path], encoding="utf-8")
        print(path)
