"""External tokenizer processes: what they count, what becomes of it when they fail, who is left."""
import concurrent.futures
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
ROOT = Path(__file__).resolve().parents[2]
FAULT = [sys.executable, str(ROOT / "tests" / "cli" / "fault_worker.py")]
TRANSFORMERS = [sys.executable, str(ROOT / "python" / "tokdrain_worker.py")]


def command(*args, base=None):
    return shlex.join([*(base or FAULT), *map(str, args)])


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pids_in(folder):
    return [int(p.name) for p in folder.iterdir()]


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def folders(tmp_path):
    state, pids = tmp_path / "state", tmp_path / "pids"
    state.mkdir()
    pids.mkdir()
    yield state, pids
    assert not [p for p in pids_in(pids) if alive(p)], "a worker survived"


def test_counts_come_from_the_worker(run, folders):
    state, pids = folders
    requests = [{"text": "a" * n, "id": n} for n in range(200)]
    requests[7] = {"token_ids": [1, 2, 3]}
    requests[9] = {"messages": "no"}
    requests[11] = b'{"messages": [{"role": "user", "content": "12345678901234567890123"}]}'
    r = run("count", "--worker-command", command("--pids", pids), "--workers", 3, stdin=requests)
    assert r.status == 1 and [x["index"] for x in r.results.all()] == list(range(200))
    for n, x in enumerate(r.results.all()):
        want = {7: 3, 9: None, 11: len(requests[11])}.get(n, n)
        assert x["tokens"] == want, x
    assert r.results[9]["error"]["kind"] == "input"
    assert len(pids_in(pids)) == 3


def test_errors_of_an_item_are_its_own(run, folders):
    state, pids = folders
    lines = [{"text": "error:1"}, {"messages": [{"role": "user", "content": "x"}]}, {"text": "b"}]
    r = run("count", "--worker-command", command("--pids", pids), "--workers", 1, stdin=lines)
    assert r.results[0]["error"] == {"kind": "template", "message": "no\nway"}
    assert r.results[2]["tokens"] == 1 and len(pids_in(pids)) == 1


FAULTS = {
    "crash": "signal 9", "exit": "exit status 3", "hang": "no answer within 0.5 s",
    "close": "closed its socket", "garbage": "garbage", "noise": "", "length": "garbage",
    "short": "ended with exit status 0", "other": "garbage", "both": "garbage", "kind": "garbage",
    "trailing": "garbage",
}


@pytest.mark.parametrize("name, said", FAULTS.items())
def test_a_fault_costs_its_item_only(run, folders, name, said):
    state, pids = folders
    lines = [{"text": "x"}, {"text": f"{name}:1"}, {"text": "xyz"}]
    r = run("count", "--worker-command", command("--state", state, "--pids", pids),
            "--workers", 1, "--timeout", 0.5, stdin=lines)
    assert r.status == 1 and [x["tokens"] for x in r.results.all()] == [1, None, 3]
    error = r.results[1]["error"]
    assert error["kind"] == "worker" and "tried twice" in error["message"]
    assert said in error["message"]
    assert len(pids_in(pids)) == 3
    assert "1 of 3 items failed: 1 worker" in r.err


@pytest.mark.parametrize("name", FAULTS)
def test_the_second_attempt_counts(run, folders, name):
    state, pids = folders
    lines = [{"text": "x"}, {"text": f"{name}1:1"}, {"text": "xyz"}]
    r = run("count", "--worker-command", command("--state", state, "--pids", pids),
            "--workers", 1, "--timeout", 0.5, stdin=lines)
    assert r.status == 0, r.err
    assert [x["tokens"] for x in r.results.all()] == [1, len(f"{name}1:1"), 3]
    assert len(pids_in(pids)) == 2


