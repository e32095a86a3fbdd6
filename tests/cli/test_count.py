"""count: inputs, order, errors of one item, limits, fallbacks, summary."""
import json
import re

import pytest


def test_each_input_counts(run, chat):
    r = run("count", stdin=[
        {"id": "a", "token_ids": [1, 2, 3]}, {"id": 2, "ids": [7]}, {"text": "Hello there"},
        {"message": {"content": "Hello there"}}, chat()])
    assert r.status == 0 and r.err == ""
    got = r.results.all()
    assert [x["via"] for x in got] == ["token_ids", "token_ids", "text", "message", "messages"]
    assert [x["index"] for x in got] == [0, 1, 2, 3, 4]
    assert [x["id"] for x in got] == ["a", 2, None, None, None]
    assert [x["tokens"] for x in got][:2] == [3, 1]
    assert got[3]["tokens"] == got[2]["tokens"]  # a plain answer adds its own text
    assert got[4]["tokens"] > got[2]["tokens"]


def test_first_input_that_is_not_null_wins(run, chat):
    r = run("count", stdin=[{"token_ids": None, "text": None, **chat()},
                            {"token_ids": [1], "text": "a b c", **chat()},
                            {"text": "a", "message": {"content": "b"}, **chat()}])
    assert [x["via"] for x in r.results] == ["messages", "token_ids", "text"]


def test_empty_text_counts_nothing(run):
    r = run("count", stdin=[{"text": ""}, {"token_ids": []}])
    assert [x["tokens"] for x in r.results] == [0, 0] and r.status == 0


def test_no_input_at_all(run):
    r = run("count", stdin=b"")
    assert (r.status, r.out, r.err) == (0, "", "")


def test_blank_lines_crlf_and_byte_order_mark(run):
    r = run("count", stdin=b'\xef\xbb\xbf{"text": "a"}\r\n\r\n  \t\n{"text": "b"}')
    assert r.status == 0 and [x["index"] for x in r.results] == [0, 1]


def test_generation_prompt_defaults_to_true(run, chat):
    r = run("count", stdin=[chat(), chat(add_generation_prompt=True),
                            chat(add_generation_prompt=False)])
    a, b, c = [x["tokens"] for x in r.results]
    assert a == b > c


@pytest.mark.parametrize("line, message, column", [
    (b'{"text": ', "expected a value", 10),
    (b'{"text": "a"} x', None, 15),
    (b'{"text": "a\x00b"}', "control character", None),
    (b'{"text": "\xff"}', "UTF-8", None),
    (b'[1]', "must be a JSON object", None),
    (b'{"x": 1}', "no input", None),
    (b'{"messages": "hi"}', "must be a list", None),
    (b'{"messages": []}', "no messages", None),
    (b'{"messages": [[{"role": "user", "content": "a"}]]}', "one conversation", None),
    (b'{"messages": ["a"]}', "messages[0]", None),
    (b'{"messages": [{"role": "user"}], "tools": [1]}', "tools[0]", None),
    (b'{"messages": [{"role": "user"}], "documents": 3}', "documents", None),
    (b'{"messages": [{"role": "user"}], "chat_template_kwargs": []}', "chat_template_kwargs", None),
    (b'{"text": 3}', "must be a string", None),
])
def test_malformed_line_is_an_input_error_of_its_own(run, tmp_path, line, message, column):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text": "before"}\n' + line + b'\n{"text": "after"}\n')
    r = run("count", path)
    assert r.status == 1
    assert [x["tokens"] is None for x in r.results] == [False, True, False]
    error = r.results[1]["error"]
    assert error["kind"] == "input" and error["file"] == str(path) and error["line"] == 2
    assert error["offset"] >= 19
    if message:
        assert message in error["message"]
    if column:
        assert error["column"] == column and error["offset"] == 19 + column - 1
    assert "1 of 3 items failed: 1 input" in r.err


