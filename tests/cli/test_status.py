"""Exit statuses and what is said on the way out."""
import os
import signal
import subprocess
import time

import pytest

COMMANDS = ["count", "render", "encode", "decode", "info", "check", "drain"]


def test_version_and_help(run, root):
    import re
    version = re.search(r"version: '([^']+)'", (root / "meson.build").read_text()).group(1)
    assert run("--version").out == f"tokdrain {version}\n"
    r = run("--help")
    assert r.status == 0 and all(c in r.out for c in COMMANDS)
    assert run().status == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(run, command):
    r = run(command, "--help")
    assert r.status == 0 and r.out.startswith(f"usage: tokdrain {command} ")
    assert "--help" in r.out and r.err == ""


@pytest.mark.parametrize("args", [
    ["nope"], ["count", "--nope"], ["count", "-x"], ["count", "-j", "0"], ["count", "-j"],
    ["count", "--max-input", "lots"], ["count", "--help=1"], ["count", "--progress", "maybe"],
    ["count", "--compat", "other"], ["render", "--summary"], ["check", "--dump", "smoke"],
    ["drain", "--repeat", "0"], ["count", "--template-kwargs", "[1]"],
    ["count", "--template-kwargs", "{"],
    ["encode", "--text", "a", "file"], ["encode", "--add-special-tokens"],
])
def test_usage(run, args):
    r = run(*args)
    assert r.status == 2 and r.err.startswith("tokdrain: ") and r.out == ""


@pytest.mark.parametrize("args", [
    ["encode", "--verify"], ["render", "--warm", "x"], ["count", "--offsets"],
])
def test_options_of_other_commands_say_so(run, args):
    r = run(*args)
    assert r.status == 2 and f"other commands have the option {args[1]}" in r.err


def test_what_cannot_be_opened(run, tmp_path):
    assert run("count", tmp_path / "absent").status == 3
    assert run("count", tmp_path).status == 3
    assert run("count", "-m", tmp_path / "absent", stdin=b"").status == 3
    assert run("count", "--template", tmp_path / "absent", stdin=b"").status == 3
    assert run("count", "-o", tmp_path / "absent" / "x", stdin=b"").status == 3
    assert run("drain", tmp_path / "absent").status == 3
    assert run("check", tmp_path / "absent").status == 3
    if os.geteuid() != 0:
        (tmp_path / "locked").write_text("")
        (tmp_path / "locked").chmod(0)
        assert run("count", tmp_path / "locked").status == 3


@pytest.mark.parametrize("files, message", [
    ({}, "tokenizer.json"),
    ({"tokenizer.json": "{"}, "tokenizer.json"),
    ({"tokenizer.json": "[]"}, "tokenizer.json"),
    ({"tokenizer.json": '{"model": {"type": "Other"}}'}, "model"),
    ({"tokenizer.json": "{}", "tokenizer_config.json": "nope"}, "tokenizer_config.json"),
    ({"tokenizer.json": "{}", "tokenizer_config.json": '{"tokenizer_class": "ByT5Tokenizer"}'},
     "ByT5Tokenizer"),
    ({"tokenizer.json": "{}", "tokenizer_config.json": '{"tokenizer_class": "RoFormerTokenizer"}'},
     "RoFormerTokenizer"),
])
def test_model_that_cannot_be_loaded(run, tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    r = run("count", "-m", tmp_path, stdin=b'{"text": "a"}\n')
    assert r.status == 3 and r.out == "" and message in r.err


def test_truncated_tokenizer_json(run, root, tmp_path):
    whole = (root / "assets" / "default" / "tokenizer.json").read_bytes()
    (tmp_path / "tokenizer.json").write_bytes(whole[:len(whole) // 2])
    r = run("info", "-m", tmp_path)
    assert r.status == 3 and "tokenizer.json" in r.err


@pytest.mark.parametrize("as_directory", [True, False])
@pytest.mark.parametrize("pad_token", [False, True])
def test_errors_name_their_place_in_the_file(run, tmp_path, as_directory, pad_token):
    """Also where a directory's rules make a new text of the file first."""
    (tmp_path / "tokenizer.json").write_text(
        '{"added_tokens": [],\n "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},\n'
        '  "merges": ["a b",\n             "a\\q b"]}}')
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>"}'
        if pad_token else "{}")
    file = tmp_path / "tokenizer.json"
    r = run("encode", "-m", str(tmp_path if as_directory else file), "--text", "ab")
    assert r.status == 3
    name = "tokenizer.json" if as_directory else str(file)
    assert f"{name}:4:16: input: bad escape in JSON" in r.err
    assert r.err.splitlines()[1].strip() == '"a\\q b"]}}'


def test_directory_without_template_counts_text_only(run, root, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(
        (root / "assets" / "default" / "tokenizer.json").read_bytes())
    r = run("count", "-m", tmp_path, stdin=[
        {"text": "a"}, {"messages": [{"role": "user", "content": "a"}]}])
    assert r.status == 1 and r.results[0]["tokens"] == 1
    assert r.results[1]["error"]["kind"] == "template"
    assert "no chat template" in r.results[1]["error"]["message"]


def test_full_disk(run, program):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    r = run("count", "-o", "/dev/full", stdin=b'{"text": "a"}\n' * 10)
    assert r.status == 3 and "No space left" in r.err
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "render"], input=b'{"text": "a"}\n' * 5000, stdout=full,
                              stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 3 and b"No space left" in done.stderr


def test_closed_pipe_ends_quietly(program):
    p = subprocess.Popen([program, "count"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdout.close()
    try:
        for _ in range(200):
            p.stdin.write(b'{"text": "hello"}\n' * 1000)
        p.stdin.close()
    except BrokenPipeError:
        pass
    assert p.wait(60) == 0
    assert p.stderr.read() == b""
    p.stderr.close()


def test_results_appear_while_the_input_pauses(program):
    p = subprocess.Popen([program, "count"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(3):
        p.stdin.write(b'{"token_ids": [1]}\n')
        p.stdin.flush()
        assert b'"index": %d,' % i in p.stdout.readline()
    p.stdin.close()
    assert p.wait(60) == 0
    p.stdout.close()


def test_interrupt_flushes_what_is_done(program):
    p = subprocess.Popen([program, "count"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdin.write(b'{"token_ids": [1]}\n' * 5)
    p.stdin.flush()
    got = [p.stdout.readline() for _ in range(5)]
    time.sleep(0.1)
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 130
    assert all(b'"tokens": 1' in line for line in got) and p.stdout.read() == b""
    for stream in (p.stdin, p.stdout, p.stderr):
        stream.close()


def test_interrupt_stops_a_render_that_never_ends(program):
    t = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    import json
    line = json.dumps({"messages": [{"role": "user"}], "chat_template": t}).encode()
    p = subprocess.Popen([program, "count", "-j1", "--max-steps", "100000000000"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(b'{"token_ids": [1, 2]}\n' + line + b"\n" + b'{"token_ids": [1]}\n')
    p.stdin.close()
    assert b'"tokens": 2' in p.stdout.readline()
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 130
    for stream in (p.stdout, p.stderr):
        stream.close()


def test_progress_on_request_only(run):
    many = b'{"text": "some words to count here"}\n' * 200000
    assert "ETA" not in run("count", stdin=many[:100000]).err
    assert "items" in run("count", "--progress", "always", stdin=many).err
