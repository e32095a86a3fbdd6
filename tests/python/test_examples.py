"""Each example runs, and what it prints is right."""
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ENV = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tokdrain.__file__))}
sys.path.insert(0, str(EXAMPLES))


def run(name, *arguments):
    done = subprocess.run([sys.executable, str(EXAMPLES / name), *map(str, arguments)], env=ENV,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_histogram(tmp_path):
    out = run("histogram.py", "--svg", tmp_path / "h.svg")
    bars = [int(line.split()[-1]) for line in out.splitlines()[1:]]
    assert out.startswith("400 conversations") and sum(bars) == 400
    titles = [t.text for t in ET.parse(tmp_path / "h.svg").iter() if t.tag.endswith("title")]
    assert list(map(int, titles)) == bars
    chats = tmp_path / "chats.jsonl"
    chats.write_text('{"text": "a"}\n\n{\n{"messages": [{"role": "user", "content": "b"}]}\n')
    assert run("histogram.py", chats).startswith("2 conversations")
    assert "1 failed" in run("histogram.py", chats)


def test_trim():
    from trim import trim
    out = run("trim.py")
    for budget, tokens in re.findall(r"budget (\d+): .* (\d+) tokens", out):
        assert int(tokens) <= int(budget)
    assert out.count("messages") == 3 and out.count("not even") == 1
    model = tokdrain.Model.built_in()
    chat = [{"role": "system", "content": "s"}]
    for i in range(9):
        chat += [{"role": "user", "content": f"q {i} " * i}, {"role": "assistant", "content": "a"}]
    for budget in range(0, model.count(chat) + 3, 3):
        kept = trim(model, chat, budget)
        ends = [chat[:1] + chat[i:] for i in range(1, len(chat), 2)]
        fitting = [end for end in ends if model.count(end) <= budget]
        assert kept == (fitting[0] if fitting else None), budget


def test_loss_mask():
    from loss_mask import loss_mask
    assert run("loss_mask.py").count("No: it is 4.") == 2
    model = tokdrain.Model.built_in()
    chat = [{"role": "user", "content": "x y"}, {"role": "assistant", "content": "one two"}]
    ids, mask = loss_mask(model, chat)
    assert len(ids) == len(mask) == model.count(chat, add_generation_prompt=False)
    learned = model.decode([i for i, bit in zip(ids, mask, strict=True) if bit])
    assert "one two" in learned and "x y" not in learned
    assert sum(mask) == model.count_messages(chat, add_generation_prompt=False)[1]


def post(port, data):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", data=data)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_gateway():
    with subprocess.Popen([sys.executable, str(EXAMPLES / "gateway.py"), "--port", "0", "--budget",
                           "60"], env=ENV, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stdout.readline().split()[-1])
            chat = [{"role": "user", "content": "Hi"}]
            tokens = tokdrain.Model.built_in().count(chat)
            status, answer = post(port, json.dumps({"messages": chat, "max_tokens": 5}).encode())
            assert (status, answer["prompt_tokens"], answer["budget"]) == (200, tokens, 60)
            assert post(port, json.dumps({"messages": chat, "max_tokens": 60}).encode())[0] == 413
            long = json.dumps({"messages": [{"role": "user", "content": "word " * 90}]}).encode()
            assert post(port, long)[0] == 413
            for bad in (b"{", b"[]", b"{}", b'{"messages": 1}', b'{"messages": []}',
                        b'{"messages": [{}], "max_tokens": "x"}', b"\xff"):
                status, answer = post(port, bad)
                assert status == 400 and answer["error"], (bad, answer)
        finally:
            process.terminate()


def test_drain(load):
    del load  # transformers is there
    out = run("drain.py", "-n", 4, "--turns", 3)
    assert "4 pending prompts" in out and "all counts are equal" in out
