# The only entry points. Each works from a bare clone: the environment makes itself.
#
#   make demo     a sample corpus, UANet trained on it, three sentences tagged
#   make test     the tests             make test ARGS="tests/ops -k mask" WORKERS=0
#   make test-all with those of whole programs (notebook, demo, README), benchmarks, more mixtures of parts
#   make check    lint, format, types, direction of imports
#   make bench    the benchmarks
#   make venv     only the environment  make venv PYTHON=python3.13

VENV ?= .venv
# 3.11, 3.12 or 3.13. Default: that of the environment, else the first that is found.
PYTHON ?=
ARGS ?=
# Processes that share the tests. auto: one for each core, as far as the memory goes; 0: no other.
WORKERS ?= auto
# TensorFlow's start-up notes (no GPU found, plugins registered twice) say nothing here.
TF_CPP_MIN_LOG_LEVEL ?= 3
export TF_CPP_MIN_LOG_LEVEL

RUN = $(VENV)/bin/python
TYPED = $(wildcard uanet_tf uanet_lite tools benchmarks serving train.py export.py)

.PHONY: help venv demo test test-all check bench

help:
	@sed -n 's/^#   //p' Makefile

venv:
	@python=$$(tools/find_python.sh "$(PYTHON)" "$(VENV)") && "$$python" tools/make_venv.py "$(VENV)"

demo: venv
	$(VENV)/bin/uanet demo $(ARGS)

test: venv
	$(RUN) -m pytest -n $(WORKERS) -m "not process" $(ARGS)

test-all: venv
	$(RUN) -m pytest -n $(WORKERS) $(ARGS)

check: venv
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy $(TYPED)
	$(VENV)/bin/lint-imports --no-cache --no-logo

bench: venv
	$(RUN) -m benchmarks.run_all $(ARGS)
