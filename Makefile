# Two commands do everything: `make demo` and `make test`. Both set up what they need, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Set up again when the project's own requirements change.
SUM := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
DEMO := $(VENV)/.demo-$(SUM)
TEST := $(VENV)/.test-$(SUM)

.PHONY: demo test pytest system check format setup clean browser postgres audit constraints pages docs

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip

# What a user needs: no torch.
$(DEMO): | $(BIN)/python
	@$(PIP) install --constraint constraints.txt --editable '.[formats,web]'
	@rm -f $(VENV)/.demo-*
	@touch $@

# What the checks and tests need besides. Python compiles the modules that they import.
$(TEST): | $(BIN)/python
	@$(PIP) install --no-compile --constraint constraints.txt --editable '.[formats,spacy,train,dask,web,oidc,postgres,docs,dev]'
	@rm -f $(VENV)/.demo-* $(VENV)/.test-*
	@touch $@ $(DEMO)

setup: $(TEST)

demo: $(DEMO)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

check: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell src docs README.md CHANGELOG.md CONTRIBUTING.md

browser:
	@command -v chromium >/dev/null 2>&1 || sh scripts/install_browser.sh

postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || sh scripts/install_postgres.sh

# One after the other: both ask the same package manager.
system:
	@$(MAKE) --no-print-directory browser
	@$(MAKE) --no-print-directory postgres

pytest: $(TEST)
	$(BIN)/pytest -n 2 --dist worksteal

# The checks keep one core busy, so they run beside the tests.
test:
	@$(MAKE) --no-print-directory --jobs=2 setup system
	@$(MAKE) --no-print-directory --jobs=2 check pytest

format: $(TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Known weaknesses of the pinned packages. It asks the package index, and fails where that is silent.
audit: | $(BIN)/python
	@test -x $(VENV)/audit/bin/pip-audit || $(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip-audit
	$(VENV)/audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict

# Pin the newest versions that pyproject.toml allows; then run the tests and the audit with them.
constraints: $(TEST)
	$(BIN)/python scripts/refresh_constraints.py

# The scripts and styles of the pages, from frontend/ into the package; the tests compare them.
pages:
	cd frontend && npm ci --no-audit --no-fund && npm run check && npm run build

# The documentation site, in site/. A broken link ends the build.
docs: $(TEST)
	$(BIN)/python scripts/build_docs.py

clean:
	rm -rf $(VENV) demo site build .mypy_cache .ruff_cache .pytest_cache .hypothesis
