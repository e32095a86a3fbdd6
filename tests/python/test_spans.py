"""Which tokens came from which message: beside what the conversation costs without it."""
import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
CHAT = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": "Hi there"},
        {"role": "assistant", "content": "Hello, how can I help you?"},
        {"role": "user", "content": "  Twice \n\n the same  "},
        {"role": "assistant", "content": "é🙂"}, {"role": "user", "content": ""}]
PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
# Templates that go through the messages in their own ways, and what belongs to whom.
SHAPES = {
    "{% for m in messages %}{% if loop.index0 == 1 %}{% continue %}{% endif %}{{ m.content }}|"
    "{% endfor %}end": [0, 2, None],
    "{% for m in messages[1:]|reverse %}{{ m.content }}{% endfor %}": [2, 1],
    "{{ messages[1].content + '!' }}{{ messages[0].content }}": [1, None, 0],
    "{% for m in messages %}{% endfor %}tail": [None],
    "a{% for m in messages %}{% for x in messages %}{{ x.content }}{% endfor %}{{ m.role }}"
    "{% break %}{% endfor %}b": [None, 0, 1, 2, 0, None],
    "{% macro f(m) %}[{{ m.content }}]{% endmacro %}{% for m in messages %}{{ f(m) }}"
    "{% endfor %}": [0, 1, 2],
    "{% set ns = namespace(l=[]) %}{% for m in messages if m.role != 'user' %}"
    "{% set ns.l = ns.l + [m] %}{% endfor %}{% for m in ns.l %}{{ m.content }}{% else %}none"
    "{% endfor %}": [0, 2],
    "{% set t %}{% for m in messages %}{{ m.content }}{% endfor %}{% endset %}{{ t }}": [None],
    "{% for m in [{'content': 'x'}] + messages[2:] %}{{ m.content }}{% endfor %}": [None, 2],
    "{{ messages[0].parts[1].text[4:8] }}{{ messages[0].content|upper }}": [0, None],
}
ODD = [{"role": "system", "content": "alpha beta", "parts": ["x", {"text": "one two six"}]},
       {"role": "user", "content": "gamma delta"}, {"role": "assistant", "content": "epsilon"}]


@pytest.mark.parametrize("name", ["default", "qwen3", "llama3_1"])
def test_each_message_costs_what_it_adds(name, load):
    """With a template that treats turns alone, dropping the last one saves what it counted."""
    model, _ = load(name)
    counts = model.count_messages(CHAT, chat_template=PLAIN)
    whole = [model.count(CHAT[:i + 1], chat_template=PLAIN) for i in range(len(CHAT))]
    assert counts == [b - a for a, b in zip([0, *whole], whole)]
    assert sum(counts) == whole[-1]


@pytest.mark.parametrize("name", ["default", "qwen3", "llama3_1"])
def test_spans_cover_all_tokens(name, load, template_dir):
    model, _ = load(name)
    seen = set()
    for path in sorted(template_dir.glob("*-trl.jinja")):
        try:
            count = model.count(CHAT, chat_template=path.read_text())
        except tokdrain.TemplateError:
            continue
        spans = model.spans(CHAT, chat_template=path.read_text())
        assert [s.start for s in spans] == [0, *[s.end for s in spans[:-1]]]
        assert spans[-1].end == count and all(s.start < s.end for s in spans)
        assert all(a.message != b.message for a, b in zip(spans, spans[1:]))
        seen |= {s.message for s in spans}
        request = {"messages": CHAT, "chat_template": path.read_text()}
        for other in (2, 0):  # encoded as a whole; counted without what was counted before
            core = model._core if other else model.with_options(reuse=False)._core
            owned = core.run(other, request, False, False, False, True).owned
            assert [(None if m < 0 else m, a, b) for m, a, b in owned] == spans
    assert seen == {None, *range(len(CHAT))}


@pytest.mark.parametrize("template", SHAPES)
def test_owners(template, load):
    model, _ = load("default")
    spans = model.spans(ODD, chat_template=template)
    assert [s.message for s in spans] == SHAPES[template]


def test_many_messages_in_one_pass(load):
    model, _ = load("default")
    many = [{"role": ("user", "assistant")[i % 2], "content": f"{i} " * 5} for i in range(5000)]
    counts = model.count_messages(many, add_generation_prompt=False)
    assert len(counts) == 5000 and min(counts) > 0
    assert sum(counts) == model.count(many, add_generation_prompt=False)


def test_what_has_no_spans(load):
    model, _ = load("default")
    with pytest.raises(tokdrain.InputError):
        model.spans([])
    with pytest.raises(tokdrain.InputError):
        model.spans(CHAT, chat_template=PLAIN, sanitize_control_tokens=True)
    with pytest.raises(tokdrain.TemplateError):
        model.count_messages(CHAT, chat_template="{{ x.y.z }}")
