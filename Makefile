# On a fresh machine with Python 3.11 or later and make: `make demo` does the main job, `make test` runs the tests.
# Both make the environment .venv, and make it again only when pyproject.toml has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RESULTS := runs/demo
PYTEST := $(BIN)/python -m pytest
CORES ?= auto
CLIENTS := fmuloader,fmutool,libcosimpy,pathsim

.PHONY: help demo test test-slow lint docs clean

help:
	@echo "make demo       model file -> FMU -> FMPy under a controller -> report, in $(RESULTS)"
	@echo "make test       the tests, without the long sweeps"
	@echo "make test-slow  the long sweeps"
	@echo "make lint       ruff and pyright"
	@echo "make docs       the pictures of the documentation"
	@echo "make clean      remove $(VENV) and caches of tools"
	@echo "source $(BIN)/activate  then gives the mbdy and python of $(VENV)"

demo: $(VENV)/.installed
	$(BIN)/mbdy demo --folder $(RESULTS)

test: $(VENV)/.installed
	$(PYTEST) -q -n $(CORES) -m "not slow"

test-slow: $(VENV)/.installed
	$(PYTEST) -q -n $(CORES) -m slow; status=$$?; [ $$status -eq 5 ] || exit $$status

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.installed
	$(BIN)/python docs/figures.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; say which: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[$(CLIENTS)]" --group test --group clients
	$(BIN)/python -m pip install --quiet --no-deps cofmupy==1.0.0
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@
