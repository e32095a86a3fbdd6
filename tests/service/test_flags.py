"""The command line: what is refused, in which words and with which status."""
import argparse
import contextlib
import io
import os
import random
import subprocess

import pytest

from harness import Parent

REQUIRED = ["--socket-dir", "{d}", "--socket-name", "ev", "--metrics-socket", "met",
            "--metrics-output-dir", "{d}"]


def run(aggregator, tmp_path, *flags, required=REQUIRED):
    argv = [str(aggregator), "aggregate", *(f.format(d=tmp_path) for f in [*required, *flags])]
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize("flags,message", [
    (["--hdr-sig-figs", "x"], "argument --hdr-sig-figs: invalid int value: 'x'"),
    (["--hdr-sig-figs", "3.0"], "argument --hdr-sig-figs: invalid int value: '3.0'"),
    (["--publish-interval", "fast"], "argument --publish-interval: invalid float value: 'fast'"),
    (["--drain-timeout"], "argument --drain-timeout: expected one argument"),
    (["--drain-timeout", "--streaming"], "argument --drain-timeout: expected one argument"),
    (["--streaming=yes"], "argument --streaming: ignored explicit argument 'yes'"),
    (["--metrics", "x"], "ambiguous option: --metrics could match --metrics-socket, "
                         "--metrics-output-dir"),
    (["--nothing", "x"], "unrecognized arguments: --nothing x"),
    (["file"], "unrecognized arguments: file"),
    (["--publish-interval", "0"], "argument --publish-interval"),
    (["--publish-interval", "nan"], "argument --publish-interval"),
    (["--n-histogram-buckets", "0"], "argument --n-histogram-buckets"),
    (["--seri", "isl"], "unrecognized arguments: --seri isl"),
    (["--mem", "1G"], "unrecognized arguments: --mem 1G"),
    (["--worker-c", "x"], "unrecognized arguments: --worker-c x"),
    (["--prom", "0"], "unrecognized arguments: --prom 0"),
    (["--series", "isl,tokens"], "argument --series: invalid series value: 'isl,tokens'"),
    (["--series="], "argument --series: invalid series value: ''"),
    (["--memory", "much"], "argument --memory: invalid size value: 'much'"),
    (["--prometheus", "65536"], "argument --prometheus: must be a port, 0 to 65535"),
    (["--worker-command", "x", "--workers", "0"], "argument --workers: must be 1 to 1024"),
    (["--worker-command", "x", "--workers", "1025"], "argument --workers: must be 1 to 1024"),
    (["--worker-command", "x", "--worker-memory", "0"],
     "argument --worker-memory: must be more than 0"),
    (["--workers", "2"], "--workers and --worker-memory need --worker-command"),
    (["--worker-memory", "1G"], "--workers and --worker-memory need --worker-command"),
])
def test_usage_errors(aggregator, tmp_path, flags, message):
    done = run(aggregator, tmp_path, *flags)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ") and message in done.stderr
    assert ": error: " in done.stderr and done.stdout == ""


def test_missing_flags_are_listed(aggregator, tmp_path):
    done = run(aggregator, tmp_path, "--socket-name=x", required=[])
    assert done.returncode == 2
    assert ("error: the following arguments are required: --socket-dir, --metrics-socket, "
            "--metrics-output-dir\n") in done.stderr


def test_fatal_errors(aggregator, tmp_path):
    done = run(aggregator, tmp_path, "--tokenizer-workers", "-1", "--metrics-output-dir", "/no")
    assert (done.returncode, done.stderr) == (1, "FATAL: --tokenizer-workers must be >= 0\n")
    file = tmp_path / "file"
    file.write_text("")
    for where in (file, tmp_path / "absent"):
        done = run(aggregator, tmp_path, "--metrics-output-dir", str(where))
        assert done.returncode == 1
        assert done.stderr.startswith(f"FATAL: --metrics-output-dir {where} does not exist or is "
                                      "not a directory. ")


@pytest.mark.parametrize("flags", [
    ["--hdr-sig-figs", "0"], ["--hdr-sig-figs", "6"], ["--tokenizer", "{d}/no-such-tokenizer"],
    ["--socket-dir", "/tmp/" + "x" * 110]])
def test_crashes_at_the_start(aggregator, tmp_path, flags):
    done = run(aggregator, tmp_path, *flags)
    assert done.returncode == 1
    assert "metrics aggregator subprocess crashed (" in done.stdout
    assert not (tmp_path / ".ready").exists()