def test_ten_thousand_in_order_with_failures_in_the_middle(run, jsonl, chat):
    bad = {5000: b"{not json", 5001: {**chat(), "chat_template": "{{ raise_exception('no') }}"},
           5002: {"id": "big", "text": "x" * 5000}}
    items = [bad.get(i) or {"id": f"r{i}", **chat(f"number {i}")} for i in range(10000)]
    r = run("count", "-j2", "--max-input", "4096", stdin=jsonl(*items))
    assert r.status == 1
    got = r.results.all()
    assert [x["index"] for x in got] == list(range(10000))
    kinds = {x["index"]: x["error"]["kind"] for x in got if "error" in x}
    assert kinds == {5000: "input", 5001: "template", 5002: "limit"}
    assert got[5001]["error"]["message"] == "no" and got[5001]["error"]["file"] == "request"
    assert all(x["id"] == f"r{x['index']}" for x in got if x["index"] not in bad)
    alone = run("count", "-j1", "--no-reuse", stdin=jsonl(items[4999], items[5003]))
    assert [x["tokens"] for x in alone.results] == [got[4999]["tokens"], got[5003]["tokens"]]
    assert "3 of 10000 items failed: 1 input, 1 template, 1 limit" in r.err


def test_line_that_is_too_long_is_refused_without_reading_it_whole(run):
    r = run("count", "--max-input", "1k", stdin=b'{"text": "' + b"x" * 3000000 + b'"}\n'
            b'{"text": "a"}\n')
    assert r.status == 1
    assert r.results[0]["error"]["kind"] == "limit" and r.results[1]["tokens"] == 1


@pytest.mark.parametrize("option, template, kind", [
    (["--max-output", "1k"], "{% for i in range(5000) %}x{% endfor %}", "limit"),
    (["--max-steps", "1000"], "{% for i in range(5000) %}x{% endfor %}", "limit"),
    (["--timeout", "0.05"], "{% for i in range(99999) %}{% for j in range(99999) %}"
                            "{% endfor %}{% endfor %}", "timeout"),
    # parts that are shared over and over, and long texts, cost their time, too
    ([], "{% set t = namespace(v=(1,)) %}{% for i in range(60) %}{% set t.v = (t.v, t.v) %}"
         "{% endfor %}{{ {t.v: 1}|length }}", "limit"),
    ([], "{% set t = namespace(v=[1], w=[1]) %}{% for i in range(60) %}{% set t.v = [t.v, t.v] %}"
         "{% set t.w = [t.w, t.w] %}{% endfor %}{{ t.v == t.w }}", "limit"),
    ([], "{% set a = 'x' * 9999999 %}{% set b = 'x' * 9999999 %}{% for i in range(99999) %}"
         "{{ '' if a == b }}{{ '' if 'y' in a }}{{ '' if a < b }}{% endfor %}", "limit"),
    # a compiler that copied all names for each branch would take all memory
    ([], "".join("{%% set v%d = 1 %%}" % i for i in range(4000)) +
     "{% if v1 %}{% set v1 = 2 %}{% endif %}" * 4000, "limit"),
])
def test_limits_fail_one_item(run, chat, option, template, kind):
    r = run("count", *option, stdin=[chat(), chat(chat_template=template), chat()])
    assert r.status == 1
    assert [x.get("error", {}).get("kind") for x in r.results] == [None, kind, None]


@pytest.mark.parametrize("command", ["count", "encode"])
def test_time_ends_within_one_word(run, command):
    word = "".join("abcdefghijklmnopqrstuvwxyz"[i * i % 26] for i in range(5000)) * 2000
    r = run(command, "--timeout", "0.05", stdin=[{"text": word}, {"text": "a"}])
    error = r.results[0]["error"]
    assert error == {"kind": "timeout", "message": "the time of the item is up"}
    assert "error" not in r.results[1]


def test_same_parts_are_equal_at_once(run, chat):
    t = ("{% set t = namespace(v=[1]) %}{% for i in range(60) %}{% set t.v = [t.v, t.v] %}"
         "{% endfor %}{{ t.v == t.v }}{{ {'a': t.v} == {'a': t.v} }}")
    r = run("render", "--plain", stdin=[chat(chat_template=t)])
    assert r.out == "TrueTrue\n"


