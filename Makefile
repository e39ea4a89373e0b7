# One command per verb; `make help` lists them. Each sets up what it needs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
UV_VERSION := $(shell sed -n 's/.*"uv==\([0-9.]*\)".*/\1/p' pyproject.toml)

# The system's certificates, so that a company's proxy works as it does for everything else.
export UV_SYSTEM_CERTS := 1

# Python keeps what it compiles: a node has several processes, and each would compile all of its modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help prepared jars console manual setup up down test test-fast faults check format docs pictures lock clean

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: prepared .venv/compiled ## Install all that is missing, and do what lets nodes start quickly
	@$(BIN)/python -m compileall -q catchment
	@$(BIN)/python -m catchment.rehearsal

# All that a node needs; what does not depend on each other is made at the same time.
prepared: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 jars console manual

jars: .venv/installed
	@scripts/require javac openjdk-17-jdk-headless
	@$(BIN)/python -m catchment.jars

console: .venv/installed
	@$(BIN)/python -m catchment.console.build

manual: .venv/installed
	@$(BIN)/python -m catchment.manual.build

.venv/installed: requirements.lock pyproject.toml
	@scripts/require-venv $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# What is only imported by tests of the packages themselves would take as long as all the rest.
.venv/compiled: .venv/installed
	@$(BIN)/python -m compileall -q -j 2 -x /tests/ .venv/lib
	@touch $@

up: prepared ## Run the node with a small demonstration, in the foreground
	@exec $(BIN)/catchment up --demonstration

down: ## Stop the node that runs in another terminal
	@$(BIN)/catchment down

test: setup ## Run every test
	@scripts/require chromium chromium
	@scripts/require mosquitto mosquitto
	@scripts/require mosquitto_pub mosquitto-clients
	@scripts/require-for-faults
	@scripts/require pg_ctlcluster postgresql
	@scripts/test

test-fast: setup ## Run the tests that need no broker, Spark or browser
	@$(BIN)/pytest -m "not slow"

faults: setup ## Try every fault at length, and write docs/faults.md (about 10 minutes; needs root)
	@scripts/require-for-faults
	@$(BIN)/pytest tests/faults --full
	@$(BIN)/python -m tests.faults.page --write

check: setup ## Lint and type-check; the Java operators were compiled with every warning an error
	@$(BIN)/python -m catchment.console.check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup ## Generate the reference pages and build the manual that the node serves at /docs
	@$(BIN)/python -m catchment.config.reference --write
	@$(BIN)/python -m catchment.cli.reference --write
	@$(BIN)/python -m catchment.manual.reference --write
	@$(BIN)/python -m catchment.manual.build

pictures: setup ## Take the manual's pictures anew, from the console of a node (about 4 minutes)
	@scripts/require chromium chromium
	@$(BIN)/python -m tests.pictures

lock: ## Resolve the Python dependencies anew, and lock them with their hashes
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --group dev --custom-compile-command "make lock" pyproject.toml --output-file requirements.lock
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --group bench --custom-compile-command "make lock" --output-file bench/peers/requirements.lock

clean: ## Remove all that was installed or built here; the node's data stay
	@rm -rf .venv build web/node_modules catchment/console/static catchment/manual/site
