"""Tools that come again and again, through one process with several threads: each prompt is what
the reference renders, however often its tools were there before."""
import json
import os
import random
import subprocess

import jinja_live as live
import pytest

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
REQUESTS = max(200, round(600 * SCALE))
TEXTS = ["name", "a b", "ä", "日本語", "🙂", '"', "\\", "\n", "<b>&'", "/", "\u2028", "\x7f", "", "x" * 300]
TEMPLATES = [
    "{{ tools|tojson }}",
    "{% for t in tools %}{{ t|tojson }}\n{% endfor %}{{ tools|tojson }}",
    "{% for t in tools %}{{ t|tojson(indent=4) }}{{ t|tojson(indent=2) }}{{ t.function|tojson }}{% endfor %}",
    "{{ tools|tojson(ensure_ascii=true) }}{{ tools|tojson(sort_keys=true) }}",
    "{{ tools|tojson(separators=(',', ':')) }}{{ tools|tojson(separators=(',', ': ')) }}",
    "{{ tools[:1]|tojson }}{{ tools[1:]|tojson }}{{ tools[::-1]|tojson }}{{ (tools + tools)|tojson }}",
    "{% for t in tools %}{{ t.function.parameters|tojson }}{{ t.function.parameters.properties|tojson }}"
    "{% for p in t.function.parameters.properties.values() %}{{ p|tojson }}{% endfor %}{% endfor %}",
    "{{ (tools|tojson) is sameas (tools|tojson) }}{{ tools[0] is sameas tools[0] }}",
    "{% for k in tools[0] %}{% for m in messages[0] %}{{ k is sameas m }} {% endfor %}{% endfor %}",
    "{% set _ = tools.append(tools[0]) %}{{ tools|tojson }}",
    "{% set _ = tools[0].update(type='x') %}{{ tools|tojson }}",
    "{% set _ = tools[0]['function'].pop('name') %}{{ tools|tojson }}",
    "{% set _ = tools.sort() %}{{ tools|tojson }}",
    "{% set tools = tools + [{'a': 1}] %}{{ tools|tojson }}",
    "{% set d = dict(tools[0], type='x') %}{{ d|tojson }}{{ tools|tojson }}",
    "{% set ns = namespace(t=tools) %}{% set ns.t = [] %}{{ ns.t|tojson }}{{ tools|tojson }}",
    "{% set x = tools|tojson %}{{ x|length }} {{ x|upper }} {{ x|e }} {{ x[3:40] }}",
    "{{ tools|tojson(indent='\t') }}{{ tools|tojson(indent=0) }}{{ tools|tojson(indent=-1) }}",
    "{{ tools|tojson(indent=tools) }}",
]


def value(r, depth):
    kind = r.random()
    if depth == 0 or kind < 0.5:
        return r.choice([r.choice(TEXTS), r.randint(-9, 9), 1.5, 1e300, -0.0, 10**30, True, False, None])
    if kind < 0.7:
        return [value(r, depth - 1) for _ in range(r.randint(0, 4))]
    return {r.choice(TEXTS) + str(i): value(r, depth - 1) for i in range(r.randint(0, 10))}


def tool(r):
    properties = {r.choice(TEXTS) + str(i): {"type": "string", "x": value(r, 3)} for i in range(r.randint(0, 4))}
    return {"type": "function", "function": {
        "name": r.choice(TEXTS), "description": "".join(r.choice(TEXTS) for _ in range(20)),
        "parameters": {"type": "object", "properties": properties, "required": list(properties)}}}


def requests(seed):
    r = random.Random(seed)
    sets = [[tool(r) for _ in range(r.randint(1, 4))] for _ in range(8)]
    sets += [[*sets[0][:-1], {**sets[0][-1], "type": "functiom"}]]  # one byte of the first
    for _ in range(REQUESTS):
        yield {"messages": [{"role": "user", "content": r.choice(TEXTS), "type": "x"}],
               "tools": r.choice(sets) if r.random() < 0.95 else [tool(r)],
               "chat_template": r.choice(TEMPLATES)}


@pytest.mark.parametrize("options", [["-j1"], ["-j3"], ["-j3", "--memory", "64k"], ["-j2", "--verify"],
                                     ["-j2", "--no-reuse"]], ids=" ".join)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_tools_that_come_again(program, options, ascii_only):
    asked = list(requests(str(options)))
    lines = "".join(json.dumps(q, ensure_ascii=ascii_only) + "\n" for q in asked)
    command = "count" if "--memory" in options or "--verify" in options or "--no-reuse" in options else "render"
    done = subprocess.run([program, command, *options], input=lines.encode(), capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    answers = [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]
    assert len(answers) == len(asked)
    counted, expected = {}, {}
    for question, answer in zip(asked, answers):
        source = json.dumps(question)
        if source not in expected:
            # read again, as a request of its own
            template, error = live.reference_compile(question["chat_template"])
            assert error is None
            expected[source] = live.reference_render(template, live.shaped(json.loads(source)))
        text, error = expected[source]
        assert (error is None) == ("error" not in answer or answer["error"] is None), (question, error, answer)
        if command == "render" and error is None:
            assert answer["text"] == text, question
        if command == "count":
            assert counted.setdefault(text, answer["tokens"]) == answer["tokens"], question
