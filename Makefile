# `make` explains itself. Any target makes .venv first: the package and the development tools, pinned by hash.
PYTHON ?= python3
PORT ?= 8000
DATA_DIR ?= .mnemic
DEMO_DATA ?=
VENV := .venv
unexport PYTHONDONTWRITEBYTECODE  # the tests start dozens of processes: what they load is compiled once
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK = $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header

.DEFAULT_GOAL := help
.PHONY: help up demo test soak check migrate openapi bench lock format clean

help: ## Say what each target does
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

up: $(READY) ## Run the service on its embedded database (PORT=8000 DATA_DIR=.mnemic)
	@exec $(BIN)/mnemic up --port $(PORT) --data-dir $(DATA_DIR)

demo: $(READY) ## Load a conversation into a temporary service and ask it questions (DEMO_DATA=file in LoCoMo's format)
	@$(BIN)/python examples/demo.py $(if $(DEMO_DATA),--data $(DEMO_DATA))

test: $(READY) ## Run every test (needs nothing but this; under ten minutes)
	@$(BIN)/python -m pytest -n 2 --dist loadfile

soak: $(READY) ## Run the tests at their full size (up to an hour)
	@$(BIN)/python -m pytest -n 2 --dist loadfile --timeout 3600 --full-size

check: $(READY) ## Format, lint, types, layers, domain tests: what to run before each commit (under a minute)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/deptry .
	@$(BIN)/python -m app.openapi --check
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.compose-spec docker-compose.yml
	@sql=$$($(BIN)/alembic upgrade head --sql 2>/dev/null) && \
		found=$$(echo "$$sql" | $(BIN)/squawk --stdin-filepath migrations.sql 2>&1) || { echo "$$found"; exit 1; }
	@found=$$($(BIN)/compose-lint check -q docker-compose.yml 2>&1) || { echo "$$found"; exit 1; }
	@$(BIN)/python -m pytest -q tests/domain tests/core tests/architecture/test_names.py

format: $(READY) ## Format the code and mend what ruff can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

migrate: $(READY) ## Bring the database named by DATABASE_URL up to date
	@$(BIN)/mnemic migrate

openapi: $(READY) ## Write openapi/openapi.json from the code
	@$(BIN)/python -m app.openapi

bench: $(READY) ## Measure append and search on this machine
	@$(BIN)/python benchmarks/slice.py

lock: $(READY) ## Resolve pyproject.toml into the lock files again (runtime and build are the image's)
	@$(LOCK) --group dev pyproject.toml -o requirements.lock
	@$(LOCK) -c requirements.lock --extra onnx pyproject.toml -o requirements-runtime.lock
	@echo hatchling | $(LOCK) -c requirements.lock - -o requirements-build.lock

clean: ## Remove what the targets made (never the data)
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): requirements.lock pyproject.toml sdk/python/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Mnemic needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "This Python has no venv: on Debian and Ubuntu run 'apt-get install python3-venv', then make again."; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@echo "Installing what Mnemic needs into $(VENV) (once)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e . -e sdk/python
	@touch $@
