# make demo | install | test | matrix | lint | pages | check-pages | wheel | docs | site | lock | clean
# Another interpreter: make test PYTHON=python3.13 VENV=.venv313

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
RUN_STAMP := $(VENV)/.run-installed
DEV_STAMP := $(VENV)/.dev-installed
NODE_STAMP := frontend/node_modules/.installed
CHECKED := $(wildcard src tests benchmarks examples scripts)

.PHONY: demo install test matrix lint format pages check-pages wheel docs site lock clean
.DELETE_ON_ERROR:

demo: $(RUN_STAMP)
	$(VENV)/bin/teamworld run cube --method zero_shot,drwell --level paper-n2 --episodes 10 --seeds 5 --out runs/demo --figures
	$(VENV)/bin/teamworld view runs/demo --method drwell --export runs/demo/replay.html

# All that the other targets need, in $(VENV).
install: $(DEV_STAMP)

# Compiled modules are kept even where the environment says otherwise: tests start many interpreters.
# The replay page is tested in a browser, and shared world models on a server: installed where that needs no password.
test: $(DEV_STAMP)
	@scripts/browser.sh >/dev/null || echo "no browser: the tests of the replay page are skipped" >&2
	@scripts/postgres.sh >/dev/null || echo "no PostgreSQL: the tests of shared world models are skipped" >&2
	PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n 2 --dist worksteal $(ARGS)

# Every method in every world, the long form; make matrix ARGS="--worlds rooms --seeds 1" takes less.
matrix: $(DEV_STAMP)
	$(PY) -m teamworld.testing.matrix $(ARGS)

lint: $(DEV_STAMP)
	$(PY) -m ruff check $(CHECKED)
	$(PY) -m ruff format --check $(CHECKED)
	$(PY) -m mypy --strict $(wildcard src tests)
	$(VENV)/bin/lint-imports
	$(PY) scripts/check_names.py
	$(PY) scripts/check_sums.py src

format: $(DEV_STAMP)
	$(PY) -m ruff check --fix $(CHECKED)
	$(PY) -m ruff format $(CHECKED)

# The scripts of the pages, from frontend/: types of the data, format, bundles. It takes Node, as nothing else does.
pages: $(DEV_STAMP) $(NODE_STAMP)
	$(PY) scripts/page_records.py
	cd frontend && npm run --silent format && npm run --silent build

# Lint, types and tests of the pages' sources, and that the bundles in the package are what these give.
check-pages: $(NODE_STAMP)
	cd frontend && npm run --silent check

wheel: $(DEV_STAMP)
	rm -rf dist
	$(PY) -m build --wheel --no-isolation --outdir dist
	PYTHON=$(PYTHON) scripts/smoke.sh dist/teamworld-*.whl

# The documentation as a site in build/site; a broken link fails.
site: $(DEV_STAMP)
	$(PY) scripts/docs_pages.py
	$(VENV)/bin/zensical build --strict

# The same, served on this machine while pages are written.
docs: site
	$(VENV)/bin/zensical serve

# Resolve the pinned versions again; make lock ARGS=--upgrade takes newer ones.
lock:
	PYTHON=$(PYTHON) scripts/lock.sh $(ARGS)

clean:
	rm -rf .venv .venv313 frontend/node_modules dist build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "expected Python 3.11 or newer; '$(PYTHON)' is older or does not run; choose one with: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The package is installed in place, so only a change of its metadata installs it again.
$(RUN_STAMP): requirements/run.lock pyproject.toml | $(PY)
	$(PIP) install --quiet --require-hashes -r requirements/run.lock
	$(PIP) install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

# The dev lock holds all of the run lock, so it serves `make demo` too.
$(DEV_STAMP): requirements/dev.lock pyproject.toml | $(PY)
	$(PIP) install --quiet --require-hashes -r requirements/dev.lock
	$(PIP) install --quiet --no-build-isolation --no-deps --editable .
	@touch $(RUN_STAMP) $@

# The lock file holds no address, so it works with any registry that npm is set up for.
$(NODE_STAMP): frontend/package-lock.json
	@scripts/node.sh >/dev/null
	cd frontend && npm ci --silent
	@touch $@