def test_many_names_compile(run, chat):
    n = 20000
    t = "".join("{%% set v%d = %d %%}" % (i, i) for i in range(n))
    t += "{% if v1 %}{% set v1 = 'one' %}{% else %}{% set v2 = 'two' %}{% endif %}"
    r = run("render", "--plain", stdin=[chat(chat_template=t + "{{ v1 }} {{ v2 }} {{ v19999 }}")])
    assert r.out == "one 2 19999\n"


def test_exception_text_is_carried_in_full(run, chat):
    text = "a\u0000b\u00e9\n\ud800 " + "x" * 3000 + "\U0001f642"
    r = run("count", stdin=[chat(text, chat_template="{{ raise_exception(messages[0].content) }}")])
    assert r.results[0]["error"]["message"] == text


@pytest.mark.parametrize("bad", ["1", -1, 1.0, True, None, [1], 2**32, 10**30])
def test_ids_are_integers(run, bad):
    for command in ["count", "encode", "decode"]:
        r = run(command, stdin=[{"token_ids": [1, bad]}, {"ids": [1]}])
        assert r.status == 1 and "error" not in r.results[1]
        assert r.results[0]["error"]["message"] == "token_ids[1] is no token id"


def test_template_error_has_its_place(run, chat):
    r = run("count", stdin=[chat(chat_template="a\n  {{ messages[0].content.nope() }}")])
    error = r.results[0]["error"]
    assert (error["kind"], error["file"], error["line"]) == ("template", "request", 2)
    assert error["column"] > 1


def test_syntax_error_shows_line_column_and_caret(run, chat, tmp_path):
    path = tmp_path / "bad.jinja"
    path.write_text("line one\n{% if x %}\n{{ 1 + }}\n{% endif %}")
    r = run("count", "--template", path, stdin=[chat()])
    assert r.status == 1
    assert r.results[0]["error"]["line"] == 3
    assert f"{path}:3:" in r.err and "{{ 1 + }}" in r.err and "^" in r.err


def test_fallback_keeps_the_error_beside_the_number(run, chat):
    r = run("count", "--fallback", stdin=[
        chat("Hello", chat_template="{{ raise_exception('no') }}"), {"messages": []},
        {"message": {"content": "Hello", "reasoning": "why"},
         "chat_template": "{{ raise_exception('no') }}"}])
    assert r.status == 0
    got = r.results.all()
    assert [x["via"] for x in got] == ["fallback"] * 3
    assert [x["error"]["kind"] for x in got] == ["template", "input", "template"]
    texts = ['{"messages":[{"role":"user","content":"Hello"}]}', '{"messages":[]}', "Hello\nwhy"]
    plain = run("count", stdin=[{"text": t} for t in texts])
    assert [x["tokens"] for x in got] == [x["tokens"] for x in plain.results]
    assert "counted by fallback" in r.err


