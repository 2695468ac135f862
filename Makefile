# make demo and make test set everything up by themselves: Python 3.11+ and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
CORE := $(VENV)/.core

.PHONY: setup demo test coverage lint types floors bench peers mutants soak docs docs-serve release clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,opacus]' || \
		$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# bursar alone, without what tests, peers and the book need: a minute instead of many for who only wants to look
$(CORE): pyproject.toml
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[plot,serve]'
	touch $@

demo: $(if $(wildcard $(STAMP)),$(STAMP),$(CORE))
	@$(BIN)/python examples/demo.py

# what needs a Java, PyTorch, a browser, a kernel or another shell runs in CI: make test MARKS="not soak"
MARKS ?= not soak and not ci
test: setup
	$(BIN)/python -m pytest -n auto -m "$(MARKS)"

# how much of the source the tests run, by room
coverage: setup
	$(BIN)/python tests/coverage_by_room.py

lint: setup
	$(BIN)/ruff check src tests benchmarks examples docs
	$(BIN)/ruff format --check src tests benchmarks examples docs

types: setup
	$(BIN)/mypy

floors: setup
	$(BIN)/lint-imports --no-cache

# one run, under one name: what bursar takes, what everybody answers, and the page of both
bench: setup
	export BENCH_RUN="$$($(BIN)/python benchmarks/stamp.py)" && \
	$(BIN)/python benchmarks/run.py && \
	$(BIN)/python benchmarks/comparison.py && \
	$(BIN)/python docs/build.py comparison.md

peers: setup
	$(BIN)/python benchmarks/apart/run.py

mutants: setup
	$(BIN)/python tests/mutants/run.py

# all tests, the long campaigns among them; what they did to ledgers, as a table; and the mutants
soak: setup
	$(BIN)/python -m pytest -n auto --junitxml build/soak.xml; status=$$?; \
	$(BIN)/python tests/reliability.py build/soak.xml && \
	$(MAKE) --no-print-directory mutants && exit $$status

docs: setup
	$(BIN)/python docs/build.py
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -d build/doctrees docs site/html
	@echo "the book is in site/html/index.html; make docs-serve shows it"

docs-serve: docs
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory site/html 8000

release: setup
	$(BIN)/python docs/release.py

clean:
	rm -rf $(VENV) .peers build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
