"""Pages follow from record, figures and formats alone: the many forged bundles of one record share them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pytest

from audit import report
from audit.model import Record
from audit.report.formats import Format
from audit.report.view import Figure

Pages = dict[str, bytes]


@pytest.fixture(autouse=True, scope="module")
def _pages_once() -> Iterator[None]:
    made: dict[object, Pages] = {}
    make = report.pages

    def pages(
        record: Record, drawn: Iterable[Figure], wanted: Mapping[str, tuple[Format, str]], sources: Mapping[str, str]
    ) -> Pages:
        figures = tuple(drawn)
        key = (record.model_dump_json(), repr(figures), tuple(wanted), tuple(sources.items()))
        if key not in made:
            made[key] = make(record, figures, wanted, sources)
        return dict(made[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "pages", pages)
        yield
