# The front: `make VERB` installs what is missing, then calls Meson and the scripts of tools/.
# `make help` lists the verbs. Variables: BUILD (build folder), JOBS, PREFIX, MODEL, MODELS, T,
# TESTS (the Python tests of a sanitizer build; all when empty).

BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
MODEL ?=
T ?= 60
SETUP = sh tools/setup.sh
# Python with the reference libraries; point TD_PYTHON at another one to use that instead.
VENV = $(CURDIR)/build/venv
TD_PYTHON ?= $(VENV)/bin/python
export TD_PYTHON
SANITIZE = -Db_lundef=false --buildtype=debugoptimized

.PHONY: help build test demo asan tsan leaks fuzz selfcheck test-distributed models install format \
	tidy clean bench bench-render bench-encode bench-drain bench-turns bench-aggregate \
	bench-python bench-parquet

help:
	@sed -n 's/^#: //p' Makefile

#: make demo [MODEL=NAME]     the main job: a sample agentic backlog, drained, as a table
demo: build
	@python3 tools/demo.py --build $(BUILD) $(if $(MODEL),--model $(MODEL))

#: make build                 release build: build/tokdrain, build/libtokdrain.{so,a}
build:
	@$(SETUP) build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD)
	@ninja -C $(BUILD) -j$(JOBS)

#: make test                  every test; ends with the number passed and failed
test: build
	@$(SETUP) test
	@$(TD_PYTHON) tools/run_tests.py --build $(BUILD)

#: make asan, make tsan       the same suite under AddressSanitizer + UBSan, ThreadSanitizer
asan:
	@$(SETUP) test
	@test -f build-asan/build.ninja || \
	    meson setup build-asan -Db_sanitize=address,undefined $(SANITIZE)
	@ninja -C build-asan -j$(JOBS)
	@$(TD_PYTHON) tools/run_tests.py --build build-asan $(TESTS)

tsan:
	@$(SETUP) test
	@test -f build-tsan/build.ninja || meson setup build-tsan -Db_sanitize=thread $(SANITIZE)
	@ninja -C build-tsan -j$(JOBS)
	@$(TD_PYTHON) tools/run_tests.py --build build-tsan $(TESTS)

#: make selfcheck             unit and conformance tests in a build that does everything twice
selfcheck:
	@$(SETUP) test
	@test -f build-selfcheck/build.ninja || meson setup build-selfcheck -Dselfcheck=true \
	    -Db_sanitize=address,undefined $(SANITIZE)
	@ninja -C build-selfcheck -j$(JOBS)
	@$(TD_PYTHON) tools/run_tests.py --build build-selfcheck $(or $(TESTS),tests/conformance)

#: make leaks                 what the Python package leaves behind: debug CPython, valgrind
leaks:
	@$(SETUP) test
	@$(SETUP) leaks
	@test -f build-leaks/build.ninja || \
	    meson setup build-leaks -Dc_args=-DPy_REF_DEBUG --buildtype=debugoptimized
	@ninja -C build-leaks -j$(JOBS)
	@TD_BUILD=build-leaks $(TD_PYTHON) -m pytest -q -rs -p no:cacheprovider \
	    tests/python/test_leaks.py

#: make test-distributed      Ray Data, and Spark where Java is: the totals of one process
test-distributed: build
	@$(SETUP) distributed
	@TD_BUILD=$(BUILD) $(CURDIR)/build/distributed/bin/python -m pytest -q -rs -p no:cacheprovider \
	    tests/python/test_distributed.py

#: make fuzz T=SECONDS        every fuzz target for so long (with clang)
fuzz:
	@$(SETUP) fuzz
	@JOBS=$(JOBS) sh tools/fuzz.sh $(T)

#: make models [MODELS=...]   fetch real tokenizers for tests, pinned and checksummed
models:
	@$(SETUP) models
	@python3 tools/models.py $(MODELS)
	@$(if $(MODELS),:,python3 tools/vocabularies.py)

#: make install PREFIX=DIR    program, libraries, headers, manual page, pkg-config file
install: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@meson install -C $(BUILD)

#: make format, make tidy     lay out the C code; check the house rules
format:
	@command -v clang-format >/dev/null || $(SETUP) format
	@git ls-files '*.c' '*.h' | grep -v 'tables\|/generated/' | xargs clang-format -i

tidy:
	@python3 tools/tidy.py

clean:
	rm -rf build build-asan build-tsan build-leaks build-fuzz build-selfcheck

#: make bench, bench-drain [MODEL=NAME]   side by side with what Python has; tables and plots
bench: bench-drain

bench-drain: build
	@$(SETUP) test
	@$(SETUP) bench
	@$(TD_PYTHON) bench/drain.py --build $(BUILD) --model $(or $(MODEL),qwen3)

#: make bench-turns [MODEL=NAME]           what one more turn costs, by length of the conversation
bench-turns: build
	@python3 bench/turns.py --build $(BUILD) --model $(or $(MODEL),qwen3)

#: make bench-aggregate [MODEL=NAME]       a benchmark run played to the aggregator over sockets
bench-aggregate: build
	@$(SETUP) test
	@$(TD_PYTHON) bench/aggregate.py --build $(BUILD) --model $(or $(MODEL),qwen3)

#: make bench-encode [ARGS=--quick]        encoding speed beside other tokenizer libraries
bench-encode: build
	@$(SETUP) bench
	@python3 bench/encode.py --build $(BUILD) $(ARGS)

#: make bench-python [MODEL=NAME]          what a call through the Python package costs
bench-python: build
	@$(SETUP) test
	@$(TD_PYTHON) bench/python.py --build $(BUILD) --model $(or $(MODEL),qwen3)

#: make bench-parquet [MODEL=NAME ARGS=...] a million conversations from Parquet beside datasets.map
# TD_BENCH_PYTHON: one that has bench/parquet_requirements.txt, in place of build/bench/parquet.
bench-parquet: build
	@$(SETUP) parquet
	@$(or $(TD_BENCH_PYTHON),build/bench/parquet/bin/python) bench/parquet.py --build $(BUILD) \
	    --model $(or $(MODEL),qwen3) $(ARGS)

#: make bench-render           templates beside jinja2 and minijinja, on TOKDRAIN_SHARED/templates
bench-render: build
	@$(SETUP) test
	@$(TD_PYTHON) bench/render.py --build $(BUILD)

