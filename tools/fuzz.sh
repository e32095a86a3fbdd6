#!/bin/sh
# fuzz.sh SECONDS [TARGET...] - runs each fuzz target (all by default) for so long, under
# AddressSanitizer and UndefinedBehaviorSanitizer. New inputs stay under build-fuzz/corpus; a
# crash stops the run and leaves its input in build-fuzz/crashes.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
if [ ! -f build-fuzz/build.ninja ]; then
    CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
fi
ninja -C build-fuzz -j"${JOBS:-2}"
if [ $# = 0 ]; then
    for source in fuzz/fuzz_*.c; do
        set -- "$@" "$(basename "$source" .c | sed 's/^fuzz_//')"
    done
fi
mkdir -p build-fuzz/crashes
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for name; do
    echo "== fuzz $name: $seconds seconds"
    mkdir -p "build-fuzz/corpus/$name"
    set -- -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="build-fuzz/crashes/$name-"
    if [ -f "fuzz/$name.dict" ]; then
        set -- "$@" "-dict=fuzz/$name.dict"
    fi
    "build-fuzz/fuzz/fuzz_$name" "$@" "build-fuzz/corpus/$name" "fuzz/corpus/$name" 2>&1 |
        tail -n 20 >"build-fuzz/$name.log" && grep -q 'Done ' "build-fuzz/$name.log" || {
        cat "build-fuzz/$name.log" >&2
        echo "fuzz: $name failed" >&2
        exit 1
    }
    grep -E 'Done |number_of_executed|new_units' "build-fuzz/$name.log"
done
echo "fuzz: no target failed"
