"""External tokenizer processes behind the service: their counts, their failures, their end."""
import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from harness import START, Parent, batch, record, single, values

ROOT = Path(__file__).resolve().parents[2]
FAULT = [sys.executable, str(ROOT / "tests" / "cli" / "fault_worker.py")]
TRANSFORMERS = [sys.executable, str(ROOT / "python" / "tokdrain_worker.py")]
STARTED = single(record("session.started", START))
TRACK = single(record("session.start_performance_tracking", START + 1))


def flags(*args, base=None, workers=2, more=()):
    command = shlex.join([*(base or FAULT), *map(str, args)])
    return ["--streaming", "--worker-command", command, "--workers", str(workers), *more]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def pids(tmp_path):
    """A folder in which workers leave their numbers; none may be there in the end."""
    folder = tmp_path / "pids"
    folder.mkdir()
    yield folder
    numbers = [int(p.name) for p in folder.iterdir()]
    assert numbers
    deadline = time.monotonic() + 10
    while any(map(alive, numbers)):
        assert time.monotonic() < deadline, "a worker survived"
        time.sleep(0.02)


def text_samples(texts):
    return [record("sample.issued", START + n, f"s{n}", ["PromptData", text])
            for n, text in enumerate(texts)]


def series_of(snapshot, name):
    return next(m for m in snapshot["metrics"] if m["name"] == name)


# Every shape of prompt and answer, with texts that JSON has to escape.
CALLS = [{"id": "c1", "type": "function",
          "function": {"name": "f", "arguments": '{"x": 1.50, "y": [1, null]}'}}]
TALK = [{"role": "user", "content": "caf\u00e9 \"q\" \\ \u2028\x7f\x01 \U0001F600"},
        {"role": "assistant", "content": "", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "c1", "content": "42"}]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {
    "type": "object", "properties": {"x": {"type": "number", "default": 1e300}, "big": 2**64 - 1}}}}]
PROMPTS = [["PromptData", "plain text"], ["PromptData", None, [1, 2, 3]],
           ["PromptData", None, None, TALK], ["PromptData", None, None, TALK, TOOLS],
           ["PromptData", None, None, TALK, [], {"depth": 3, "tokenize": False},
            "{{ messages[0].content }}{{ depth }}{{ tools is none }}", "auto"],
           ["PromptData", None, None, TALK, None, None, "{{ raise_exception('no') }}"],
           ["PromptData", None, None, []]]
ANSWERS = [["TextModelOutput", "whole"], ["TextModelOutput", ["in ", "", "pieces"]],
           ["TextModelOutput", ["x", "y"], ["because ", "of"], CALLS],
           ["TextModelOutput", "", None, [[{"index": 0, "id": "c", "function": {
               "name": "f", "arguments": '{"a"'}}], [{"index": 0, "function": {
                   "arguments": ": 1}"}}]]],
           ["TextModelOutput", [], ["\u4f60", "\u597d"]], ["TextModelOutput", ""],
           ["TextModelOutput", "nothing more"]]


def everything():
    records = []
    for n, (prompt, answer) in enumerate(zip(PROMPTS, ANSWERS)):
        records += [record("sample.issued", START + n, f"s{n}", prompt),
                    record("sample.recv_first", START + n + 10, f"s{n}"),
                    record("sample.complete", START + n + 1010, f"s{n}", answer)]
    return records


@pytest.mark.parametrize("workers", ["4", "0"])
def test_counts_are_those_of_the_built_in_engine(aggregator, workers):
    pytest.importorskip("transformers")
    model = str(ROOT / "assets" / "default")
    more = ["--tokenizer", model, "--tokenizer-workers", workers]
    finals, logs = [], []
    for how in (["--streaming", *more], flags(base=TRANSFORMERS, workers=1, more=more)):
        with Parent(aggregator, how, patience=120) as parent:
            parent.send(STARTED, TRACK, batch(everything()))
            if workers != "0":
                parent.wait_for(n_pending_tasks=0, tracked_samples_completed=len(PROMPTS))
            finals.append(parent.end())
            logs.append(parent.log())
    assert [f["n_pending_tasks"] for f in finals] == [0, 0]
    for name in ("isl", "osl", "tpot_ns"):
        one, two = (series_of(f, name) for f in finals)
        assert one["count"] > 3 and one == two, name
    for log in logs:
        assert "apply_chat_template failed for " in log
        assert "BatchTokenizer: " in log


def test_no_tokenizer_is_needed_when_the_workers_know(aggregator, pids):
    with Parent(aggregator, flags("--pids", pids, workers=3)) as parent:
        parent.send(STARTED, TRACK, batch(text_samples("a" * n for n in range(1, 200))))
        parent.wait_for(n_pending_tasks=0, tracked_samples_issued=199)
        final = parent.end()
        assert "BatchTokenizer: 3 shards" in parent.log()
    isl = series_of(final, "isl")
    assert (isl["count"], isl["total"]) == (199, 199 * 100)
    assert len(list(pids.iterdir())) == 3


def test_items_of_a_worker_that_fails_twice_stay_pending(aggregator, pids):
    texts = ["fine", "crash:1 x", "garbage:2 x", "fine too", "exit:3 x"]
    with Parent(aggregator, flags("--pids", pids, workers=1)) as parent:
        parent.send(STARTED, TRACK, batch(text_samples(texts)))
        final = parent.end()
        log = parent.log()
    assert final["state"] == "complete" and final["n_pending_tasks"] == 3
    assert series_of(final, "isl")["total"] == len("fine" + "fine too")
    assert log.count("live token flush failed") == 1 and "tried twice" in log
    assert "tokenizer drain failed; 3 items not counted" in log


def test_the_drain_timeout_ends_a_worker_that_hangs(aggregator, pids):
    how = flags("--pids", pids, workers=1, more=["--drain-timeout", "0.3"])
    with Parent(aggregator, how) as parent:
        parent.send(STARTED, TRACK, batch(text_samples(["fine", "hang:1", "behind it"])))
        start = time.monotonic()
        final = parent.end()
        assert time.monotonic() - start < 10
    assert final["n_pending_tasks"] == 2 and series_of(final, "isl")["count"] == 1


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_go_with_the_service(aggregator, pids, how):
    with Parent(aggregator, flags("--pids", pids)) as parent:
        parent.send(STARTED, TRACK, batch(text_samples(["hang:1", "hang:2", "fine"])))
        parent.wait_for(n_pending_tasks=3)
        parent.signal(signal.SIGINT)  # neither the service nor its workers mind
        start = time.monotonic()
        parent.signal(how)
        status = parent.wait()
        assert time.monotonic() - start < 3
        assert status == (0 if how == signal.SIGTERM else -signal.SIGKILL)
        if how == signal.SIGTERM:
            assert values(parent.final())["n_pending_tasks"] == 3
            assert parent.final()["state"] == "interrupted"


def test_workers_that_do_not_start(aggregator, pids):
    how = flags("--pids", pids, "--start", "refuse")
    with Parent(aggregator, how, ready=False) as parent:
        assert parent.wait() == 1
        assert "FATAL: the tokenizer pool cannot start: " in parent.log()
        assert "no such model" in parent.log() and not os.listdir(parent.out)