def test_a_second_answer_is_never_the_next_items(run, folders):
    state, pids = folders
    lines = [{"text": "twice:1 " + "x" * 100}, *({"text": "x" * n} for n in range(1, 20))]
    r = run("count", "--worker-command", command("--pids", pids), "--workers", 1, stdin=lines)
    assert r.status == 0 and [x["tokens"] for x in r.results.all()] == [108, *range(1, 20)]


def test_memory_of_a_worker_is_bounded(run, folders):
    state, pids = folders
    lines = [{"text": "x"}, {"text": "hog:1"}, {"text": "hog1:2"}, {"text": "xyz"}]
    r = run("count", "--worker-command", command("--state", state, "--pids", pids), "--workers", 1,
            "--worker-memory", "150M", "--timeout", 60, stdin=lines)
    assert [x["tokens"] for x in r.results.all()] == [1, None, 6, 3]
    assert "memory" in r.results[1]["error"]["message"]


def test_the_budget_bounds_the_number_of_workers(run, folders):
    state, pids = folders
    r = run("count", "--worker-command", command("--pids", pids), "--workers", 20,
            "--worker-memory", "60M", stdin=[{"text": "x"}] * 50)
    assert r.status == 0 and 1 <= len(pids_in(pids)) < 10


@pytest.mark.parametrize("start, said", [
    ("exit", "exit status 4"), ("refuse", "no such model"), ("version", "version 2"),
    ("garbage", "garbage"), ("hog", "memory"), ("unsteady", "another model"),
])
def test_a_worker_that_does_not_start(run, folders, start, said):
    state, pids = folders
    r = run("count", "--worker-command", command("--pids", pids, "--start", start), "--workers", 2,
            "--worker-memory", "150M", stdin=[{"text": "x"}])
    assert r.status == 3 and r.out == ""
    assert r.err.splitlines()[-1].startswith("tokdrain: worker: ") and said in r.err


def test_a_command_that_is_not_there(run):
    r = run("count", "--worker-command", "/nonexistent/program", stdin=[{"text": "x"}])
    assert r.status == 3 and "exit status 127" in r.err


@pytest.mark.parametrize("args", [
    ["count", "--workers", "2"], ["drain", "--worker-memory", "1G"],
    ["count", "--worker-command", "x", "--workers", "0"],
    ["count", "--worker-command", "x", "--worker-memory", "0"],
    ["count", "--worker-command", "x", "--compat", "tokenizer.json"],
    ["count", "--worker-command", "x", "--now", "2026-01-01"],
    ["encode", "--worker-command", "x", "--offsets"],
    ["encode", "--worker-command", "x", "--tokens"], ["decode", "--workers", "2"],
])
def test_what_does_not_go_together(run, args):
    r = run(*args)
    assert r.status == 2 and r.err.startswith("tokdrain: ") and r.out == ""


@pytest.mark.parametrize("seed", range(3))
def test_everything_at_once(run, folders, seed):
    state, pids = folders
    rng = random.Random(seed)
    lines, want = [], []
    for n in range(120):
        name = rng.choice([*FAULTS, "slow"]) if rng.random() < 0.25 else ""
        once = "1" if name and name != "slow" and rng.random() < 0.7 else ""
        text = f"{name}{once}:{n} " + "x" * n if name else "x" * n
        lines.append({"text": text, "id": n})
        want.append(len(text) if not name or once or name == "slow" else None)
    r = run("count", "--worker-command",
            command("--state", state, "--pids", pids, "--start", "mixed"), "--workers", 1 + seed,
            "--timeout", 1, stdin=lines)
    got = r.results.all()
    assert [x["id"] for x in got] == list(range(120))
    for x, tokens, line in zip(got, want, lines, strict=True):
        # a process that did not come up twice in a row is the item's bad luck
        assert x["tokens"] in (tokens, None), (x, line)
        assert (x["tokens"] is None) == (x.get("error", {}).get("kind") == "worker"), x
    assert sum(x["tokens"] is not None for x in got) > 60


def children_of(pid):
    out = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            out.append((int(stat.parent.name), fields[0]))
    return out


