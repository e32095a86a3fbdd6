"""The test runner reads cmocka's reports right, and its last line can be trusted."""
import pytest

import run_tests

pytestmark = pytest.mark.once

REPORT = """[==========] json: Running 4 test(s).
[ RUN      ] test_a
[       OK ] test_a
[ RUN      ] test_b
[  ERROR   ] --- 1 != 2
[  FAILED  ] test_b
[ RUN      ] test_c
no real tokenizer here
[  SKIPPED ] test_c
[ RUN      ] test_d
[       OK ] test_d
[==========] json: 4 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] json: 1 test(s), listed below:
[  SKIPPED ] test_c
[  FAILED  ] json: 1 test(s), listed below:
[  FAILED  ] test_b

 1 FAILED TEST(S)
"""


def test_cmocka_cases():
    assert run_tests.cmocka_cases("json", REPORT) == (
        2, ["json: test_b"], [("json: test_c", "no real tokenizer here")])


def test_skips_of_one_test_share_a_line(capsys):
    run_tests.print_skipped([("t.py::a[x]", "absent"), ("t.py::a[y]", "absent"),
                             ("t.py::b", "no compiler")])
    assert capsys.readouterr().out == ("skipped: t.py::a[x, y]: absent\n"
                                       "skipped: t.py::b: no compiler\n")


def test_tally_adds_up(capsys):
    tally = run_tests.Tally()
    tally.part("one", 3, ["x"], [])
    tally.part("two", 4, [], [("y", "why")])
    assert (tally.passed, tally.failed, tally.skipped) == (7, ["x"], [("y", "why")])
    assert "one: 3 passed, 1 failed, 0 skipped" in capsys.readouterr().out
