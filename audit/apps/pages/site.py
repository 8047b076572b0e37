"""For the site of `docs/`: links that leave the folder lead to the repository. `mkdocs.yml` loads it as a hook."""

from __future__ import annotations

import re
from typing import Any

REPOSITORY = "https://github.com/kernel-claim-audit/kernel-claim-audit"
OUTSIDE = re.compile(r"(!?)(\[[^\]]*\]\()\.\./")
TEMPLATE = ("blob", "raw")
"""What the repository calls a page with a file, and the file itself, for a picture."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page with addresses in place of `../`."""
    return OUTSIDE.sub(lambda found: f"{found[1]}{found[2]}{REPOSITORY}/{TEMPLATE[bool(found[1])]}/main/", markdown)