def start_counting(program, folders, *args, workers=3):
    state, pids = folders
    return subprocess.Popen(
        [program, "count", "--worker-command", command("--state", state, "--pids", pids),
         "--workers", str(workers), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)


def test_never_more_processes_than_workers(program, folders):
    process = start_counting(program, folders)
    lines = [{"text": f"{'exit' if n % 3 else 'crash1'}:{n}"} for n in range(24)]
    process.stdin.write(b"".join(json.dumps(x).encode() + b"\n" for x in lines))
    process.stdin.close()
    most = 0
    while process.poll() is None:
        children = children_of(process.pid)
        most = max(most, len(children))
        assert len(children) <= 3, children
        time.sleep(0.005)
    assert len(process.stdout.read().splitlines()) == 24 and process.returncode == 1
    assert most > 0


def kill_at_random(process, rng, seconds, done):
    """Kills or stops one worker after the other; how many of each."""
    hits = {signal.SIGKILL: 0, signal.SIGSTOP: 0}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(rng.uniform(0, 0.3))
        workers = children_of(process.pid)
        how = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP])
        if workers:
            try:
                os.kill(rng.choice(workers)[0], how)
                hits[how] += 1
            except ProcessLookupError:
                pass
    done.set()
    return hits


def test_killed_and_stopped_at_random(program, folders):
    """Nothing is lost, doubled or out of order (TD_TEST_SCALE=100: for five minutes)."""
    rng, done = random.Random(6), threading.Event()
    process = start_counting(program, folders, "--timeout", "1")
    lengths = []

    def feed():
        while not done.is_set():
            n = len(lengths)
            lengths.append(rng.randint(1, 3000))
            process.stdin.write(b'{"id": %d, "text": "%s"}\n' % (n, b"x" * lengths[-1]))
        process.stdin.close()

    def read():
        for n, line in enumerate(process.stdout):
            result = json.loads(line)
            assert result["id"] == result["index"] == n
            if result["tokens"] is None:
                assert result["error"]["kind"] == "worker", result
            else:
                assert result["tokens"] == lengths[n], result
            kept.append(result["tokens"] is not None)

    kept = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(feed), pool.submit(read)]
        wait_until(lambda: kept, 60)  # all have started
        hits = kill_at_random(process, random.Random(7), 3 * SCALE, done)
        for job in jobs:
            job.result(timeout=120)
    assert process.wait(60) in (0, 1) and len(kept) == len(lengths)
    assert min(hits.values()) > 0 and sum(kept) > 0.9 * len(kept)


@pytest.mark.parametrize("text", ["hang:1", "x"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_worker_survives_the_program(program, folders, text, how):
    _, pids = folders
    process = start_counting(program, folders)
    process.stdin.write(json.dumps({"text": text}).encode() + b"\n")
    process.stdin.flush()
    wait_until(lambda: len(pids_in(pids)) == 3)
    time.sleep(0.3)
    process.send_signal(how)
    process.wait(20)
    wait_until(lambda: not [p for p in pids_in(pids) if alive(p)])
    process.stdin.close()
    process.stdout.close()


def test_workers_inherit_nothing(run, tmp_path):
    """Only 0 to 3 are open, signals are as a program expects them, standard input is empty."""
    script = tmp_path / "look.py"
    script.write_text(f"""
import os, sys, json
sys.path.insert(0, {str(ROOT / "python")!r})
import tokdrain_worker as w, socket
fds = sorted(int(x) for x in os.listdir("/proc/self/fd"))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
kept = [fd for fd in fds if os.path.exists(f"/proc/self/fd/{{fd}}")]
seen = json.dumps([kept, int(status["SigBlk"], 16), sys.stdin.read()])
c = socket.socket(fileno=3)
w.receive(c)
w.send(c, {{"protocol": 1, "error": {{"kind": "worker", "message": seen}}}})
""")
    r = run("count", "--worker-command", shlex.join([sys.executable, str(script)]),
            stdin=b"", pass_fds=(0,))
    assert r.status == 3 and '[[0, 1, 2, 3], 0, ""]' in r.err, r.err


def test_drain_measures_workers(run, folders, tmp_path):
    state, pids = folders
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"text": "x" * n}) + "\n" for n in range(40)))
    r = run("drain", "--worker-command", command("--pids", pids), "--workers", 2, "--json", file)
    out = json.loads(r.out)
    assert r.status == 0 and out["runs"][0]["tokens"] == sum(range(40))
    assert out["workers"]["running"] == out["workers"]["started"] == 2
    assert out["workers"]["rss_bytes"] > 1000000 and out["workers"]["load_s"] > 0
    r = run("drain", "--worker-command", command("--pids", pids), "--workers", 2,
            "--sweep-jobs", "1,2,4", file)
    assert r.status == 0 and "workers 2 (started 2)" in r.out


