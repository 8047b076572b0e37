"""Writes every page: `python -m audit.pages`."""

from __future__ import annotations

from audit.pages import ROOT, pages, stale

if __name__ == "__main__":
    made = pages()
    for path in stale():
        target = ROOT / path
        if path not in made:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(made[path], encoding="utf-8")
        print(path)
