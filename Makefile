# Everything starts from a fresh checkout: make test, make demo, make bench.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_BENCH := $(VENV)/.ready-bench
TYPES := $(VENV)/types.log
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv fetches and unpacks side by side: a third of pip's time. Where it cannot be had, pip does the work.
UV := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python

# Byte code is kept whatever the caller's environment says: the tests start hundreds of interpreters, and each would
# compile every module it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test bench docs manual graph lint clean browser fuzz bare platforms

demo: $(READY)
	$(BIN)/python -m bellcrank.demo

# What does not wait for each other goes side by side: the environment and chromium, then the types and the tests. A third
# process has work for two cores while others wait for browsers, clusters and children.
test:
	@$(MAKE) --no-print-directory --jobs=2 $(READY) browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo "$(BIN)/mypy and $(BIN)/python -m pytest -n 3 --dist worksteal"; \
	$(BIN)/mypy > $(TYPES) 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n 3 --dist worksteal; tests=$$?; \
	wait $$types || { cat $(TYPES); exit 1; }; exit $$tests

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The tests in a browser want chromium, pictures without a display libEGL; pip has neither. Where they cannot be had,
# those tests are skipped.
browser:
	@{ { command -v chromium || command -v google-chrome; } && ldconfig -p | grep -q libEGL.so.1; } >/dev/null 2>&1 || \
		{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null 2>&1 && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium libegl1 >/dev/null; } || \
		echo "No chromium or libEGL: tests of pages and pictures are skipped. On Debian: apt install chromium libegl1"

# The site, strictly: warnings are errors, every block of code on its pages is run. `make test` builds it as well.
docs: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/site
	@echo "open build/site/index.html"

# The numbers of the verification manual and the pictures of the gallery, made anew.
manual: $(READY)
	$(BIN)/python docs/extensions/manual.py
	$(BIN)/python docs/extensions/pictures.py

# The graph of folders on the page on modules, made anew.
graph: $(READY)
	$(BIN)/python docs/extensions/folders.py

bench: $(READY_BENCH)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.run
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.simulation
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.drive

# The wheel alone in an environment of its own: every command works there, or names the extra that it needs.
bare: $(READY)
	rm -rf build/bare
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/bare .
	$(PYTHON) -m venv build/bare/env
	build/bare/env/bin/python -m pip install --quiet --disable-pip-version-check build/bare/*.whl
	build/bare/env/bin/python tests/bare.py

# Binaries of FMUs for all platforms, looked into. zig builds the libraries of Windows the first time, in a minute and a half.
platforms: $(READY)
	BELLCRANK_PLATFORMS=all $(BIN)/python -m pytest tests/fmu/test_platforms.py

# Damaged files of every kind, then faults of the machine, for about an hour; findings are kept in build/hostile. A run
# that was stopped goes on where it was.
fuzz: $(READY)
	cd tests && status=0; \
		OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ../$(BIN)/python -m hostile.mutate --count 100000 --seed 0 || status=1; \
		../$(BIN)/python -m hostile.faults --count 200 || status=1; \
		exit $$status

clean:
	rm -rf $(VENV) build dist benchmarks/results .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Bellcrank needs Python 3.11 or newer; name one: make PYTHON=python3.12 test"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		$(PYTHON) -m virtualenv $(VENV); } || { rm -rf $(VENV); \
		echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$(PIP) --no-compile uv || true
	$(UV) -e '.[test]' || $(PIP) --no-compile -e '.[test]'
	@touch $@

# drake and pybullet are peers where wheels for them exist; without one its rows stay empty.
$(READY_BENCH): $(READY)
	$(PIP) -e '.[bench]'
	-$(PIP) drake
	-$(PIP) --only-binary :all: pybullet
	@touch $@
