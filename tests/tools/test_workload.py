"""The sample workload: always the same, of the promised shape, well-formed for a chat model."""
import hashlib
import json
import subprocess
import sys

import pytest

import make_workload
import pending

pytestmark = pytest.mark.once


SHA256_OF_FIVE = "b4155b88a8c1ad251e22c7170f8850930c43795f68fb381892ec3c18bf583ab5"


@pytest.fixture(scope="module")
def some():
    return list(make_workload.trajectories(limit=5))


def test_shape_of_the_whole():
    turns = make_workload.plan_turns(444, 613, 5531)
    assert (len(turns), sum(turns), min(turns), max(turns)) == (613, 5531, 3, 15)


def test_always_the_same(some):
    text = json.dumps(some, ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == SHA256_OF_FIVE


def test_trajectories_start_anywhere(some):
    assert list(make_workload.trajectories(first=3, limit=2)) == some[3:]


def test_order_of_issue(some):
    events = pending.issue_order(2, chosen=some)
    assert sorted((t["id"], k) for _, _, t, k in events) == \
        [(t["id"], k) for t in some for k in range(len(t["cuts"]))]
    assert [e[0] for e in events] == sorted(e[0] for e in events)
    ends = {}
    for start, end, t, k in events:
        assert k == 0 or ends[t["id"], k - 1] <= start < end <= 1
        assert sum(s <= start < e for s, e, _, _ in events) <= 2
        ends[t["id"], k] = end


def test_impossible_plans_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        list(make_workload.trajectories(trajectory_count=2, request_count=100))


def test_conversations_are_well_formed(some):
    for t in some:
        assert 8 <= len(t["tools"]) <= 12
        names = {tool["function"]["name"] for tool in t["tools"]}
        assert len(t["outputs"]) == len(t["cuts"])
        waiting = []
        for k, message in enumerate(t["messages"]):
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
                continue
            assert waiting == []
            assert (k in t["cuts"]) == (message["role"] == "assistant")
            for call in message.get("tool_calls", []):
                waiting.append(call["id"])
                assert call["function"]["name"] in names
                assert isinstance(json.loads(call["function"]["arguments"]), dict)


def test_backlog_is_the_last_requests_oldest_first(some):
    picked = pending.select_pending(some, 12)
    ends = [(t["id"], len(t["cuts"]) - turn) for t, turn in picked]
    ids = [t["id"] for t in some]
    assert ends == ([(i, 3) for i in ids[1::-1]] + [(i, 2) for i in ids[::-1]]
                    + [(i, 1) for i in ids[::-1]])


def test_backlog_larger_than_the_workload_is_refused(some):
    with pytest.raises(ValueError, match="there are only"):
        pending.select_pending(some, 1000)


def test_earlier_and_backlog_are_everything_once(some):
    picked = pending.select_pending(some, 12)
    earlier = pending.select_earlier(some, picked)
    keys = [(t["id"], turn) for t, turn in earlier + picked]
    assert sorted(keys) == sorted((t["id"], turn) for t in some for turn in range(len(t["cuts"])))
    last = {}
    for t, turn in earlier:
        assert last.get(t["id"], -1) < turn
        last[t["id"]] = turn


def test_requests_as_lines(tmp_path):
    out, earlier = tmp_path / "pending.jsonl", tmp_path / "earlier.jsonl"
    subprocess.run([sys.executable, pending.__file__, "--case", "2k", "--concurrency", "2",
                    "--count", "3", "--out", out, "--earlier", earlier], check=True)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(r["conversation_id"], r["turn"]) for r in lines] == [
        ("traj_0000", 2), ("traj_0001", 3), ("traj_0000", 3)]
    assert lines[0]["id"] == "traj_0000:2"
    assert lines[0]["messages"][-1]["role"] != "assistant" and lines[0]["tools"]
    assert len(earlier.read_text(encoding="utf-8").splitlines()) == 5
