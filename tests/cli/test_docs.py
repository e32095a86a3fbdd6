"""The manual, docs/cli.md and --help name the same options."""
import re

import pytest

COMMANDS = ["count", "render", "encode", "decode", "info", "check", "drain"]


@pytest.fixture(scope="module")
def helped(run):
    return {c: set(re.findall(r"^  (?:-., |    )(--[a-z-]+)", run(c, "--help").out, re.M))
            for c in COMMANDS}


def test_cli_page(root, helped):
    rows = re.findall(r"^\| `(?:-., `)?[^|]*?(--[a-z-]+)[^|]*\| ([^|]+) \|",
                      (root / "docs" / "cli.md").read_text(), re.M)
    told = {c: set() for c in COMMANDS}
    for option, commands in rows:
        left_out = set(re.findall(r"\w+", commands.partition("but")[2]))
        names = set(COMMANDS) - left_out if commands.startswith("all") else \
            set(re.findall(r"\w+", commands))
        for c in names:
            told[c].add(option)
    assert told == helped


def test_manual(root, helped):
    text = (root / "docs" / "man" / "tokdrain.1").read_text().replace("\\-", "-")
    options = text.partition(".SH OPTIONS")[2].partition(".SH EXIT")[0]
    told = set(re.findall(r"(?<=[ \"])(--[a-z-]+)", " ".join(
        line for line in options.splitlines() if line.startswith((".BR -", ".B -")))))
    assert told == set.union(*helped.values())
