#!/usr/bin/env python3
"""Runs every test of a build and adds up: house rules, unit tests (cmocka) and Python tests.

What was skipped is named with its reason. The last line is "N passed, N failed" over everything,
alone on its line, and the exit status says whether anything failed."""
import argparse
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def part(self, name, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        print(f"== {name}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped",
              flush=True)


def run_tidy(tally):
    done = subprocess.run([sys.executable, "tools/tidy.py"], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr)
    failed = ["tools/tidy.py"] if done.returncode else []
    tally.part("house rules", 1 - len(failed), failed, [])


def cmocka_cases(name, text):
    """(passed, failed, skipped) as cmocka's lines tell them; a reason stands before its skip."""
    passed, failed, skipped, before = 0, [], {}, ""
    for line in text.splitlines():
        m = re.match(r"\[\s*(OK|FAILED|SKIPPED)\s*\] ([^\s:]+)$", line.rstrip())
        if m is None:
            before = "" if line.startswith("[") else line.strip()
        elif m.group(1) == "OK":
            passed += 1
        elif m.group(1) == "FAILED":
            failed.append(f"{name}: {m.group(2)}")
        else:  # once where it happens, once in the summary
            skipped.setdefault(f"{name}: {m.group(2)}", before or "no reason given")
    return passed, sorted(set(failed)), list(skipped.items())


def run_meson(build, tally):
    """Unit tests, one program an area; a program that dies counts as a failure of its own."""
    command = ["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs"]
    if build.name == "build-selfcheck":  # which does everything twice
        command += ["--timeout-multiplier", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    log = build / "meson-logs" / "testlog.json"
    passed, failed, skipped = 0, [], []
    results = [json.loads(s) for s in log.read_text().splitlines()] if log.exists() else []
    for result in results:
        name = result["name"]
        text = (result.get("stdout") or "") + "\n" + (result.get("stderr") or "")
        ok, bad, left = cmocka_cases(name, text)
        if result["result"] not in ("OK", "SKIP") and not bad:
            bad = [f"{name}: {result['result']}"]
        if result["result"] == "OK" and ok + len(left) == 0:
            ok = 1  # a program that is one test
        passed, failed, skipped = passed + ok, failed + bad, skipped + left
    if done.returncode or failed:
        print(done.stdout + done.stderr)
    if not results or (done.returncode and not failed):
        failed.append("meson test")
    tally.part("unit tests", passed, failed, skipped)


def run_pytest(build, tally, arguments):
    report = build / "pytest.xml"
    report.unlink(missing_ok=True)
    environment = dict(os.environ, TD_BUILD=str(build),
                       TOKDRAIN_SHARED=os.environ.get("TOKDRAIN_SHARED")
                       or str(ROOT.parent / "shared"))
    environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    workers = ["-n", str(min(len(os.sched_getaffinity(0)), 4))]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers,
                           "--continue-on-collection-errors",
                           f"--junitxml={report}", "-o", "junit_family=xunit1", *arguments],
                          cwd=ROOT, env=environment, check=False)
    passed, failed, skipped = 0, [], []
    cases = ET.parse(report).getroot().iter("testcase") if report.exists() else []
    for case in cases:
        name = f"{case.get('file') or case.get('classname')}::{case.get('name')}"
        kinds = {child.tag: child for child in case}
        if "failure" in kinds or "error" in kinds:
            failed.append(name)
        elif "skipped" in kinds:
            skipped.append((name, kinds["skipped"].get("message") or "no reason given"))
        else:
            passed += 1
    if done.returncode not in (0, 5) and not failed:  # 5: there are no Python tests
        failed.append(f"pytest (status {done.returncode})")
    tally.part("Python tests", passed, failed, skipped)


def print_skipped(skipped):
    """By name and reason; the parameters of one test with one reason share a line."""
    groups = {}
    for name, reason in skipped:
        base, bracket, parameters = name.partition("[")
        groups.setdefault((base, reason), []).append(parameters.rstrip("]") if bracket else "")
    for (base, reason), parameters in groups.items():
        some = f"[{', '.join(parameters)}]" if any(parameters) else ""
        print(f"skipped: {base}{some}: {reason}")


def main():
    parser = argparse.ArgumentParser(description="Run every test of a build.")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest (default: tests)")
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    tally = Tally()
    run_tidy(tally)
    run_meson(build, tally)
    run_pytest(build, tally, options.pytest or ["tests"])
    print_skipped(tally.skipped)
    for name in tally.failed:
        print(f"failed: {name}")
    print(f"{tally.passed} passed, {len(tally.failed)} failed"
          + (f", {len(tally.skipped)} skipped" if tally.skipped else ""))
    return bool(tally.failed)


if __name__ == "__main__":
    sys.exit(main())