def test_defaults_of_the_command_line_yield_to_the_request(run, chat, tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text("{{ a }}-{{ b }}")
    r = run("render", "--template", path, "--template-kwargs", '{"a": "x", "b": "y"}', stdin=[
        chat(), chat(chat_template_kwargs={"b": "z"}), chat(chat_template="own {{ a }}")])
    assert [x["text"] for x in r.results] == ["x-y", "x-z", "own x"]


def test_parameters_among_the_keywords(run, chat):
    t = "{{ tools is none }} {{ add_generation_prompt }} {{ documents|length if documents }}"
    r = run("render", stdin=[
        chat(chat_template=t),
        chat(chat_template=t, chat_template_kwargs={"tools": [{}], "documents": [{}, {}],
                                                    "add_generation_prompt": False}),
        chat(chat_template=t, add_generation_prompt=True,
             chat_template_kwargs={"add_generation_prompt": False}),
        chat(chat_template_kwargs={"chat_template": "inner"}),
        chat(chat_template_kwargs={"messages": []})])
    texts = [x["text"] for x in r.results]
    assert texts[:4] == ["True True ", "False False 2", "True True ", "inner"]
    assert texts[4] is None and r.results[4]["error"]["kind"] == "input"


def test_parse_arguments(run):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    odd = {"function": {"name": "f", "arguments": "[1]"}}
    t = "{% for c in messages[0].tool_calls %}{{ c.function.arguments is mapping }} {% endfor %}"
    request = {"messages": [{"role": "assistant", "tool_calls": [call, odd]}], "chat_template": t}
    texts = [run("render", *option, stdin=[{**request, **more}]).results[0]["text"]
             for option, more in [((), {}), (("--parse-arguments",), {}),
                                  ((), {"parse_arguments": True}),
                                  (("--parse-arguments",), {"parse_arguments": False})]]
    assert texts == ["False False ", "True False ", "True False ", "False False "]


def test_now_fixes_the_clock(run, chat):
    t = "{{ strftime_now('%Y-%m-%d %H:%M:%S') }}"
    for now, shown in [("2024-02-29", "2024-02-29 00:00:00"),
                       ("2024-02-29T13:14:15", "2024-02-29 13:14:15"),
                       ("2024-02-29T13:14:15.25+02:00", "2024-02-29 13:14:15")]:
        r = run("render", "--now", now, stdin=[chat(chat_template=t)])
        assert r.results[0]["text"] == shown
    assert run("render", "--now", "2023-02-29", stdin=b"").status == 2


def test_summary(run, chat):
    r = run("count", "--summary", stdin=[chat(), {"text": "a"}, b"nope"])
    assert len(r.results) == 3
    rows = dict(line.rsplit(None, 1) for line in r.err.splitlines()
                if re.fullmatch(r" *[a-zA-Z/0-9]+ +[0-9.,]+", line))
    assert rows["requests"] == "3" and rows["failed"] == "1"
    assert {"tokens", "  p50", "  p90", "  p99", "  max", "MB/s", "prompts/s"} <= set(rows)
    r = run("count", "--summary=only", "--json", stdin=[{"token_ids": [0] * n} for n in (1, 2, 9)])
    summary = json.loads(r.out)
    assert summary["requests"] == 3 and summary["failed"] == 0
    assert summary["tokens"] == {"total": 12, "mean": 4.0, "p50": 2, "p90": 9, "p99": 9, "max": 9}
    assert run("count", "--summary=only", stdin=[chat()]).out == ""


def test_verify_and_no_reuse_agree(run, chat):
    items = [chat("the same words again and again " * 20, tools=[{"type": "function"}] * (i % 3))
             for i in range(40)]
    plain = run("count", "-j1", stdin=items).results.all()
    assert [x["tokens"] for x in run("count", "--verify", stdin=items).results] == \
        [x["tokens"] for x in run("count", "--no-reuse", stdin=items).results] == \
        [x["tokens"] for x in plain]
    assert plain[0]["reused"] == 0 and plain[-1]["reused"] > plain[-1]["tokens"] / 2
    assert all(x["reused"] == 0 for x in run("count", "--no-reuse", stdin=items).results)


def test_lone_surrogate_is_refused_by_the_tokenizer_only(run, chat):
    r = run("count", stdin=[b'{"text": "a\\ud800"}'])
    assert r.status == 1 and r.results[0]["error"]["kind"] == "tokenizer"
    r = run("render", stdin=[{**chat("a\ud800b"), "chat_template": "{{ messages[0].content }}"}])
    assert r.status == 0 and r.results[0]["text"] == "a\ud800b"


def test_several_files_share_one_index(run, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text('{"text": "x"}\n{"text": "y"}\n')
    r = run("count", tmp_path / "a", "-", tmp_path / "b", stdin=[{"text": "z"}])
    assert [x["index"] for x in r.results] == [0, 1, 2, 3, 4]


def test_output_file(run, tmp_path):
    r = run("count", "-o", tmp_path / "out", stdin=[{"text": "x"}])
    assert r.status == 0 and r.out == ""
    assert json.loads((tmp_path / "out").read_text())["tokens"] == 1