def test_a_drain_that_runs_out_of_time(run, folders, tmp_path):
    state, pids = folders
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"text": "x"}) + "\n" + json.dumps({"text": "hang:1"}) + "\n")
    r = run("drain", "--worker-command", command("--pids", pids), "--workers", 1, "--json",
            "--drain-timeout", 1, file)
    run_ = json.loads(r.out)["runs"][0]
    assert (r.status, run_["counted"], run_["final_pending"]) == (1, 1, 1)


def test_the_worker_of_the_manual(run, tmp_path):
    pytest.importorskip("msgpack")
    script = tmp_path / "worker.py"
    page = (ROOT / "docs" / "workers.md").read_text()
    script.write_text(page.partition("```python\n")[2].partition("```")[0])
    lines = [{"text": "abc"}, b'{"messages": []}']
    r = run("count", "--worker-command", shlex.join([sys.executable, str(script)]), stdin=lines)
    assert [x["tokens"] for x in r.results.all()] == [3, len(lines[1])]


# ---- the worker for transformers ----

def expected(tokenizer, line):
    if "text" in line:
        return len(tokenizer(line["text"], add_special_tokens=line.get("add_special_tokens", False))
                   ["input_ids"])
    arguments = {k: v for k, v in line.items() if k not in ("messages", "chat_template_kwargs")}
    arguments = {"add_generation_prompt": True, **arguments, **line.get("chat_template_kwargs", {})}
    return len(tokenizer.apply_chat_template(line["messages"], tokenize=True, return_dict=False,
                                             **arguments))


TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {
    "type": "object", "properties": {"x": {"type": "number"}}}}}
