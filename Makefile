# On a fresh machine with Python 3.11 or later and make: `make demo` does the main job, `make test` runs the tests.
# Both make the environment .venv, the demo with what mbdy itself needs, the tests with all; and make it again only when
# pyproject.toml has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RESULTS := runs/demo
PYTEST := $(BIN)/python -m pytest
CORES ?= auto
NATIVE := $(if $(shell command -v cc || command -v gcc || command -v clang),,[native])
CLIENTS := fmuloader,fmutool,libcosimpy,pathsim,rig
# Quick tests that call every dependency: units, files, tables, commands, plots, modes, FMUs, packages.
SMOKE := tests/test_rooms.py tests/engine/test_units.py tests/engine/test_files.py tests/engine/test_flexible_sources.py \
	tests/engine/test_linear.py tests/blocks/test_simulate.py tests/fmu/test_export.py tests/fmu/test_ssp.py \
	tests/app/test_commands.py tests/app/test_demo.py

.PHONY: help demo test test-slow soak bounds bench lint docs clean

help:
	@echo "make demo       model file -> FMU -> FMPy under a controller -> report, in $(RESULTS)"
	@echo "make test       the tests, without the long sweeps"
	@echo "make test-slow  the long sweeps"
	@echo "make soak       millions of calls, with and without tools that watch memory; not part of .ci/run"
	@echo "make bounds     quick tests with the lowest and with the newest versions of every dependency"
	@echo "make bench      times beside peers and earlier ones, written into docs/speed.md; some twenty minutes"
	@echo "make lint       ruff and pyright"
	@echo "make docs       the pictures of the documentation"
	@echo "make clean      remove $(VENV) and caches of tools"
	@echo "source $(BIN)/activate  then gives the mbdy and python of $(VENV)"

demo: $(VENV)/.plain
	$(BIN)/mbdy demo --folder $(RESULTS)

test: $(VENV)/.installed
	$(PYTEST) -q -n $(CORES) -m "not slow and not soak"

test-slow: $(VENV)/.installed
	$(PYTEST) -q -n $(CORES) -m slow; status=$$?; [ $$status -eq 5 ] || exit $$status

soak: $(VENV)/.installed
	$(PYTEST) -q -n $(CORES) -m soak

bounds: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	for versions in lowest-direct highest; do \
		$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(VENV)/$$versions && \
		$(BIN)/uv pip install --quiet --python $(VENV)/$$versions --resolution $$versions --editable . --group test && \
		$(VENV)/$$versions/bin/python -m pytest -q -n $(CORES) -m "not slow and not soak" $(SMOKE) || exit 1; \
	done

# Peers have an environment of their own; one that cannot be installed is left out. BENCH has options of bench/bench.py.
bench: $(VENV)/.installed $(VENV)/peers/.installed
	$(BIN)/python bench/bench.py $(BENCH)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.installed
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/map.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

# Where there is no C compiler the extra `native` brings one. Without --no-compile every module of every package would be
# compiled to bytecode, needed or not, which takes longer than the rest.
$(VENV)/.plain: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; say which: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".$(NATIVE)"
	@touch $@

$(VENV)/.installed: $(VENV)/.plain
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[$(CLIENTS)]" --group test --group clients
	$(BIN)/python -m pip install --quiet --no-deps cofmupy==1.0.0
	@touch $@

$(VENV)/peers/.installed: bench/peers/requirements.txt | $(VENV)/.plain
	$(PYTHON) -m venv --clear $(VENV)/peers
	while read -r peer; do \
		$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check "$$peer" || echo "left out: $$peer"; \
	done < $<
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@
