# Every target sets up what it needs: Python >= 3.11 and make are enough. PYTHON=... chooses another interpreter.
# DCOPT_DATA (a folder of LIBSVM files) is read from the environment; without it, smaller sets are used.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
OUT    ?= results

.DEFAULT_GOAL := help
.PHONY: help venv extras test slow-test lint rooms docs reproduce bench bench-check bench-peers fuzz clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) "torch==2.13.0" "jax>=0.8"
	@touch $@

extras: $(VENV)/.extras  ## PyTorch and JAX for the CPU into .venv, so that no test is skipped for want of them

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

# QUICK=1: a small version, in OUT-quick. FORCE=1: start over where a report exists. Cut off, it continues.
reproduce: $(VENV)/.report  ## the paper's experiments: results/report.html
	$(BIN)/dcopt reproduce all --jobs $(JOBS) $(if $(QUICK),--quick --out $(OUT)-quick,--out $(OUT)) $(if $(FORCE),--force)

bench: $(VENV)/.core  ## time one step and the first solve
	$(BIN)/python benchmarks/run.py

bench-check: $(VENV)/.core  ## what has become slower than the kept ratios; KEEP=1 keeps those of now
	$(BIN)/python benchmarks/check.py $(if $(KEEP),--keep)

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

clean:  ## remove the virtual environment, caches and builds
	rm -rf $(VENV) .venv-peers build dist docs/_build .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