def test_every_prefix_and_the_last_value(aggregator):
    flags = ["--tokenizer=", "--publish=9", "--publish-interval", "0.05", "--str", "--early-s",
             "--hdr=2", "--n-hist", "4", "--drain", "-1"]
    with Parent(aggregator, flags) as parent:
        snapshot = parent.end()
    names = [m["name"] for m in snapshot["metrics"]]
    assert names[-1] == "tpot_ns" and "early_stopping_percentiles" in snapshot["metrics"][-1]


def test_socket_dir_is_made_and_its_slash_stripped(aggregator, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    argv = [str(aggregator), "aggregate", "--socket-dir", f"{tmp_path}/a/b//", "--socket-name", "e",
            "--metrics-socket", "m", "--metrics-output-dir", str(out)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if "Subscriber connected" in line:
                break
        assert (tmp_path / "a" / "b" / "m").exists()
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(10)


# name -> type, in the order of the help
FLAGS = {"socket-dir": str, "socket-name": str, "metrics-socket": str, "metrics-output-dir": str,
         "publish-interval": float, "drain-timeout": float, "hdr-sig-figs": int,
         "n-histogram-buckets": int, "tokenizer": str, "tokenizer-workers": int,
         "streaming": bool, "readiness-path": str, "readiness-id": int, "early-stopping": bool}


def reference():
    """The same flags for argparse, from which the service's parent knows how they are spelled."""
    parser = argparse.ArgumentParser(prog="tokdrain aggregate")
    for i, (name, kind) in enumerate(FLAGS.items()):
        how = {"action": "store_true"} if kind is bool else {"type": kind, "required": i < 4}
        parser.add_argument("--" + name, **how)
    return parser


VALUES = ["1", "0", "-1", "+3", "007", "1_000", "1__0", "_1", "2.5", "-2.5", ".5", "5.", "-.5",
          "1e3", "1e", "inf", "-inf", "nan", "Infinity", "infinit", "", " ", " 7 ", "x", "0x10",
          "--", "-", "-x", "--streaming", "-1e3", "a b", "9" * 30, "-0", "=", "a=b"]


def expected(parser, arguments):
    """What argparse makes of them: the values, or a status; and its message."""
    err = io.StringIO()
    try:
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            return parser.parse_args(arguments), ""
    except SystemExit as end:
        return end.code, err.getvalue().partition(": error: ")[2]


def random_arguments(rng):
    out = [] if rng.random() < 0.1 else ["--socket-dir", "s", "--socket-name", "e",
                                         "--metrics-socket", "m", "--metrics-output-dir", "none"]
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        name = rng.choice([*FLAGS, "help"])
        flag = "--" + name[:rng.randrange(len(name) + 1) if rng.random() < 0.5 else None]
        if rng.random() < 0.4:
            out.append(flag + "=" + rng.choice([v for v in VALUES if v != "--"]))
            continue
        out.append(flag)
        if FLAGS.get(name, bool) is not bool or rng.random() < 0.2:
            if rng.random() < 0.9:
                out.append(rng.choice(VALUES))
    return out


def is_refused_early(parsed):
    """Values that could only fail in the middle of a run are refused at the start here."""
    interval, timeout = parsed.publish_interval, parsed.drain_timeout
    buckets = parsed.n_histogram_buckets
    return (interval is not None and not interval > 0) or timeout != timeout or \
        (buckets is not None and not 1 <= buckets <= 100_000)


@pytest.mark.parametrize("seed", range(3))
def test_the_command_line_is_argparses(aggregator, tmp_path, seed):
    rng, parser = random.Random(seed), reference()
    for _ in range(int(80 * float(os.environ.get("TD_TEST_SCALE", "1")))):
        arguments = random_arguments(rng)
        want, message = expected(parser, arguments)
        done = subprocess.run([str(aggregator), "aggregate", *arguments], capture_output=True,
                              text=True, timeout=20, check=False, cwd=tmp_path)
        if want == 0:  # help
            assert (done.returncode, done.stderr) == (0, ""), arguments
        elif want == 2:
            assert (done.returncode, done.stderr.partition(": error: ")[2]) == (2, message), \
                arguments
        elif is_refused_early(want):
            assert done.returncode == 2, (arguments, done)
        else:  # as far as the check that follows
            fatal = "FATAL: --tokenizer-workers must be >= 0" \
                if (want.tokenizer_workers or 0) < 0 else "FATAL: --metrics-output-dir "
            assert done.returncode == 1 and done.stderr.startswith(fatal), (arguments, done)
