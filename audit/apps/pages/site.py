"""For the site of `docs/`, which `mkdocs.yml` loads as a hook: executed notebooks as pages, links out of the folder."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

REPOSITORY = "https://github.com/kernel-claim-audit/kernel-claim-audit"
EXECUTED = Path("reports/notebooks")
OUTSIDE = re.compile(r"(!?)(\[[^\]]*\]\()\.\./")
AS_RUN = re.compile(rf"(\[[^\]]*\]\()\.\./{EXECUTED}/(\w+)\.ipynb\)")
NOT_HERE = re.compile(r"\[([^\]]+)\]\(<[^>]*>\)")
"""A link to a file that the run wrote beside its notebook."""
OF_PANDAS = re.compile(r'<style scoped>.*?</style>\s*|(?<=<table) border="1" class="dataframe"', re.DOTALL)
"""What keeps a table of pandas from looking, and scrolling, as the others of the site."""
TEMPLATE = ("blob", "raw")
"""What the repository calls a page with a file, and the file itself, for a picture."""


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each executed notebook, and its pictures."""
    from mkdocs.structure.files import File

    for path in sorted((Path(config["config_file_path"]).parent / EXECUTED).glob("*.ipynb")):
        text, pictures = page(path)
        files.append(File.generated(config, f"notebooks/{path.name.replace('.ipynb', '.md')}", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    return files


def page(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """Return an executed notebook as Markdown, and its pictures by their names beside it."""
    exporters: Any = import_module("nbconvert")  # its classes have no types
    convert = exporters.MarkdownExporter(
        raw_template=Path(__file__).with_name("notebook.md.j2").read_text(encoding="utf-8")
    )
    text, about = convert.from_filename(str(notebook), resources={"unique_key": notebook.stem, "output_files_dir": "."})
    place = f"{REPOSITORY}/blob/main/{EXECUTED}/{notebook.name}"
    head = f"# {notebook.stem}, as it ran\n[This notebook with its outputs]({place})\n\n"
    shown = OF_PANDAS.sub("", NOT_HERE.sub(r"\1", text)).replace("<details>", '<details markdown="1">')
    return head + shown, about["outputs"]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page with links to the pages of executed notebooks, and addresses in place of any other `../`."""
    return OUTSIDE.sub(lambda found: f"{found[1]}{found[2]}{REPOSITORY}/{TEMPLATE[bool(found[1])]}/main/",
                       AS_RUN.sub(r"\1notebooks/\2.md)", markdown))  # fmt: skip
