"""The stages of a funnel, one a file, from the cheapest to the dearest. The table is their order."""

from __future__ import annotations

from audit.apps.funnel.stage import Stage
from audit.apps.funnel.stages import emulated, gpu, lint, review

STAGES: tuple[Stage, ...] = (lint.STAGE, review.STAGE, emulated.STAGE, gpu.STAGE)
