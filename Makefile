# The same verbs for people and for CI. Each sets up what it needs: a python3 ≥ 3.11, make and a package index do.

PYTHON ?= python3
WORKERS ?= auto
BASE = .venv-base/bin
DEV = .venv-dev/bin
export PYTHON

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile

race: .venv-base/stamp  ## a race of 40 charging policies to watch, with nothing but the base install
	@$(BASE)/earlycall demo

test: .venv-dev/stamp  ## every test, on all cores (WORKERS=2: on two)
	$(DEV)/pytest -n $(WORKERS)

lint: .venv-dev/stamp  ## style, format and types
	$(DEV)/ruff check
	$(DEV)/ruff format --check
	$(DEV)/mypy

docs: .venv-dev/stamp  ## the documentation's examples, run as tests
	$(DEV)/pytest tests/docs

paper: .venv-dev/stamp  ## the paper's synthetic figures and claims, raced anew (about 2 minutes)
	$(DEV)/python -m paper

coverage: .venv-dev/stamp  ## errors counted in more than a million races (about 20 minutes)
	$(DEV)/python -m paper.coverage

priors: .venv-dev/stamp  ## what the default prior costs against the best one (about 2 minutes)
	$(DEV)/python -m paper.priors

costs: .venv-dev/stamp  ## what unknown sds, informative delays and blocks cost (about 1 minute)
	$(DEV)/python -m paper.costs

growth: .venv-dev/stamp  ## how near the least time races come as δ falls (about 1 minute)
	$(DEV)/python -m paper.growth

soak: .venv-dev/stamp  ## processes killed 200 times at random moments: nothing may be lost (about 2 minutes)
	SOAK=200 $(DEV)/pytest tests/journal/test_kills.py

bench: .venv-dev/stamp  ## how fast it is, against the targets (into bench/results.txt)
	$(DEV)/python -m bench | tee bench/results.txt

# .venv-base holds what a user gets, so `race` proves that this is enough. (The build backend is in there too:
# then both environments are made the same way. tests/house/test_imports.py sees that nobody leans on it.)
.venv-%/stamp: requirements/%.txt pyproject.toml tools/venv.sh
	@sh tools/venv.sh .venv-$* $<

# Universal: one file for every system and every Python from 3.11 on.
PIN = pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(LOCK)
lock:  ## pin what pyproject.toml allows, keeping old pins (LOCK=--upgrade: take the newest)
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install -qq uv
	.venv-lock/bin/uv pip compile $(PIN) --group build -o requirements/base.txt
	.venv-lock/bin/uv pip compile $(PIN) --group dev -o requirements/dev.txt
	rm -rf .venv-lock

clean:  ## forget environments, caches and builds
	rm -rf .venv-base .venv-dev .venv-lock .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -prune -exec rm -rf {} +

.PHONY: help race test lint docs paper coverage priors growth costs soak bench lock clean
