# `make audit` sets everything up and audits the first claim; `make test` sets everything up and runs the tests,
# `make test-audits` those that audit whole claims.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin
READY := $(VENV)/.ready
CLAIM ?= triangular_mm
DEVICE ?= auto
OUT ?= out/archive
# Tests wait at times, for limits and for processes to start: one more runs than there are cores. Each worker takes
# 15 s of a core to collect all tests and to import torch.
TESTS_AT_ONCE ?= $(shell expr $$(nproc) + 1)
# Of the controls, the attacks and the tests that ask long lists: 2/3 is every third one, from the second on.
PART ?= 1/1
PYTEST = PART=$(PART) $(RUN)/python -m pytest -n $(TESTS_AT_ONCE) --dist loadfile --no-loadscope-reorder
# Where the environment forbids bytecode files, every process compiles the kit again, and each worker all tests.
export PYTHONDONTWRITEBYTECODE :=
# numpy's threads, one a core in every process, wait for work by spinning.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: audit test test-audits hostile self-test check doctor bench archive site clean
.DEFAULT_GOAL := audit

audit: $(READY)
	@$(RUN)/audit run $(CLAIM) --device $(DEVICE)

test: $(READY)
	@$(PYTEST) -m 'not audits and not hostile'

# Whole audits of claims; of PART K/N, every N-th file.
test-audits: $(READY)
	@$(PYTEST) -m audits

hostile: $(READY)
	@PART=$(PART) $(RUN)/python -m pytest -n 2 -m hostile tests/hostile/test_survival.py tests/hostile/test_attacks.py
	@$(RUN)/python -m tests.hostile.table

self-test: $(READY)
	@$(RUN)/audit self-test --device emulated --part $(PART) --against reports/self_test/emulated.json

check: $(READY)
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@$(RUN)/mypy

doctor: $(READY)
	@$(RUN)/audit doctor

bench: $(READY)
	@$(RUN)/python bench/emulated.py

# Every kernel of the AI CUDA Engineer archive, and the tables and pages; SCREEN takes options of bench/archive/archive_cases.py.
archive: $(READY)
	@test -d "$(KERNELS)" || { echo "name the folder of the kernels: make archive KERNELS=FOLDER OUT=out/archive"; exit 2; }
	@$(RUN)/python bench/archive/archive_cases.py "$(KERNELS)" "$(OUT)" $(SCREEN)
	@$(RUN)/python bench/audits.py "$(OUT)/cases.jsonl" "$(OUT)" --device emulated
	@$(RUN)/python bench/archive/results.py "$(KERNELS)" "$(OUT)"
	@$(RUN)/python bench/verdicts_parquet.py

site: $(READY)
	@$(RUN)/mkdocs build --strict

$(READY): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (once; a few minutes)"
	@$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info[:2] < (3, 14)' 2>/dev/null \
	  || { echo "Python 3.11 to 3.13 is needed; name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python cannot make virtual environments; on Debian: apt-get install python3-venv"; exit 1; }
	@command -v g++ >/dev/null || { echo "a C++ compiler is needed; on Debian: apt-get install g++"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(RUN)/pip install --disable-pip-version-check --progress-bar off -c constraints.txt 'torch==2.13.0' \
	  | { grep --line-buffered -E '^(Collecting|Successfully)' || true; }
	@$(RUN)/pip install --disable-pip-version-check --progress-bar off -c constraints.txt -e '.[dev]' \
	  | { grep --line-buffered -E '^(Collecting|Successfully)' || true; }
	@touch $@

clean:
	rm -rf $(VENV) out site
