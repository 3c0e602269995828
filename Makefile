# Every target sets up what it needs: Python >= 3.11 and make are enough. PYTHON=... chooses another interpreter.
# DCOPT_DATA (a folder of LIBSVM files) is read from the environment; without it, smaller sets are used.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
OUT    ?= results

.DEFAULT_GOAL := help
.PHONY: help venv extras test slow-test test-min lint rooms docs reproduce bench bench-check bench-peers fuzz kills check-wheel check-extras since-tag clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The stamps are written last: an interrupted installation is started again, a finished one is not.
$(VENV)/.pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dcopt needs Python >= 3.11; try: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"   # the first with --group
	@touch $@

$(VENV)/.core: pyproject.toml $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.report: pyproject.toml $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable ".[plot,arrow]"
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

# One version of PyTorch, so that its build for the CPU is taken wherever the package index has one.
$(VENV)/.extras: pyproject.toml $(VENV)/.dev
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) "torch==2.13.0" "jax>=0.8" \
	  "dask[array,dataframe]>=2026.1" "distributed>=2026.1" "zarr>=3.1" "anndata>=0.12"
	@touch $@

extras: $(VENV)/.extras  ## PyTorch and JAX for the CPU, Dask, Zarr and anndata into .venv, so that no test is skipped for want of them

venv: $(VENV)/.dev  ## .venv with dcopt (editable) and the tools for development

test: $(VENV)/.dev  ## the tests, without the slow ones
	$(BIN)/python -m pytest -n $(JOBS)

slow-test: $(VENV)/.dev  ## the slow tests only
	$(BIN)/python -m pytest -n $(JOBS) -m slow

lint: $(VENV)/.dev  ## ruff, mypy --strict on src, the walls
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

rooms:  ## write the tables of rooms and walls in docs/architecture.md from pyproject.toml
	$(PYTHON) docs/rooms.py

$(VENV)/.docs: pyproject.toml $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

docs: $(VENV)/.docs  ## the site: docs/_build/html/index.html; the examples are run for its gallery
	$(BIN)/python docs/site/stage.py docs/_build/source
	$(BIN)/python -m sphinx -q -b html -W --keep-going -c docs/site docs/_build/source docs/_build/html
	@echo "open docs/_build/html/index.html"

# The tests that touch the packages below dcopt most. Two need newer ones than dcopt does: array-api-strict for another NumPy, and
# scikit-learn where its own arguments have changed.
MIN_TESTS := $(addprefix conformance/test_,losses.py regularizers.py rows.py convex.py subsolvers.py) learn store data/test_dense.py \
  data/test_datasets.py house/test_import.py
.venv-min/.done: pyproject.toml constraints-min.txt
	$(PYTHON) -m venv .venv-min
	.venv-min/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-min/bin/python -m pip install --quiet --constraint constraints-min.txt --editable ".[plot,arrow,cvxpy]"
	.venv-min/bin/python -m pip install --quiet --constraint constraints-min.txt pytest pytest-xdist hypothesis safetensors \
	  array-api-strict pandas polars
	@touch $@

test-min: .venv-min/.done  ## a part of the tests with the least versions of all dependencies (constraints-min.txt), Python 3.11
	.venv-min/bin/python -m pip check
	.venv-min/bin/python -m pytest -n $(JOBS) $(addprefix tests/,$(MIN_TESTS)) -k "not text_is_array_api and not those_of_scikit_learn"

check-wheel: $(VENV)/.dev  ## sdist and wheel in dist/, the wheel in a bare environment: pip check, README, seconds of the import
	$(BIN)/python packaging/check_wheel.py

check-extras: $(VENV)/.dev  ## every extra by itself in an environment of its own; EXTRAS="plot arrow"
	$(BIN)/python packaging/check_extras.py $(EXTRAS)

# QUICK=1: a small version, in OUT-quick. FORCE=1: start over where a report exists. Cut off, it continues.
reproduce: $(VENV)/.report  ## the paper's experiments: results/report.html
	$(BIN)/dcopt reproduce all --jobs $(JOBS) $(if $(QUICK),--quick --out $(OUT)-quick,--out $(OUT)) $(if $(FORCE),--force)

bench: $(VENV)/.core  ## time one step and the first solve
	$(BIN)/python benchmarks/run.py

bench-check: $(VENV)/.core  ## what has become slower than the kept ratios; KEEP=1 keeps those of now
	$(BIN)/python benchmarks/check.py $(if $(KEEP),--keep)

since-tag: $(VENV)/.core  ## seconds of now beside those of the last tag, in turns; REF=another commit
	$(BIN)/python benchmarks/since_tag.py $(REF)

.venv-peers/.done: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet -e . benchopt skglm celer scikit-learn pycasso python-glmnet glum snapml cyanure
	.venv-peers/bin/pip install --quiet --no-deps adelie
	@touch $@

bench-peers: .venv-peers/.done  ## against other solvers, for hours, continued where it was cut off; THREADS=2
	.venv-peers/bin/python benchmarks/peers/table.py --out $(OUT)-peers.jsonl --threads $(or $(THREADS),1)
	.venv-peers/bin/python benchmarks/peers/table.py --out $(OUT)-peers.jsonl --report

fuzz: $(VENV)/.dev  ## mutated LIBSVM files against a reference parser; CASES=1000000
	$(BIN)/python tests/fuzz_libsvm.py --cases $(or $(CASES),1000000)

kills: $(VENV)/.extras  ## workers of a Dask cluster killed at random moments; KILLS=50
	$(BIN)/python tests/kill_workers.py --kills $(or $(KILLS),50)

clean:  ## remove the virtual environment, caches and builds
	rm -rf $(VENV) .venv-peers .venv-min build dist docs/_build .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
