"""Every built-in, one construct a template, compared live with transformers' own environment: equal
text, or an error on both sides (and raise_exception's text equal).

TD_TEST_SCALE=20 takes all combinations; the default is the part that runs in some seconds."""
import copy
import json
import os
import re
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import reference_clock
from builtin_snippets import chains, snippets

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("TD_BUILD", "build") / "tests" / "tools" / "render_tool"
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")
utils = pytest.importorskip("transformers.utils.chat_template_utils")
jinja2 = pytest.importorskip("jinja2")

USERS = [
    {"name": "bob", "age": 31, "city": "Rome", "address": {"zip": "00100"}},
    {"name": "Ann", "age": 25, "city": "rome", "address": {"zip": "00200"}},
    {"name": "cid", "age": 40, "city": "Oslo", "address": {"zip": "0150"}},
    {"name": "ann", "age": 25, "city": "Bonn", "address": {"zip": "53"}},
]
VARS = {"users": USERS}
# Texts that show where an object lies in memory are never equal; such a result is shown as a list.
# Interpreters that are not position independent have short ones.
ADDRESS = re.compile(r"at0x[0-9a-f]{5,}|7f[0-9a-f]{10}")


def has_address(text):
    """Also when a filter has put something between its characters."""
    return bool(ADDRESS.search(re.sub(r"[^0-9a-z]", "", text.lower())))


environment = utils._compile_jinja_template("").environment


def reference(template, variables):
    """("text", t), ("raised", message) or ("error", what)."""
    try:
        return "text", environment.from_string(template).render(**copy.deepcopy(variables))
    except jinja2.exceptions.TemplateError as e:
        kind = "raised" if type(e) is jinja2.exceptions.TemplateError else "error"
        return kind, str(e) if kind == "raised" else f"{type(e).__name__}: {e}"
    except RecursionError:
        raise
    except Exception as e:
        return "error", f"{type(e).__name__}: {e}"


def render(requests):
    """Answers of render_tool, in order."""
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    run = subprocess.run([TOOL], input=lines.encode(), stdout=subprocess.PIPE, check=False)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(requests):
        dead = requests[len(answers)]["template"]
        pytest.fail(f"render_tool ended with {run.returncode} in {dead!r}")
    return answers


def judge(expected, answer):
    """None, or what is wrong."""
    kind, text = expected
    if kind == "text":
        return None if answer.get("ok") == text else f"expected {text!r}, got {answer}"
    if "ok" in answer:
        return f"expected {kind} {text!r}, got text {answer['ok']!r}"
    if kind == "raised" and answer["error"] != text:
        return f"expected raise_exception({text!r}), got {answer['error']!r}"
    return None


def shown(template):
    """The reference's answer; where it shows an address, of the same items as a list."""
    kind, text = reference(template, VARS)
    m = re.fullmatch(r"\{\{ \[(.*)\] \}\}", template, re.S)
    if kind == "text" and has_address(text) and m:
        template = "{{ (" + m.group(1) + ")|list }}"
        kind, text = reference(template, VARS)
    if kind == "text" and has_address(text):
        return None
    return template, (kind, text)


def unstable(template, expected):
    """Whether the reference itself says something else when objects lie elsewhere in memory."""
    occupied = [make() for make in (list, lambda: (i for i in ()), lambda: reversed([1]),
                                    lambda: jinja2.utils.Cycler(1)) for _ in range(500)]  # fmt: skip
    again = reference(template, VARS)
    del occupied
    return again != expected


def compare(cases):
    """[(group, template)]: a report of the differences, and how many were compared."""
    asked = [(group, *found) for group, template in cases if (found := shown(template))]
    answers = render([{"template": t, "vars": VARS} for _, t, _ in asked])
    bad = []
    for (group, template, expected), answer in zip(asked, answers):
        wrong = judge(expected, answer)
        if wrong and not unstable(template, expected):
            bad.append(f"{group}: {template}\n    {wrong}")
    return bad, len(asked)


def test_snippets():
    names = environment.filters.keys(), environment.tests.keys()
    bad, count = compare(snippets(0.05 * SCALE, *names))
    print(f"{count} snippets")
    assert count >= 2000
    assert not bad, f"{len(bad)} of {count} differ:\n" + "\n".join(bad[:60])


def test_chains():
    bad, count = compare(chains(int(3000 * SCALE), environment.filters.keys()))
    assert count >= 1000
    assert not bad, f"{len(bad)} of {count} differ:\n" + "\n".join(bad[:60])


def test_all_names():
    """Nothing that the reference offers is missing."""
    cases = [("filter", "{{ '" + n + "' is filter }}") for n in environment.filters]
    cases += [("test", "{{ '" + n + "' is test }}") for n in environment.tests]
    cases += [("global", "{{ " + n + " is defined }}") for n in environment.globals]
    bad, _ = compare(cases)
    assert not bad, "\n".join(bad)


def test_case_file():
    """The cases of the unit test are what the reference says."""
    lines = (ROOT / "tests" / "data" / "builtins.case").read_text().splitlines()
    cases = [json.loads(line) for line in lines if not line.startswith("#")]
    assert cases.pop(0) == VARS
    for template, *expected in cases:
        kind, text = reference(template, VARS)
        want = [text] if kind == "text" else [None, text] if kind == "raised" else [None]
        assert expected == want, template


# ---- strftime_now ----

DIRECTIVES = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZf%"
FLAGS = ["", "-", "_", "0", "^", "#", "10", "-5", "_6", "012", "^8", "E", "O"]
MOMENTS = [
    (1764478805, 12345), (1704067199, 0), (1704067200, 999999), (951782400, 5), (1735603200, 1),
    (1609372800, 7), (1230768000, 0), (1709251199, 0), (1748736000, 0), (0, 0),
]  # fmt: skip


def test_strftime(monkeypatch):
    formats = ["%" + f + d for d in DIRECTIVES for f in FLAGS]
    formats += ["%d %b %Y", "%Y-%m-%d", "%B %d, %Y", "%H:%M", "%A", "x%", "%%d", "", "%Q", "%-Q", "%:z",
                "Week %V of %G, \u00fc %-d.%-m.", "%d%", "%5", "%E"]  # fmt: skip
    asked, expected = [], []
    for seconds, micro in MOMENTS:
        moment = datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None, microsecond=micro)
        reference_clock.fix(monkeypatch, moment)
        for f in formats:
            template = "{{ strftime_now(" + json.dumps(f, ensure_ascii=False) + ") }}"
            asked.append({"template": template, "vars": {}, "now": [seconds, micro, 0]})
            expected.append(reference(template, {}))
    bad = [f"{a['template']} at {a['now'][0]}: {wrong}"
           for a, e, r in zip(asked, expected, render(asked)) if (wrong := judge(e, r))]
    assert not bad, f"{len(bad)} differ:\n" + "\n".join(bad[:40])


def test_clock():
    """Without a fixed moment the clock is read."""
    [answer] = render([{"template": "{{ strftime_now('%Y') }}", "vars": {}, "now": None}])
    years = {str(datetime.now().year), str((datetime.now() - timedelta(minutes=1)).year)}
    assert answer["ok"] in years
