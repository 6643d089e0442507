# The two commands of the README are `make demo` and `make test`; both work on a fresh clone with Python >= 3.11 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO ?= demo

# Another BLAS kernel, no vector units for NumPy and Numba, one thread, another order: what holds here holds on other machines.
BLAS ?= Sandybridge
SEED ?= $(shell date +%s)
ELSEWHERE = OPENBLAS_CORETYPE=$(BLAS) NUMBA_CPU_NAME=generic QED_THREADS=1 \
	NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python -c 'import numpy as np; print(*np._core._multiarray_umath.__cpu_dispatch__)')"

# Two workers on two cores: a second thread of BLAS would only wait for the first, in what the tests themselves compute (fits hold BLAS
# to one thread). Byte code is kept, so that the many processes that tests start need not compile the house again.
PYTEST = OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 2 --no-loadscope-reorder
# Of scikit-learn's checks, those that compare numbers: the others see the same on every machine. A cluster does what this process does.
NUMBERS = (not scikit_learn_check and not cluster) or (equivalence or check_methods or idempotent or train or transformer_general) and not readonly

.PHONY: help demo test test-portable test-all lint format docs bench clean

help:
	@echo "make demo      compare models on a bundled table and write a report"
	@echo "make test      run the tests (under 15 minutes on two cores), a part of them as on another machine"
	@echo "make test-all  run the long tests too"
	@echo "make lint      check style and types"
	@echo "make docs      build the documentation into docs/_build/html"
	@echo "make bench     measure against the peers and write docs/benchmarks.md"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("qed needs Python 3.11 or newer; set PYTHON=/path/to/it") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, renewed when the project file changes.
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[$*]'
	@touch $@

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

demo: $(VENV)/.installed
	@mkdir -p $(DEMO)
	$(BIN)/qed compare penguins --target species --report $(DEMO)/report.html --model $(DEMO)/best.qed --force
	@echo "Open $(DEMO)/report.html in a browser; the best model is in $(DEMO)/best.qed."

test: $(VENV)/.test
	$(PYTEST)
	$(MAKE) test-portable

test-portable: $(VENV)/.test
	$(ELSEWHERE) $(PYTEST) --shuffle $(SEED) -k "$(NUMBERS)" --ignore tests/conformance/test_bad_input.py --ignore tests/conformance/test_passes.py \
		tests/reference tests/conformance tests/stats

test-all: $(VENV)/.test
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m ""

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html."

bench: $(VENV)/.bench
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) $(DEMO) docs/_build docs/gallery docs/course docs/api/rooms docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