TURNS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hallo, Welt 🙂"}]
LINES = [
    {"text": "Hello world"}, {"text": ""}, {"text": "e\u0301 <|im_end|>", "add_special_tokens": True},
    {"messages": TURNS}, {"messages": TURNS, "tools": [TOOL]},
    {"messages": TURNS, "chat_template_kwargs": {"enable_thinking": False}},
    {"messages": TURNS, "add_generation_prompt": False},
    {"messages": TURNS, "chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"},
    {"messages": [*TURNS, {"role": "assistant", "content": "It is"}],
     "continue_final_message": True, "add_generation_prompt": False},
    {"messages": [*TURNS, {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": {"x": 1.50}}}]}]},
]
OWN = [
    {"message": {"content": "An answer.", "reasoning": "so", "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "{\"x\": 1.50}"}}]}},
    {"messages": TURNS, "chat_template": "{{ raise_exception('no') }}"},
    {"messages": []},
]


def test_transformers_worker(run, model_dir):
    transformers = pytest.importorskip("transformers")
    path = model_dir("qwen3")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    arguments = ["count", "-m", path]
    outside = ["--worker-command", command(base=TRANSFORMERS), "--workers", 1]
    r = run(*arguments, *outside, stdin=LINES + OWN)
    for line, got in zip(LINES, r.results.all(), strict=False):
        assert got["tokens"] == expected(tokenizer, line), (line, got)
    native = run(*arguments, stdin=LINES + OWN).results.all()
    for a, b in zip(native, r.results.all(), strict=True):
        assert (a["tokens"], a["via"]) == (b["tokens"], b["via"])
        assert a.get("error", {}).get("kind") == b.get("error", {}).get("kind")


def test_other_work_is_done_outside(run, model_dir):
    """Ids and texts are those of the built-in engine."""
    pytest.importorskip("transformers")
    path = model_dir("qwen3")
    outside = ["--worker-command", command(base=TRANSFORMERS), "--workers", 1]
    for verb, lines in (("encode", LINES + OWN + [{"token_ids": [1, 2]}]),
                        ("render", LINES + OWN),
                        ("decode", [{"ids": [9707, 1879, 151645]}, {"ids": []}, {"text": "x"}])):
        for extra in [[], ["--skip-special-tokens"]] if verb == "decode" else [[]]:
            here = run(verb, "-m", path, *extra, stdin=lines).results.all()
            there = run(verb, "-m", path, *extra, *outside, stdin=lines).results.all()
            for a, b, line in zip(here, there, lines, strict=True):
                assert a.get("error", {}).get("kind") == b.get("error", {}).get("kind"), (line, b)
                assert "error" in a or a == b, line
    masked = [{"messages": TURNS, "return_assistant_tokens_mask": True}]
    r = run("encode", "-m", path, *outside, stdin=masked)
    assert r.results.all()[0]["error"]["kind"] == "input"


def test_a_worker_that_can_only_count(run, folders):
    state, pids = folders
    r = run("encode", "--worker-command", command("--pids", pids), "--workers", 1,
            stdin=[{"text": "abc"}])
    error = r.results.all()[0]["error"]
    assert r.status == 1 and error["kind"] == "worker" and '"ids"' in error["message"]


CUSTOM = '''
from transformers import PreTrainedTokenizer


class VowelTokenizer(PreTrainedTokenizer):
    """Cuts behind every vowel: nothing but its own code can count it."""

    vocab_files_names = {}

    def __init__(self, **kwargs):
        self.pieces = {}
        super().__init__(**kwargs)

    @property
    def vocab_size(self):
        return 1000

    def get_vocab(self):
        return dict(self.added_tokens_encoder)

    def _tokenize(self, text):
        out, piece = [], ""
        for c in text:
            piece += c
            if c in "aeiou":
                out.append(piece)
                piece = ""
        return out + [piece] if piece else out

    def _convert_token_to_id(self, token):
        return len(token)

    def _convert_id_to_token(self, index):
        return "x" * index
'''


def test_code_of_the_model_runs_only_when_trusted(run, tmp_path):
    pytest.importorskip("transformers")
    model = tmp_path / "vowels"
    model.mkdir()
    (model / "vowels.py").write_text(CUSTOM)
    (model / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "VowelTokenizer",
        "auto_map": {"AutoTokenizer": ["vowels.VowelTokenizer", None]},
        "chat_template": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"}))
    lines = [{"text": "banana"}, {"text": "xyz"}, {"messages": [{"role": "user", "content": "aa"}]}]
    env = {**os.environ, "HF_MODULES_CACHE": str(tmp_path / "modules")}
    assert run("count", "-m", model, stdin=lines).status == 3
    r = run("count", "-m", model, "--worker-command",
            command("--trust-remote-code", base=TRANSFORMERS), "--workers", 1, stdin=lines, env=env)
    # ba na na; xyz; u se r:_a a \n
    assert [x["tokens"] for x in r.results.all()] == [3, 1, 5], r.err
    r = run("count", "-m", model, "--worker-command", command(base=TRANSFORMERS), "--workers", 1,
            stdin=lines, env=env)
    assert r.status == 3 and "trust_remote_code" in r.err
