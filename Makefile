# make eval   set up what is missing, then run the evaluation (offline once installed)
# make test   set up what is missing, then lint, check types and run the plugin's own tests
# make lint   ruff and mypy alone
# make bench  speed and memory, as ratios to a floor
# make sample write reports/sample.json again, from the Swedish demonstration
# make schema write report.schema.json again, from the report's types
# make lock   resolve requirements/*.lock again (needs uv)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One compiled start of Python costs less than all later ones save.
unexport PYTHONDONTWRITEBYTECODE
# The demonstration is what the settings say, whatever else this shell is set up for.
DEMO_ENV := env -u OPENAI_API_KEY -u OPENAI_BASE_URL -u QDRANT_URL -u QDRANT_API_KEY -u SCORER_ENDPOINT

.PHONY: eval test lint bench sample schema lock clean

eval: $(VENV)/.demo
	$(DEMO_ENV) $(BIN)/python -m pytest

test: lint
	$(BIN)/python -m pytest plugin/tests -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/idle.py
	$(BIN)/python benchmarks/rouge.py
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/scorer.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/estimates.py
	$(BIN)/python benchmarks/offline_judge.py
	$(BIN)/python benchmarks/flight.py
	$(BIN)/python benchmarks/cases.py

$(VENV)/.demo: requirements/demo.lock pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/demo.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@ $(VENV)/.demo

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

sample: $(VENV)/.demo
	$(DEMO_ENV) TOUCHSTONE_VARIANTS='[]' TOUCHSTONE_REPORTS=$$(mktemp -d) $(BIN)/touchstone run --settings evaluation/riksdag.yaml --output $(CURDIR)/reports/sample.json
	rm -f reports/sample.html

schema: $(VENV)/.demo
	$(BIN)/python -c 'import json; from pytest_touchstone.report import schema; print(json.dumps(schema(), indent=2))' > plugin/pytest_touchstone/report/report.schema.json

lock:
	uv pip compile pyproject.toml requirements/build.in --extra demo --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-package pytest-touchstone -o requirements/demo.lock
	uv pip compile pyproject.toml requirements/build.in --extra dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-package pytest-touchstone -o requirements/dev.lock

clean:
	rm -rf $(VENV) build dist
