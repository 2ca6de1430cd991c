# Everything a person types. `make build` and `make test` are enough on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV     := $(BIN)/uv

.DEFAULT_GOAL := build
.PHONY: build test check dev nightly lock clean

# One stamp for each set of packages: a changed lock file installs again, an unchanged one costs nothing.
$(VENV)/.uv:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v < (3, 14) else f"kb_pipeline needs Python 3.11, 3.12 or 3.13; {sys.executable} is {v.major}.{v.minor}. Try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip uv
	@touch $@

$(VENV)/.runtime: $(VENV)/.uv requirements.lock pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements-dev.lock
	@touch $@

build: $(VENV)/.runtime ## set up, then run the pipeline over raw/
	$(BIN)/kb build

check: $(VENV)/.dev ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check ## style, types and the test suite, the sample rebuilt byte for byte among it
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not nightly"

dev: $(VENV)/.runtime ## the Dagster UI on this project
	$(BIN)/kb dev

nightly: $(VENV)/.dev ## vaults, random inputs and benchmarks: minutes, not seconds
	$(BIN)/python -m pytest -m nightly
	$(BIN)/python -m kb_tests.benchmarks

lock: $(VENV)/.uv ## resolve the locks anew
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --extra build pyproject.toml --output-file requirements.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --extra build --extra dev --constraint requirements.lock pyproject.toml --output-file requirements-dev.lock

clean: ## delete what a build made, keep the wiki
	rm -rf build .kb .dagster
